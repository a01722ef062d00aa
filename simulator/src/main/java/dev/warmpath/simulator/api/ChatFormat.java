package dev.warmpath.simulator.api;

/** {@code /v1/chat/completions}. */
final class ChatFormat implements ResponseFormat {
  private final Generation request;
  private final ServedModel model;
  private final String id;
  private final long created;
  private final String chunkHead;
  private int completionTokens;

  ChatFormat(Generation request, ServedModel model, String id, long created) {
    this.request = request;
    this.model = model;
    this.id = id;
    this.created = created;
    chunkHead =
        "data: {\"id\":"
            + Json.quote(id)
            + ",\"object\":\"chat.completion.chunk\",\"created\":"
            + created
            + ",\"model\":"
            + Json.quote(request.model())
            + ",\"choices\":[";
  }

  @Override
  public void open(EventSink sink) {
    for (int choice = 0; choice < request.answers().size(); choice++) {
      sink.event(
          chunkHead
              + "{\"index\":"
              + choice
              + ",\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"logprobs\":null,\"finish_reason\":null}]"
              + continuousUsage()
              + ",\"prompt_token_ids\":null,\"prompt_text\":null}\n\n");
    }
  }

  @Override
  public void token(EventSink sink, int choice, int index) {
    completionTokens++;
    Answer answer = request.answers().get(choice);
    boolean last = index == answer.tokens() - 1;
    StringBuilder out = new StringBuilder(chunkHead.length() + 160);
    out.append(chunkHead).append("{\"index\":").append(choice).append(",\"delta\":{");
    delta(out, answer, choice, index);
    out.append("},\"logprobs\":null,\"finish_reason\":");
    if (last) {
      out.append('"').append(finish(answer)).append("\",\"stop_reason\":null");
    } else {
      out.append("null");
    }
    out.append(",\"token_ids\":null}]").append(continuousUsage());
    if (last && !request.includeUsage()) {
      out.append(",\"system_fingerprint\":").append(Json.quote(model.fingerprint()));
    }
    sink.event(out.append("}\n\n"));
  }

  private void delta(StringBuilder out, Answer answer, int choice, int index) {
    String tool = answer.tool();
    if (tool == null) {
      Json.escape(out.append("\"content\":\""), answer.piece(index)).append('"');
      return;
    }
    out.append("\"tool_calls\":[{");
    if (index == 0) {
      out.append("\"id\":")
          .append(Json.quote(callId(choice)))
          .append(",\"type\":\"function\",\"index\":0,\"function\":{\"name\":")
          .append(Json.quote(tool))
          .append(',');
    } else {
      out.append("\"index\":0,\"function\":{");
    }
    Json.escape(out.append("\"arguments\":\""), answer.piece(index)).append("\"}}]");
  }

  @Override
  public void end(EventSink sink, Usage usage) {
    if (request.includeUsage()) {
      sink.event(
          chunkHead
              + "],\"usage\":{\"prompt_tokens\":"
              + usage.promptTokens()
              + ",\"total_tokens\":"
              + usage.totalTokens()
              + ",\"completion_tokens\":"
              + usage.completionTokens()
              + ",\"prompt_tokens_details\":{\"cached_tokens\":"
              + usage.cachedTokens()
              + ",\"created_cache_tokens\":0}},\"system_fingerprint\":"
              + Json.quote(model.fingerprint())
              + "}\n\n");
    }
    sink.event("data: [DONE]\n\n");
  }

  @Override
  public String whole(Usage usage) {
    StringBuilder out = new StringBuilder(1024);
    out.append("{\"id\":")
        .append(Json.quote(id))
        .append(",\"object\":\"chat.completion\",\"created\":")
        .append(created)
        .append(",\"model\":")
        .append(Json.quote(request.model()))
        .append(",\"choices\":[");
    for (int choice = 0; choice < request.answers().size(); choice++) {
      Answer answer = request.answers().get(choice);
      out.append(choice > 0 ? "," : "").append("{\"index\":").append(choice);
      out.append(",\"message\":{\"role\":\"assistant\",\"content\":");
      String tool = answer.tool();
      String text = Json.quote(answer.text(answer.tokens()));
      out.append(tool == null ? text : "null")
          .append(",\"refusal\":null,\"annotations\":null,\"audio\":null,\"function_call\":null,");
      if (tool != null) {
        out.append("\"tool_calls\":[{\"id\":")
            .append(Json.quote(callId(choice)))
            .append(",\"type\":\"function\",\"function\":{\"name\":")
            .append(Json.quote(tool))
            .append(",\"arguments\":")
            .append(text)
            .append("}}],");
      }
      out.append("\"reasoning\":null},\"logprobs\":null,\"finish_reason\":\"")
          .append(finish(answer))
          .append("\",\"stop_reason\":null,\"token_ids\":null,\"routed_experts\":null}");
    }
    return out.append("],\"service_tier\":null,\"system_fingerprint\":")
        .append(Json.quote(model.fingerprint()))
        .append(",\"usage\":{\"prompt_tokens\":")
        .append(usage.promptTokens())
        .append(",\"total_tokens\":")
        .append(usage.totalTokens())
        .append(",\"completion_tokens\":")
        .append(usage.completionTokens())
        .append(",\"prompt_tokens_details\":{\"cached_tokens\":")
        .append(usage.cachedTokens())
        .append(
            ",\"created_cache_tokens\":0,\"multimodal_tokens\":null},\"completion_tokens_details\":null},\"prompt_logprobs\":null,\"prompt_token_ids\":null,"
                + "\"prompt_text\":null,\"kv_transfer_params\":null,\"ec_transfer_params\":null,\"metrics\":null}")
        .toString();
  }

  private String continuousUsage() {
    if (!request.continuousUsage()) {
      return "";
    }
    int prompt = request.totalPromptTokens();
    return ",\"usage\":{\"prompt_tokens\":"
        + prompt
        + ",\"total_tokens\":"
        + (prompt + completionTokens)
        + ",\"completion_tokens\":"
        + completionTokens
        + ",\"completion_tokens_details\":null}";
  }

  private String callId(int choice) {
    return "chatcmpl-tool-" + id.substring(id.indexOf('-') + 1) + (choice == 0 ? "" : "-" + choice);
  }

  static String finish(Answer answer) {
    return switch (answer.finish()) {
      case STOP -> "stop";
      case LENGTH -> "length";
      case TOOL_CALL -> "tool_calls";
    };
  }
}
