package dev.warmpath.simulator.conformance;

import dev.warmpath.simulator.conformance.WireCheck.EventSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The list of checks on single responses. */
public final class WireChecks {
  private static final String JSON = "application/json";
  private static final String EVENTS = "text/event-stream; charset=utf-8";

  private static final String DETAILS =
      "\"prompt_tokens_details\":{\"cached_tokens\":\"int\",\"created_cache_tokens\":\"int\"}";
  private static final String FULL_USAGE =
      """
      {"prompt_tokens":"int","total_tokens":"int","completion_tokens":"int","prompt_tokens_details":{"cached_tokens":"int",\
      "created_cache_tokens":"%s","multimodal_tokens":"null"},"completion_tokens_details":"null"}\
      """;
  private static final String CHUNK_USAGE =
      "{\"prompt_tokens\":\"int\",\"total_tokens\":\"int\",\"completion_tokens\":\"int\",\"completion_tokens_details\":\"null\"}";

  private final String model;
  private final List<WireCheck> checks = new ArrayList<>();

  private WireChecks(String model) {
    this.model = model;
    pages();
    chat();
    completions();
    messages();
    responses();
    tokens();
    errors();
  }

  /** Every check, for a server that serves {@code model}. */
  public static List<WireCheck> of(String model) {
    return List.copyOf(new WireChecks(model).checks);
  }

  private void pages() {
    json(
        "models page lists the served model",
        WireRequest.get("/v1/models"),
        200,
        """
        {"object":"=list","data":[{"id":"string","object":"=model","created":"int","owned_by":"=vllm","root":"string","parent":"null",\
        "max_model_len":"int","permission":[{"id":"string","object":"=model_permission","created":"int","allow_create_engine":"bool",\
        "allow_sampling":"bool","allow_logprobs":"bool","allow_search_indices":"bool","allow_view":"bool","allow_fine_tuning":"bool",\
        "organization":"string","group":"null","is_blocking":"bool"}]}]}\
        """,
        "models");
    json("version", WireRequest.get("/version"), 200, "{\"version\":\"string\"}", "version");
    json("load", WireRequest.get("/load"), 200, "{\"server_load\":\"int\"}", "load");
    empty("health", WireRequest.get("/health"), "health");
    empty("ping", WireRequest.get("/ping"), "ping");
  }

  private void chat() {
    String whole =
        """
        {"id":"~chatcmpl-.+","object":"=chat.completion","created":"int","model":"=%s","choices":[{"index":"int","message":{"role":"=assistant",\
        "content":"string","refusal":"null","annotations":"null","audio":"null","function_call":"null","reasoning":"null"},"logprobs":"null",\
        "finish_reason":"~stop|length","stop_reason":"null","token_ids":"null","routed_experts":"null"}],"service_tier":"null",\
        "system_fingerprint":"string","usage":%s,"prompt_logprobs":"null","prompt_token_ids":"null","prompt_text":"null",\
        "kv_transfer_params":"null","ec_transfer_params":"null","metrics":"null"}\
        """
            .formatted(model, FULL_USAGE.formatted("int"));
    json(
        "chat answers whole",
        chatRequest("\"max_tokens\":8"),
        200,
        whole,
        "chat_nonstream",
        "chat_nonstream_cached",
        "err_priority");
    add(
        "chat takes its id from x-request-id and reports its load as JSON when asked",
        List.of("chat_orca_nonstream"),
        chatRequest("\"max_tokens\":2")
            .with("x-request-id", "abc-1")
            .with("endpoint-load-metrics-format", "JSON"),
        200,
        JSON,
        Map.of(
            "endpoint-load-metrics",
            "~JSON \\{\"named_metrics\": \\{\"num_requests_waiting\": [0-9.]+, \"kv_cache_usage_perc\": [0-9.e-]+\\}\\}"),
        whole.replace("~chatcmpl-.+", "=chatcmpl-abc-1"),
        List.of());
    add(
        "chat reports its load as text when asked",
        List.of("chat_orca_text"),
        chatRequest("\"max_tokens\":2").with("endpoint-load-metrics-format", "TEXT"),
        200,
        JSON,
        Map.of(
            "endpoint-load-metrics",
            "~TEXT named_metrics.num_requests_waiting=[0-9.]+, named_metrics.kv_cache_usage_perc=[0-9.e-]+"),
        whole,
        List.of());

    EventSpec role =
        chatChunk(
            "{\"role\":\"=assistant\",\"content\":\"=\"}",
            "null",
            "",
            ",\"prompt_token_ids\":\"null\",\"prompt_text\":\"null\"",
            false);
    EventSpec token =
        chatChunk("{\"content\":\"string\"}", "null", ",\"token_ids\":\"null\"", "", true);
    String ends = ",\"stop_reason\":\"null\",\"token_ids\":\"null\"";
    EventSpec last = chatChunk("{\"content\":\"string\"}", "~stop|length", ends, "", false);
    EventSpec lastWithPrint =
        chatChunk(
            "{\"content\":\"string\"}",
            "~stop|length",
            ends,
            ",\"system_fingerprint\":\"string\"",
            false);
    EventSpec usage =
        data(
            chunkHead()
                + ",\"choices\":[],\"usage\":{\"prompt_tokens\":\"int\",\"total_tokens\":\"int\",\"completion_tokens\":\"int\","
                + DETAILS
                + "},\"system_fingerprint\":\"string\"}");
    stream(
        "chat streams with a usage chunk when asked",
        chatRequest("\"max_tokens\":8,\"stream\":true,\"stream_options\":{\"include_usage\":true}"),
        List.of(role, token, last, usage, done()),
        "chat_stream",
        "chat_stream_cached_2nd");
    stream(
        "chat streams without usage otherwise",
        chatRequest("\"max_tokens\":4,\"stream\":true"),
        List.of(role, token, lastWithPrint, done()),
        "chat_stream_nousage");
    String continuous = ",\"usage\":" + CHUNK_USAGE;
    stream(
        "chat streams usage in every chunk when asked",
        chatRequest(
            "\"max_tokens\":4,\"stream\":true,\"stream_options\":{\"include_usage\":true,\"continuous_usage_stats\":true}"),
        List.of(
            chatChunk(
                "{\"role\":\"=assistant\",\"content\":\"=\"}",
                "null",
                "",
                continuous + ",\"prompt_token_ids\":\"null\",\"prompt_text\":\"null\"",
                false),
            chatChunk(
                "{\"content\":\"string\"}", "null", ",\"token_ids\":\"null\"", continuous, true),
            chatChunk("{\"content\":\"string\"}", "~stop|length", ends, continuous, false),
            usage,
            done()),
        "chat_stream_continuous");
  }

  private void completions() {
    String head =
        "{\"id\":\"~cmpl-.+\",\"object\":\"=text_completion\",\"created\":\"int\",\"model\":\"="
            + model
            + "\"";
    String whole =
        head
            + ",\"choices\":[{\"index\":\"int\",\"text\":\"string\",\"logprobs\":\"null\",\"finish_reason\":\"~stop|length\",\"stop_reason\":\"null\",\"token_ids\":\"null\",\"prompt_logprobs\":\"null\","
            + "\"prompt_token_ids\":\"null\",\"routed_experts\":\"null\"}],\"service_tier\":\"null\",\"system_fingerprint\":\"string\",\"usage\":"
            + FULL_USAGE.formatted("null")
            + ",\"kv_transfer_params\":\"null\",\"ec_transfer_params\":\"null\",\"metrics\":\"null\"}";
    json(
        "completions answer whole",
        completion("\"one two three\"", ""),
        200,
        whole,
        "completions_nonstream");
    json(
        "completions take token ids",
        completion("[9707,11,1879]", ""),
        200,
        whole,
        "completions_token_prompt");
    stream(
        "completions stream",
        completion(
            "\"one two three\"", ",\"stream\":true,\"stream_options\":{\"include_usage\":true}"),
        List.of(
            data(head + choice("null"), true),
            data(head + choice("~stop|length")),
            data(
                head
                    + ",\"choices\":[],\"usage\":{\"prompt_tokens\":\"int\",\"total_tokens\":\"int\",\"completion_tokens\":\"int\",\"prompt_tokens_details\":{\"cached_tokens\":\"int\"}},\"system_fingerprint\":\"string\"}"),
            done()),
        "completions_stream");
  }

  private void messages() {
    String usage =
        "{\"input_tokens\":\"int\",\"output_tokens\":\"int\",\"cache_creation_input_tokens\":\"int\",\"cache_read_input_tokens\":\"int\"}";
    json(
        "messages answer whole",
        messagesRequest(""),
        200,
        "{\"id\":\"string\",\"type\":\"=message\",\"role\":\"=assistant\",\"content\":[{\"type\":\"=text\",\"text\":\"string\"}],\"model\":\"="
            + model
            + "\",\"stop_reason\":\"~max_tokens|end_turn\",\"usage\":"
            + usage
            + "}",
        "messages_nonstream",
        "messages_nonstream_cached");
    stream(
        "messages stream",
        messagesRequest(",\"stream\":true"),
        List.of(
            event(
                "message_start",
                "{\"type\":\"=message_start\",\"message\":{\"id\":\"string\",\"type\":\"=message\",\"role\":\"=assistant\",\"content\":[],\"model\":\"="
                    + model
                    + "\",\"stop_reason\":\"null\",\"stop_sequence\":\"null\",\"usage\":{\"input_tokens\":\"int\",\"output_tokens\":\"=0\"}}}"),
            event(
                "content_block_start",
                "{\"type\":\"=content_block_start\",\"content_block\":{\"type\":\"=text\",\"text\":\"=\"},\"index\":\"=0\"}"),
            new EventSpec(
                "content_block_delta",
                Shape.of(
                    "{\"type\":\"=content_block_delta\",\"delta\":{\"type\":\"=text_delta\",\"text\":\"string\"},\"index\":\"=0\"}"),
                true),
            event("content_block_stop", "{\"type\":\"=content_block_stop\",\"index\":\"=0\"}"),
            event(
                "message_delta",
                "{\"type\":\"=message_delta\",\"delta\":{\"stop_reason\":\"~max_tokens|end_turn\",\"stop_sequence\":\"null\"},\"usage\":"
                    + usage
                    + "}"),
            event("message_stop", "{\"type\":\"=message_stop\"}")),
        "messages_stream",
        "messages_stream_cached");
    json(
        "messages count tokens",
        WireRequest.post(
            "/v1/messages/count_tokens",
            "{\"model\":\""
                + model
                + "\",\"messages\":[{\"role\":\"user\",\"content\":\"Say hello.\"}]}"),
        200,
        "{\"input_tokens\":\"int\",\"context_management\":{\"original_input_tokens\":\"int\"}}",
        "messages_count_tokens");
  }

  private void responses() {
    String usage =
        """
        {"input_tokens":"int","input_tokens_details":{"cached_tokens":"int","cache_write_tokens":"int","input_tokens_per_turn":[],"cached_tokens_per_turn":[]},\
        "output_tokens":"int","output_tokens_details":{"reasoning_tokens":"int","tool_output_tokens":"int","output_tokens_per_turn":[],\
        "tool_output_tokens_per_turn":[]},"total_tokens":"int"}\
        """;
    String part =
        "{\"annotations\":[],\"text\":\"string\",\"type\":\"=output_text\",\"logprobs\":\"null\"}";
    String item =
        "{\"id\":\"~msg_.+\",\"content\":[%s],\"role\":\"=assistant\",\"status\":\"=%s\",\"type\":\"=message\",\"phase\":\"null\"}";
    String doneItem = item.formatted(part, "completed");
    String whole = response("[" + doneItem + "]", "~incomplete|completed", usage, "any");
    String begun = response("[]", "=in_progress", "\"null\"", "null");
    String place = "\"content_index\":\"=0\",\"item_id\":\"string\"";
    json(
        "responses answer whole",
        responsesRequest(""),
        200,
        whole,
        "responses_nonstream",
        "responses_nonstream_cached");
    stream(
        "responses stream",
        responsesRequest(",\"stream\":true"),
        List.of(
            numbered("response.created", "\"response\":" + begun + ",", ""),
            numbered("response.in_progress", "\"response\":" + begun + ",", ""),
            numbered(
                "response.output_item.added",
                "\"item\":" + item.formatted("", "in_progress") + ",\"output_index\":\"=0\",",
                ""),
            numbered(
                "response.content_part.added",
                place
                    + ",\"output_index\":\"=0\",\"part\":"
                    + part.replace("\"logprobs\":\"null\"", "\"logprobs\":[]")
                    + ",",
                ""),
            new EventSpec(
                "response.output_text.delta",
                Shape.of(
                    "{\"content_index\":\"=0\",\"delta\":\"string\",\"item_id\":\"string\",\"logprobs\":[],\"output_index\":\"=0\",\"sequence_number\":\"int\",\"type\":\"=response.output_text.delta\"}"),
                true),
            numbered(
                "response.output_text.done",
                place + ",\"logprobs\":[],\"output_index\":\"=0\",",
                ",\"text\":\"string\""),
            numbered(
                "response.content_part.done",
                place + ",\"output_index\":\"=0\",\"part\":" + part + ",",
                ""),
            numbered(
                "response.output_item.done",
                "\"item\":" + doneItem + ",\"output_index\":\"=0\",",
                ""),
            numbered("response.completed", "\"response\":" + whole + ",", "")),
        "responses_stream");
  }

  private void tokens() {
    String shape =
        "{\"count\":\"int\",\"max_model_len\":\"int\",\"tokens\":[\"int\"],\"token_strs\":%s}";
    json(
        "tokenize renders messages",
        WireRequest.post(
            "/tokenize",
            "{\"model\":\""
                + model
                + "\",\"messages\":[{\"role\":\"user\",\"content\":\"Say hello.\"}]}"),
        200,
        shape.formatted("\"null\""),
        "tokenize_messages");
    json(
        "tokenize tells pieces when asked",
        WireRequest.post(
            "/tokenize",
            "{\"model\":\"" + model + "\",\"prompt\":\"Say hello.\",\"return_token_strs\":true}"),
        200,
        shape.formatted("[\"string\"]"),
        "tokenize_prompt");
    json(
        "detokenize",
        WireRequest.post("/detokenize", "{\"model\":\"" + model + "\",\"tokens\":[9707,11,1879]}"),
        200,
        "{\"prompt\":\"string\"}",
        "detokenize");
  }

  private void errors() {
    String user = "\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]";
    String named = "{\"model\":\"" + model + "\",";
    String nope = "{\"model\":\"nope\",";
    String chat = "/v1/chat/completions";
    error(
        "a field of the wrong type is 400",
        post(chat, named + "\"max_tokens\":\"x\"," + user + "}"),
        400,
        "~1 validation error:.+int_parsing.+",
        "Bad Request",
        "=body.max_tokens",
        "err_400_bad_type");
    error(
        "broken JSON is 400",
        post(chat, named + "\"messages\":["),
        400,
        "~1 validation error:.+json_invalid.+",
        "Bad Request",
        "~body\\..+",
        "err_400_badjson");
    error(
        "a missing field is 400",
        post(chat, "{\"model\":\"" + model + "\"}"),
        400,
        "~1 validation error:.+Field required.+",
        "Bad Request",
        "=body.messages",
        "err_400_missing_messages");
    error(
        "validation on the messages route has the OpenAI shape",
        post("/v1/messages", named + user + "}"),
        400,
        "~1 validation error:.+Field required.+",
        "Bad Request",
        "=body.max_tokens",
        "err_400_messages");
    error(
        "another content type is 400",
        new WireRequest("POST", chat, Map.of("content-type", "text/plain"), named + user + "}"),
        400,
        "~1 validation error:.+Unsupported Media Type.+",
        "Bad Request",
        "null",
        "err_415_content_type");
    error(
        "too many tokens asked for is 400, also for a stream",
        post(chat, named + "\"stream\":true,\"max_tokens\":100000000," + user + "}"),
        400,
        "~max_tokens=\\d+ cannot be greater than max_model_len=.+",
        "BadRequestError",
        "=max_tokens",
        "err_400_context");
    error(
        "an unknown model is 404",
        post(chat, nope + user + "}"),
        404,
        "~The model `nope` does not exist.+",
        "NotFoundError",
        "=model",
        "err_404_model");
    error(
        "an unknown model is 404 for a stream too",
        post(chat, nope + "\"stream\":true," + user + "}"),
        404,
        "~The model `nope` does not exist.+",
        "NotFoundError",
        "=model",
        "err_404_model_stream");
    error(
        "an unknown model is 404 on responses",
        post("/v1/responses", nope + "\"input\":\"x\"}"),
        404,
        "~The model `nope` does not exist.+",
        "NotFoundError",
        "=model",
        "err_404_responses_model");
    json(
        "an unknown model is 404 in the Anthropic shape on messages",
        post("/v1/messages", nope + "\"max_tokens\":2," + user + "}"),
        404,
        "{\"type\":\"=error\",\"error\":{\"type\":\"=NotFoundError\",\"message\":\"~The model `nope` does not exist.+\"}}",
        "err_404_messages_model");
    error(
        "rendering is off",
        post(chat + "/render", named + user + "}"),
        403,
        "~Scale-out endpoints are disabled.+",
        "PermissionDeniedError",
        "null",
        "render_chat");
    json(
        "an unknown path is 404",
        WireRequest.get("/v1/none"),
        404,
        "{\"detail\":\"=Not Found\"}",
        "err_404_path");
    add(
        "a wrong method is 405 and says what is allowed",
        List.of("err_405"),
        WireRequest.get(chat),
        405,
        JSON,
        Map.of("allow", "POST"),
        "{\"detail\":\"=Method Not Allowed\"}",
        List.of());
  }

  private String response(String output, String status, String usage, String incomplete) {
    return """
    {"id":"~resp_.+","created_at":"number","incomplete_details":"%s","instructions":"null","metadata":"null","model":"=%s","object":"=response",\
    "output":%s,"parallel_tool_calls":"bool","temperature":"number","tool_choice":"any","tools":[],"top_p":"number","background":"bool",\
    "max_output_tokens":"int","max_tool_calls":"null","previous_response_id":"null","prompt":"null","reasoning":"null","service_tier":"string",\
    "status":"%s","text":"null","top_logprobs":"null","truncation":"string","usage":%s,"user":"null","presence_penalty":"number",\
    "frequency_penalty":"number","kv_transfer_params":"null","ec_transfer_params":"null","input_messages":"null","output_messages":"null"}\
    """
        .formatted(incomplete, model, output, status, usage);
  }

  private static EventSpec numbered(String type, String before, String after) {
    return event(
        type,
        "{" + before + "\"sequence_number\":\"int\"" + after + ",\"type\":\"=" + type + "\"}");
  }

  private EventSpec chatChunk(
      String delta, String finish, String choiceTail, String tail, boolean repeats) {
    return data(
        chunkHead()
            + ",\"choices\":[{\"index\":\"int\",\"delta\":"
            + delta
            + ",\"logprobs\":\"null\",\"finish_reason\":\""
            + finish
            + "\""
            + choiceTail
            + "}]"
            + tail
            + "}",
        repeats);
  }

  private String chunkHead() {
    return "{\"id\":\"~chatcmpl-.+\",\"object\":\"=chat.completion.chunk\",\"created\":\"int\",\"model\":\"="
        + model
        + "\"";
  }

  private static String choice(String finish) {
    return ",\"choices\":[{\"index\":\"int\",\"text\":\"string\",\"logprobs\":\"null\",\"finish_reason\":\""
        + finish
        + "\",\"stop_reason\":\"null\",\"prompt_token_ids\":\"null\",\"token_ids\":\"null\"}]}";
  }

  private static EventSpec data(String shape) {
    return data(shape, false);
  }

  private static EventSpec data(String shape, boolean repeats) {
    return new EventSpec(null, Shape.of(shape), repeats);
  }

  private static EventSpec done() {
    return new EventSpec(null, null, false);
  }

  private static EventSpec event(String type, String shape) {
    return new EventSpec(type, Shape.of(shape), false);
  }

  private WireRequest chatRequest(String fields) {
    return post(
        "/v1/chat/completions",
        "{\"model\":\""
            + model
            + "\",\"messages\":[{\"role\":\"user\",\"content\":\"Say hello.\"}],\"temperature\":0,"
            + fields
            + "}");
  }

  private WireRequest completion(String prompt, String fields) {
    return post(
        "/v1/completions",
        "{\"model\":\""
            + model
            + "\",\"prompt\":"
            + prompt
            + ",\"max_tokens\":4,\"temperature\":0"
            + fields
            + "}");
  }

  private WireRequest messagesRequest(String fields) {
    return post(
            "/v1/messages",
            "{\"model\":\""
                + model
                + "\",\"max_tokens\":6,\"temperature\":0,\"system\":\"Be short.\",\"messages\":[{\"role\":\"user\",\"content\":\"Say hello.\"}]"
                + fields
                + "}")
        .with("anthropic-version", "2023-06-01")
        .with("x-api-key", "none");
  }

  private WireRequest responsesRequest(String fields) {
    return post(
        "/v1/responses",
        "{\"model\":\""
            + model
            + "\",\"input\":\"Say hello.\",\"max_output_tokens\":6,\"temperature\":0"
            + fields
            + "}");
  }

  private static WireRequest post(String path, String body) {
    return WireRequest.post(path, body);
  }

  private void error(
      String name,
      WireRequest request,
      int status,
      String message,
      String type,
      String parameter,
      String sample) {
    // The shape is itself JSON, so a pattern's backslashes are doubled.
    String shape =
        "{\"error\":{\"message\":\"%s\",\"type\":\"=%s\",\"param\":\"%s\",\"code\":\"=%d\"}}"
            .formatted(message, type, parameter, status)
            .replace("\\", "\\\\");
    json(name, request, status, shape, sample);
  }

  private void empty(String name, WireRequest request, String sample) {
    add(name, List.of(sample), request, 200, "", Map.of("content-length", "0"), null, List.of());
  }

  private void json(String name, WireRequest request, int status, String shape, String... samples) {
    add(
        name,
        List.of(samples),
        request,
        status,
        JSON,
        Map.of("content-length", "~\\d+"),
        shape,
        List.of());
  }

  private void stream(String name, WireRequest request, List<EventSpec> events, String... samples) {
    add(name, List.of(samples), request, 200, EVENTS, Map.of(), null, events);
  }

  private void add(
      String name,
      List<String> samples,
      WireRequest request,
      int status,
      String contentType,
      Map<String, String> headers,
      @Nullable String shape,
      List<EventSpec> events) {
    checks.add(
        new WireCheck(
            name,
            samples,
            request,
            status,
            contentType,
            headers,
            shape == null ? null : Shape.of(shape),
            events));
  }
}
