package dev.warmpath.extproc.prompt;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A chat request as an engine gives it to the template, checked against token ids that a real vLLM
 * 0.32 reported: contents become one text, the developer is the system, tool arguments become
 * values, tool definitions get their fields in the engine's order.
 */
final class Conversation {
  /** Options under which the engine renders differently; their requests are not exact. */
  private static final Set<String> UNSUPPORTED =
      Set.of(
          "chat_template",
          "documents",
          "continue_final_message",
          "truncate_prompt_tokens",
          "mm_processor_kwargs",
          "prompt_embeds",
          "media_io_kwargs",
          "structured_outputs_in_prompt");

  private Conversation() {}

  /** The template's variables of a Chat Completions request. */
  static Map<String, @Nullable Object> ofChat(JsonNode body) throws NotExactException {
    for (String option : UNSUPPORTED) {
      JsonNode value = body.path(option);
      if (!value.isMissingNode() && !value.isNull() && !(value.isBoolean() && !value.asBoolean())) {
        throw new NotExactException(option + " is given");
      }
    }
    Map<String, @Nullable Object> variables = new LinkedHashMap<>();
    List<@Nullable Object> messages = new ArrayList<>();
    for (JsonNode message : body.path("messages")) {
      messages.add(message(message));
    }
    variables.put("messages", messages);
    if (body.path("tools").isArray() && !body.path("tools").isEmpty()) {
      List<@Nullable Object> tools = new ArrayList<>();
      body.path("tools").forEach(tool -> tools.add(tool(tool)));
      variables.put("tools", tools);
    }
    variables.put("add_generation_prompt", body.path("add_generation_prompt").asBoolean(true));
    if (body.path("reasoning_effort").isString()) {
      variables.put("reasoning_effort", body.path("reasoning_effort").stringValue());
    }
    body.path("chat_template_kwargs")
        .properties()
        .forEach(option -> variables.put(option.getKey(), JsonValues.of(option.getValue())));
    return variables;
  }

  private static Map<String, @Nullable Object> message(JsonNode message) throws NotExactException {
    Map<String, @Nullable Object> plain = new LinkedHashMap<>();
    String role = message.path("role").asString("");
    plain.put("role", role.equals("developer") ? "system" : role);
    plain.put("content", text(message.path("content")));
    if (role.equals("assistant")) {
      JsonNode reasoning =
          message.has("reasoning") ? message.path("reasoning") : message.path("reasoning_content");
      if (reasoning.isString()) {
        plain.put("reasoning", reasoning.stringValue());
        plain.put("reasoning_content", reasoning.stringValue());
      }
      if (message.path("tool_calls").isArray() && !message.path("tool_calls").isEmpty()) {
        List<@Nullable Object> calls = new ArrayList<>();
        for (JsonNode call : message.path("tool_calls")) {
          calls.add(toolCall(call));
        }
        plain.put("tool_calls", calls);
      }
    }
    if (message.path("tool_call_id").isString()) {
      plain.put("tool_call_id", message.path("tool_call_id").stringValue());
    }
    if (message.path("name").isString()) {
      plain.put("name", message.path("name").stringValue());
    }
    return plain;
  }

  /** Parts are joined by line ends. */
  static String text(JsonNode content) throws NotExactException {
    if (content.isString()) {
      return content.stringValue();
    }
    StringBuilder text = new StringBuilder();
    boolean first = true;
    for (JsonNode part : content) {
      if (!part.path("type").asString("").equals("text") || !part.path("text").isString()) {
        throw new NotExactException("a message has a part that is not text");
      }
      text.append(first ? "" : "\n").append(part.path("text").stringValue());
      first = false;
    }
    return text.toString();
  }

  private static Map<String, @Nullable Object> toolCall(JsonNode call) throws NotExactException {
    Map<String, @Nullable Object> plain = JsonValues.object(call);
    Map<String, @Nullable Object> function = JsonValues.object(call.path("function"));
    JsonNode arguments = call.path("function").path("arguments");
    if (arguments.isString()) {
      function.put("arguments", arguments(arguments.stringValue()));
    }
    plain.put("function", function);
    return plain;
  }

  private static @Nullable Object arguments(String json) throws NotExactException {
    if (json.isBlank()) {
      return new LinkedHashMap<String, @Nullable Object>();
    }
    try {
      return JsonValues.of(JsonMapper.shared().readTree(json));
    } catch (JacksonException e) {
      throw new NotExactException("the arguments of a tool call are not JSON");
    }
  }

  /** The engine's own fields first, in its order, and null where the client gave none. */
  private static Map<String, @Nullable Object> tool(JsonNode tool) {
    JsonNode given = tool.path("function");
    Map<String, @Nullable Object> function = new LinkedHashMap<>();
    for (String field : List.of("name", "description", "parameters")) {
      function.put(field, JsonValues.of(given.path(field)));
    }
    given
        .properties()
        .forEach(field -> function.putIfAbsent(field.getKey(), JsonValues.of(field.getValue())));
    Map<String, @Nullable Object> plain = new LinkedHashMap<>();
    plain.put("type", tool.path("type").asString("function"));
    plain.put("function", function);
    tool.properties()
        .forEach(field -> plain.putIfAbsent(field.getKey(), JsonValues.of(field.getValue())));
    return plain;
  }
}
