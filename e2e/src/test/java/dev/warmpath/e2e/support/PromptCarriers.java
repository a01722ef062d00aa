package dev.warmpath.e2e.support;

import java.util.List;

/** Every place of every API in which a client can put text, as requests with a hole for it. */
public final class PromptCarriers {

  /**
   * One place.
   *
   * @param body with {@code %MODEL%}, {@code %STREAM%} and {@code %TEXT%}; the text has no
   *     characters that JSON escapes
   */
  public record Carrier(String name, String path, String body) {
    public String with(String model, boolean stream, String text) {
      return body.replace("%MODEL%", model)
          .replace("%STREAM%", Boolean.toString(stream))
          .replace("%TEXT%", text);
    }
  }

  private static final String CHAT = "/v1/chat/completions";
  private static final String MESSAGES = "/v1/messages";

  public static final List<Carrier> ALL =
      List.of(
          chat("system", "'messages':[{'role':'system','content':'%TEXT%'},%HI%]"),
          chat("user", "'messages':[{'role':'user','content':'%TEXT%'}]"),
          chat("part", "'messages':[{'role':'user','content':[{'type':'text','text':'%TEXT%'}]}]"),
          chat(
              "history",
              "'messages':[%HI%,{'role':'assistant','content':'%TEXT%'},{'role':'user','content':'go on'}]"),
          chat(
              "tool arguments",
              "'messages':[%HI%,{'role':'assistant','content':null,'tool_calls':[{'id':'a','type':'function',"
                  + "'function':{'name':'f','arguments':'{\\\\\\\"a\\\\\\\":\\\\\\\"%TEXT%\\\\\\\"}'}}]},"
                  + "{'role':'tool','tool_call_id':'a','content':'ok'}]"),
          chat(
              "tool result",
              "'messages':[%HI%,{'role':'assistant','content':null,'tool_calls':[{'id':'a','type':'function',"
                  + "'function':{'name':'f','arguments':'{}'}}]},{'role':'tool','tool_call_id':'a','content':'%TEXT%'}]"),
          chat(
              "tool schema",
              "'messages':[%HI%],'tools':[{'type':'function','function':{'name':'f','description':'%TEXT%',"
                  + "'parameters':{'type':'object','properties':{}}}}]"),
          chat("metadata", "'messages':[%HI%],'metadata':{'note':'%TEXT%'}"),
          chat("user id", "'messages':[%HI%],'user':'%TEXT%'"),
          chat("stop", "'messages':[%HI%],'stop':['%TEXT%']"),
          chat("name", "'messages':[{'role':'user','name':'%TEXT%','content':'hi'}]"),
          new Carrier("prompt", "/v1/completions", json("'prompt':'%TEXT%','max_tokens':4")),
          new Carrier(
              "prompts", "/v1/completions", json("'prompt':['hi','%TEXT%'],'max_tokens':4")),
          new Carrier(
              "instructions", "/v1/responses", json("'instructions':'%TEXT%','input':'hi'")),
          new Carrier("input", "/v1/responses", json("'input':'%TEXT%'")),
          new Carrier(
              "input item",
              "/v1/responses",
              json("'input':[{'role':'user','content':[{'type':'input_text','text':'%TEXT%'}]}]")),
          messages("system", "'system':'%TEXT%','messages':[%HI%]"),
          messages("system block", "'system':[{'type':'text','text':'%TEXT%'}],'messages':[%HI%]"),
          messages("user", "'messages':[{'role':'user','content':'%TEXT%'}]"),
          messages(
              "history",
              "'messages':[%HI%,{'role':'assistant','content':'%TEXT%'},{'role':'user','content':'go on'}]"),
          messages(
              "tool use",
              "'messages':[%HI%,{'role':'assistant','content':[{'type':'tool_use','id':'a','name':'f',"
                  + "'input':{'a':'%TEXT%'}}]},{'role':'user','content':[{'type':'tool_result','tool_use_id':'a',"
                  + "'content':'ok'}]}]"),
          messages(
              "tool result",
              "'messages':[%HI%,{'role':'assistant','content':[{'type':'tool_use','id':'a','name':'f','input':{}}]},"
                  + "{'role':'user','content':[{'type':'tool_result','tool_use_id':'a','content':'%TEXT%'}]}]"),
          messages(
              "tool schema",
              "'messages':[%HI%],'tools':[{'name':'f','description':'%TEXT%','input_schema':{'type':'object'}}]"),
          messages("metadata", "'messages':[%HI%],'metadata':{'user_id':'%TEXT%'}"));

  private PromptCarriers() {}

  private static Carrier chat(String name, String members) {
    return new Carrier("chat " + name, CHAT, json("'max_tokens':4," + members));
  }

  private static Carrier messages(String name, String members) {
    return new Carrier("messages " + name, MESSAGES, json("'max_tokens':4," + members));
  }

  private static String json(String members) {
    return ("{'model':'%MODEL%','stream':%STREAM%," + members + "}")
        .replace("%HI%", "{'role':'user','content':'hi'}")
        .replace('\'', '"');
  }
}
