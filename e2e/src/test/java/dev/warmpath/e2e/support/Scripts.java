package dev.warmpath.e2e.support;

import java.io.IOException;
import java.util.List;

/**
 * A worker that answers with the bytes of a real vLLM, by path and by the {@code scenario-*} word
 * that a prompt may hold.
 */
public final class Scripts {

  public static final Captured CHAT = Captured.answer("chat_nonstream");

  /** With the usage chunk; without {@code include_usage} it is left out. */
  public static final Captured CHAT_STREAM = Captured.answer("chat_stream");

  public static final Captured COMPLETION = Captured.answer("completions_nonstream");
  public static final Captured COMPLETION_STREAM = Captured.answer("completions_stream");
  public static final Captured MESSAGE = Captured.answer("messages_nonstream");
  public static final Captured MESSAGE_STREAM = Captured.answer("messages_stream");
  public static final Captured RESPONSE = Captured.answer("responses_nonstream");
  public static final Captured RESPONSE_STREAM = Captured.answer("responses_stream");
  public static final Captured COUNT = Captured.answer("messages_count_tokens");
  public static final Captured IN_BAND_503 = Captured.answer("err_503_in_band_stream");
  public static final Captured MESSAGES_IN_BAND_503 =
      Captured.answer("err_503_in_band_messages_stream");
  public static final Captured QUEUE_FULL = Captured.answer("err_503_queue_full_nonstream");
  public static final Captured CONTEXT_400 = Captured.answer("err_400_context");

  /** Two vectors, base64 of little-endian floats: 1.0 and 2.0; 0.5 and -1.0. */
  public static final String EMBEDDINGS =
      "{\"object\":\"list\",\"data\":[{\"object\":\"embedding\",\"index\":0,\"embedding\":\"AACAPwAAAEA=\"},"
          + "{\"object\":\"embedding\",\"index\":1,\"embedding\":\"AAAAPwAAgL8=\"}],\"model\":\"m\","
          + "\"usage\":{\"prompt_tokens\":2,\"total_tokens\":2,\"completion_tokens\":0}}";

  private static final String TOOL_CALL =
      "{\"id\":\"chatcmpl-2\",\"object\":\"chat.completion\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,"
          + "\"message\":{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"call_1\",\"type\":\"function\","
          + "\"function\":{\"name\":\"get_weather\",\"arguments\":\"{\\\"city\\\": \\\"Paris\\\"}\"}}]},"
          + "\"finish_reason\":\"tool_calls\"}],\"usage\":{\"prompt_tokens\":9,\"total_tokens\":19,\"completion_tokens\":10}}";

  private static final List<String> TOOL_CALL_STREAM =
      List.of(
          "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,"
              + "\"delta\":{\"role\":\"assistant\",\"tool_calls\":[{\"index\":0,\"id\":\"call_1\",\"type\":\"function\","
              + "\"function\":{\"name\":\"get_weather\",\"arguments\":\"\"}}]},\"finish_reason\":null}]}\n\n",
          "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,"
              + "\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{\\\"city\\\": \"}}]}}]}\n\n",
          "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,"
              + "\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"\\\"Paris\\\"}\"}}]},"
              + "\"finish_reason\":\"tool_calls\"}]}\n\n",
          "data: [DONE]\n\n");

  private static final String TOOL_USE =
      "{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[{\"type\":\"tool_use\","
          + "\"id\":\"toolu_1\",\"name\":\"get_weather\",\"input\":{\"city\":\"Paris\"}}],\"stop_reason\":\"tool_use\","
          + "\"stop_sequence\":null,\"usage\":{\"input_tokens\":9,\"output_tokens\":10}}";

  private static final String ANTHROPIC_ERROR_EVENT =
      "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"engine died\"}}\n\n";

  private static final String OPENAI_ERROR_EVENT =
      "data: {\"error\":{\"message\":\"engine died\",\"type\":\"InternalServerError\",\"param\":null,\"code\":500}}\n\n";

  private Scripts() {}

  /** The whole look-alike. */
  public static ScriptedWorker.Script vllm() {
    return Scripts::answer;
  }

  private static void answer(ScriptedWorker.Received request, ScriptedWorker.Reply reply)
      throws IOException {
    String body = request.text();
    boolean stream = asksFor(body, "stream");
    String path = path(request);
    boolean anthropic = path.startsWith("/v1/messages");
    if (body.contains("scenario-400")) {
      CONTEXT_400.replay(reply);
    } else if (body.contains("scenario-429")) {
      reply.json(429, error("slow down", "RateLimitError", 429), new Header("retry-after", "2"));
    } else if (body.contains("scenario-500")) {
      reply.json(500, error("engine died", "InternalServerError", 500));
    } else if (body.contains("scenario-503")) {
      QUEUE_FULL.replay(reply);
    } else if (body.contains("scenario-error-event")) {
      reply.startStream();
      reply.chunk((anthropic ? MESSAGE_STREAM : CHAT_STREAM).chunks().getFirst());
      reply.chunk(anthropic ? ANTHROPIC_ERROR_EVENT : OPENAI_ERROR_EVENT);
      reply.endStream();
    } else if (body.contains("scenario-truncated")) {
      reply.startStream();
      reply.chunk(CHAT_STREAM.chunks().getFirst());
      reply.chunk(CHAT_STREAM.chunks().get(1));
      reply.reset();
    } else if (body.contains("scenario-tools")) {
      tools(anthropic, stream, reply);
    } else {
      plain(path, body, stream, reply);
    }
  }

  private static void tools(boolean anthropic, boolean stream, ScriptedWorker.Reply reply)
      throws IOException {
    if (!stream) {
      reply.json(200, anthropic ? TOOL_USE : TOOL_CALL);
      return;
    }
    reply.startStream();
    for (String chunk : TOOL_CALL_STREAM) {
      reply.chunk(chunk);
    }
    reply.endStream();
  }

  private static void plain(String path, String body, boolean stream, ScriptedWorker.Reply reply)
      throws IOException {
    switch (path) {
      case "/v1/chat/completions" -> usage(stream ? CHAT_STREAM : CHAT, body).replay(reply);
      case "/v1/completions" -> usage(stream ? COMPLETION_STREAM : COMPLETION, body).replay(reply);
      case "/v1/responses" -> (stream ? RESPONSE_STREAM : RESPONSE).replay(reply);
      case "/v1/messages" -> (stream ? MESSAGE_STREAM : MESSAGE).replay(reply);
      case "/v1/messages/count_tokens" -> COUNT.replay(reply);
      case "/v1/embeddings" -> reply.json(200, EMBEDDINGS);
      default -> reply.json(404, "{\"detail\":\"Not Found\"}");
    }
  }

  private static Captured usage(Captured answer, String body) {
    return answer.isStream() && !asksFor(body, "include_usage")
        ? answer.withoutUsageChunk()
        : answer;
  }

  private static String path(ScriptedWorker.Received request) {
    String target = request.target();
    int query = target.indexOf('?');
    return query < 0 ? target : target.substring(0, query);
  }

  private static boolean asksFor(String body, String flag) {
    return body.replace(" ", "").contains("\"" + flag + "\":true");
  }

  private static String error(String message, String type, int code) {
    return "{\"error\":{\"message\":\"%s\",\"type\":\"%s\",\"param\":null,\"code\":%d}}"
        .formatted(message, type, code);
  }
}
