package dev.warmpath.simulator.api;

import tools.jackson.databind.JsonNode;

/** {@code /v1/responses}. Two events come at once, before the first token. */
final class ResponsesFormat implements ResponseFormat {
  private final Generation request;
  private final Answer answer;
  private final String responseId;
  private final String itemId;
  private final String callId;
  private final long created;
  private int sequence;

  ResponsesFormat(Generation request, String id, long created) {
    this.request = request;
    this.created = created;
    answer = request.answers().getFirst();
    responseId = "resp_" + id;
    itemId = (answer.tool() == null ? "msg_" : "fc_") + id;
    callId = "call_" + id;
  }

  @Override
  public void start(EventSink sink) {
    String response = "\"response\":" + response("in_progress", "[]", "null", "null") + ",";
    event(sink, "response.created", response, "");
    event(sink, "response.in_progress", response, "");
  }

  @Override
  public void open(EventSink sink) {
    event(
        sink,
        "response.output_item.added",
        "\"item\":" + item("in_progress", "") + ",\"output_index\":0,",
        "");
    if (answer.tool() == null) {
      event(
          sink,
          "response.content_part.added",
          position()
              + "\"part\":{\"annotations\":[],\"text\":\"\",\"type\":\"output_text\",\"logprobs\":[]},",
          "");
    }
  }

  @Override
  public void token(EventSink sink, int choice, int index) {
    String delta = Json.quote(answer.piece(index));
    if (answer.tool() == null) {
      event(
          sink,
          "response.output_text.delta",
          "\"content_index\":0,\"delta\":"
              + delta
              + ",\"item_id\":"
              + Json.quote(itemId)
              + ",\"logprobs\":[],\"output_index\":0,",
          "");
    } else {
      event(
          sink,
          "response.function_call_arguments.delta",
          "\"delta\":" + delta + ",\"item_id\":" + Json.quote(itemId) + ",\"output_index\":0,",
          "");
    }
  }

  @Override
  public void end(EventSink sink, Usage usage) {
    String text = answer.text(answer.tokens());
    String quoted = Json.quote(text);
    if (answer.tool() == null) {
      event(
          sink,
          "response.output_text.done",
          "\"content_index\":0,\"item_id\":"
              + Json.quote(itemId)
              + ",\"logprobs\":[],\"output_index\":0,",
          ",\"text\":" + quoted);
      event(sink, "response.content_part.done", position() + "\"part\":" + part(quoted) + ",", "");
    } else {
      event(
          sink,
          "response.function_call_arguments.done",
          "\"arguments\":" + quoted + ",\"item_id\":" + Json.quote(itemId) + ",\"output_index\":0,",
          "");
    }
    event(
        sink,
        "response.output_item.done",
        "\"item\":" + item("completed", text) + ",\"output_index\":0,",
        "");
    event(sink, "response.completed", "\"response\":" + completed(usage) + ",", "");
  }

  @Override
  public String whole(Usage usage) {
    return completed(usage);
  }

  private void event(EventSink sink, String type, String before, String after) {
    sink.event(
        "event: "
            + type
            + "\ndata: {"
            + before
            + "\"sequence_number\":"
            + sequence++
            + after
            + ",\"type\":\""
            + type
            + "\"}\n\n");
  }

  private String position() {
    return "\"content_index\":0,\"item_id\":" + Json.quote(itemId) + ",\"output_index\":0,";
  }

  private static String part(String quotedText) {
    return "{\"annotations\":[],\"text\":"
        + quotedText
        + ",\"type\":\"output_text\",\"logprobs\":null}";
  }

  private String item(String status, String text) {
    String tool = answer.tool();
    if (tool != null) {
      return "{\"arguments\":"
          + Json.quote(text)
          + ",\"call_id\":"
          + Json.quote(callId)
          + ",\"name\":"
          + Json.quote(tool)
          + ",\"type\":\"function_call\",\"id\":"
          + Json.quote(itemId)
          + ",\"status\":\""
          + status
          + "\"}";
    }
    return "{\"id\":"
        + Json.quote(itemId)
        + ",\"content\":["
        + (status.equals("completed") ? part(Json.quote(text)) : "")
        + "],\"role\":\"assistant\",\"status\":\""
        + status
        + "\",\"type\":\"message\",\"phase\":null}";
  }

  private String completed(Usage usage) {
    boolean cut = answer.finish() == Answer.Finish.LENGTH;
    return response(
        cut ? "incomplete" : "completed",
        "[" + item("completed", answer.text(answer.tokens())) + "]",
        cut ? "{\"reason\":\"max_output_tokens\"}" : "null",
        "{\"input_tokens\":"
            + usage.promptTokens()
            + ",\"input_tokens_details\":{\"cached_tokens\":"
            + usage.cachedTokens()
            + ",\"cache_write_tokens\":0,\"input_tokens_per_turn\":[],\"cached_tokens_per_turn\":[]},\"output_tokens\":"
            + usage.completionTokens()
            + ",\"output_tokens_details\":{\"reasoning_tokens\":0,\"tool_output_tokens\":0,\"output_tokens_per_turn\":[],\"tool_output_tokens_per_turn\":[]},\"total_tokens\":"
            + usage.totalTokens()
            + "}");
  }

  private String response(String status, String output, String incomplete, String usage) {
    JsonNode body = request.body();
    boolean tools = body.path("tools").isArray() && !body.path("tools").isEmpty();
    return "{\"id\":"
        + Json.quote(responseId)
        + ",\"created_at\":"
        + created
        + ",\"incomplete_details\":"
        + incomplete
        + ",\"instructions\":"
        + repeated("instructions", "null")
        + ",\"metadata\":"
        + repeated("metadata", "null")
        + ",\"model\":"
        + Json.quote(request.model())
        + ",\"object\":\"response\",\"output\":"
        + output
        + ",\"parallel_tool_calls\":true,\"temperature\":"
        + number("temperature")
        + ",\"tool_choice\":"
        + repeated("tool_choice", tools ? "\"auto\"" : "\"none\"")
        + ",\"tools\":"
        + repeated("tools", "[]")
        + ",\"top_p\":"
        + number("top_p")
        + ",\"background\":false,\"max_output_tokens\":"
        + (request.limit() == null ? 16_384 : request.limit())
        + ",\"max_tool_calls\":null,\"previous_response_id\":null,\"prompt\":null,\"reasoning\":null,\"service_tier\":\"auto\",\"status\":\""
        + status
        + "\",\"text\":null,\"top_logprobs\":null,\"truncation\":\"disabled\",\"usage\":"
        + usage
        + ",\"user\":null,\"presence_penalty\":0.0,\"frequency_penalty\":0.0,\"kv_transfer_params\":null,\"ec_transfer_params\":null,\"input_messages\":null,\"output_messages\":null}";
  }

  private String repeated(String field, String otherwise) {
    JsonNode value = request.body().get(field);
    return value == null || value.isNull() ? otherwise : value.toString();
  }

  private String number(String field) {
    return Double.toString(request.body().path(field).asDouble(1.0));
  }
}
