package dev.warmpath.simulator.api;

/** {@code /v1/completions}. */
final class CompletionFormat implements ResponseFormat {
  private final Generation request;
  private final ServedModel model;
  private final String head;
  private int completionTokens;

  CompletionFormat(Generation request, ServedModel model, String id, long created) {
    this.request = request;
    this.model = model;
    head =
        "{\"id\":"
            + Json.quote(id)
            + ",\"object\":\"text_completion\",\"created\":"
            + created
            + ",\"model\":"
            + Json.quote(request.model())
            + ",\"choices\":[";
  }

  @Override
  public void token(EventSink sink, int choice, int index) {
    completionTokens++;
    Answer answer = request.answers().get(choice);
    StringBuilder out = new StringBuilder(head.length() + 180).append("data: ").append(head);
    out.append("{\"index\":").append(choice).append(",\"text\":\"");
    Json.escape(out, answer.piece(index)).append("\",\"logprobs\":null,\"finish_reason\":");
    if (index == answer.tokens() - 1) {
      out.append('"').append(ChatFormat.finish(answer)).append('"');
    } else {
      out.append("null");
    }
    out.append(",\"stop_reason\":null,\"prompt_token_ids\":null,\"token_ids\":null}]");
    if (request.continuousUsage()) {
      int prompt = request.totalPromptTokens();
      out.append(",\"usage\":{\"prompt_tokens\":")
          .append(prompt)
          .append(",\"total_tokens\":")
          .append(prompt + completionTokens)
          .append(",\"completion_tokens\":")
          .append(completionTokens)
          .append('}');
    }
    sink.event(out.append("}\n\n"));
  }

  @Override
  public void end(EventSink sink, Usage usage) {
    if (request.includeUsage()) {
      sink.event(
          "data: "
              + head
              + "],\"usage\":{\"prompt_tokens\":"
              + usage.promptTokens()
              + ",\"total_tokens\":"
              + usage.totalTokens()
              + ",\"completion_tokens\":"
              + usage.completionTokens()
              + ",\"prompt_tokens_details\":{\"cached_tokens\":"
              + usage.cachedTokens()
              + "}},\"system_fingerprint\":"
              + Json.quote(model.fingerprint())
              + "}\n\n");
    }
    sink.event("data: [DONE]\n\n");
  }

  @Override
  public String whole(Usage usage) {
    StringBuilder out = new StringBuilder(1024).append(head);
    for (int choice = 0; choice < request.answers().size(); choice++) {
      Answer answer = request.answers().get(choice);
      out.append(choice > 0 ? "," : "")
          .append("{\"index\":")
          .append(choice)
          .append(",\"text\":")
          .append(Json.quote(answer.text(answer.tokens())))
          .append(",\"logprobs\":null,\"finish_reason\":\"")
          .append(ChatFormat.finish(answer))
          .append(
              "\",\"stop_reason\":null,\"token_ids\":null,\"prompt_logprobs\":null,\"prompt_token_ids\":null,\"routed_experts\":null}");
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
            ",\"created_cache_tokens\":null,\"multimodal_tokens\":null},\"completion_tokens_details\":null},\"kv_transfer_params\":null,\"ec_transfer_params\":null,\"metrics\":null}")
        .toString();
  }
}
