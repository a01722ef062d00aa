package dev.warmpath.e2e.support;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * Answers that a worker gives, with bytes that no serialiser would choose, so that any re-writing
 * shows.
 */
public final class Scripts {

  /** A chat completion with odd spacing, escapes and key order. */
  public static final String CHAT_BODY =
      "{ \"id\":\"chatcmpl-1\",\"object\": \"chat.completion\",\"created\":1,  \"model\":\"m\",\"choices\""
          + ":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"h\\u00e9llo \\/ \\\"x\\\"\"},"
          + "\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":7,\"total_tokens\":9,"
          + "\"completion_tokens\":2,\"prompt_tokens_details\":{\"cached_tokens\":0}}}";

  /** The events of a chat stream before the usage chunk. */
  public static final String CHAT_EVENTS =
      "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\","
          + "\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}]}\n\n"
          + "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1, \"model\":\"m\","
          + "\"choices\":[{\"index\":0,\"delta\":{\"content\":\"h\\u00e9llo\"},\"finish_reason\":null}]}\n\n"
          + "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\","
          + "\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";

  /** The chunk that a worker adds when {@code include_usage} is set. */
  public static final String USAGE_EVENT =
      "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\","
          + "\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"total_tokens\":9,\"completion_tokens\":2,"
          + "\"prompt_tokens_details\":{\"cached_tokens\":0}}}\n\n";

  public static final String DONE_EVENT = "data: [DONE]\n\n";

  private Scripts() {}

  /** Chat as vLLM answers it: plain, or a stream with a usage chunk where it was asked for. */
  public static ScriptedWorker.Script chat() {
    return (request, reply) -> {
      String body = request.text();
      if (!asksFor(body, "stream")) {
        reply.send(200, "application/json", CHAT_BODY.getBytes(UTF_8));
        return;
      }
      reply.startStream();
      reply.chunk(CHAT_EVENTS);
      if (asksFor(body, "include_usage")) {
        reply.chunk(USAGE_EVENT);
      }
      reply.chunk(DONE_EVENT);
      reply.endStream();
    };
  }

  private static boolean asksFor(String body, String flag) {
    return body.replace(" ", "").contains("\"" + flag + "\":true");
  }
}
