package dev.warmpath.simulator.api;

/**
 * {@code /v1/messages}. The first event counts the whole prompt, the last only its uncached part
 * and, beside it, what was read from the cache; the whole response counts as the last event does.
 */
final class MessagesFormat implements ResponseFormat {
  private final Generation request;
  private final Answer answer;
  private final String id;

  MessagesFormat(Generation request, String id) {
    this.request = request;
    this.id = id;
    answer = request.answers().getFirst();
  }

  @Override
  public void open(EventSink sink) {
    sink.event(
        event(
            "message_start",
            "\"message\":{\"id\":"
                + Json.quote(id)
                + ",\"type\":\"message\",\"role\":\"assistant\",\"content\":[],\"model\":"
                + Json.quote(request.model())
                + ",\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":"
                + request.totalPromptTokens()
                + ",\"output_tokens\":0}}"));
    String tool = answer.tool();
    sink.event(
        event(
            "content_block_start",
            "\"content_block\":"
                + (tool == null
                    ? "{\"type\":\"text\",\"text\":\"\"}"
                    : "{\"type\":\"tool_use\",\"id\":"
                        + Json.quote(toolId())
                        + ",\"name\":"
                        + Json.quote(tool)
                        + ",\"input\":{}}")
                + ",\"index\":0"));
  }

  @Override
  public void token(EventSink sink, int choice, int index) {
    StringBuilder out = new StringBuilder(200);
    out.append(
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":");
    out.append(
        answer.tool() == null
            ? "\"text_delta\",\"text\":\""
            : "\"input_json_delta\",\"partial_json\":\"");
    Json.escape(out, answer.piece(index)).append("\"},\"index\":0}\n\n");
    sink.event(out);
  }

  @Override
  public void end(EventSink sink, Usage usage) {
    sink.event(event("content_block_stop", "\"index\":0"));
    sink.event(
        event(
            "message_delta",
            "\"delta\":{\"stop_reason\":\""
                + stopReason()
                + "\",\"stop_sequence\":null},\"usage\":"
                + usage(usage)));
    sink.event("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n");
  }

  @Override
  public String whole(Usage usage) {
    String text = answer.text(answer.tokens());
    String tool = answer.tool();
    String content =
        tool == null
            ? "{\"type\":\"text\",\"text\":" + Json.quote(text) + "}"
            : "{\"type\":\"tool_use\",\"id\":"
                + Json.quote(toolId())
                + ",\"name\":"
                + Json.quote(tool)
                + ",\"input\":"
                + text
                + "}";
    return "{\"id\":"
        + Json.quote(id)
        + ",\"type\":\"message\",\"role\":\"assistant\",\"content\":["
        + content
        + "],\"model\":"
        + Json.quote(request.model())
        + ",\"stop_reason\":\""
        + stopReason()
        + "\",\"usage\":"
        + usage(usage)
        + "}";
  }

  private static String event(String type, String fields) {
    return "event: " + type + "\ndata: {\"type\":\"" + type + "\"," + fields + "}\n\n";
  }

  private static String usage(Usage usage) {
    return "{\"input_tokens\":"
        + (usage.promptTokens() - usage.cachedTokens())
        + ",\"output_tokens\":"
        + usage.completionTokens()
        + ",\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":"
        + usage.cachedTokens()
        + "}";
  }

  private String toolId() {
    return "toolu_" + id.substring(id.indexOf('-') + 1);
  }

  private String stopReason() {
    return switch (answer.finish()) {
      case STOP -> "end_turn";
      case LENGTH -> "max_tokens";
      case TOOL_CALL -> "tool_use";
    };
  }
}
