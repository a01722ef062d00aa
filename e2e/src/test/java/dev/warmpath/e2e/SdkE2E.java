package dev.warmpath.e2e;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.e2e.support.ConfigFolder;
import dev.warmpath.e2e.support.Edits;
import dev.warmpath.e2e.support.ScriptedWorker;
import dev.warmpath.e2e.support.Scripts;
import dev.warmpath.e2e.support.Sdk;
import dev.warmpath.e2e.support.Stack;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;

/**
 * Unmodified programs with the vendors' SDKs, through the gateway, to a worker that answers with
 * the bytes of a real vLLM. Each program runs once; the tests look at what it saw and at what
 * reached the worker.
 */
class SdkE2E {

  private static final String TEXT = "ฟาссฟาссฟาссฟาсс";
  private static final String SHORT_TEXT = "ฟาссฟาссฟาсс";

  private static final Map<Sdk, JsonNode> SEEN = new EnumMap<>(Sdk.class);
  private static final Map<Sdk, List<ScriptedWorker.Received>> RECEIVED = new EnumMap<>(Sdk.class);

  private static ScriptedWorker worker;
  private static Stack stack;

  @BeforeAll
  static void run_the_programs(@TempDir Path folder) throws Exception {
    worker = ScriptedWorker.start("tiny", Scripts.vllm());
    stack =
        Stack.run(
            folder,
            new ConfigFolder(folder.resolve("config"))
                .workerSet("w", List.of(new ConfigFolder.Worker("w0", worker.port())))
                .pool("tiny", "tiny", "w")
                .poolBackend("tiny", "tiny", "tiny", "team/tiny-27b"));
    String origin = "http://127.0.0.1:" + stack.gateway().getPort();
    for (Sdk sdk : Sdk.values()) {
      SEEN.put(sdk, sdk.run(sdk == Sdk.ANTHROPIC ? origin : origin + "/v1", "sk-any", "tiny"));
      RECEIVED.put(sdk, worker.received());
      worker.forget();
    }
  }

  @AfterAll
  static void stop() throws IOException {
    stack.close();
    worker.close();
  }

  @ParameterizedTest
  @EnumSource(names = {"OPENAI_CURRENT", "OPENAI_PREVIOUS"})
  void openai_chat(Sdk sdk) {
    JsonNode chat = seen(sdk, "chat");

    assertThat(chat.path("content").asString()).isEqualTo(TEXT);
    assertThat(chat.path("finish").asString()).isEqualTo("length");
    assertThat(chat.path("usage").path("prompt_tokens").asInt()).isEqualTo(11);
    assertThat(chat.path("usage").path("completion_tokens").asInt()).isEqualTo(8);
    assertThat(decoded(chat.path("bytes"))).isEqualTo(Scripts.CHAT.body());
    assertThat(chat.path("request_id").asString("")).as("request id").isNotBlank();
    assertThat(chat.path("decision").asString("")).as("decision id").isNotBlank();
  }

  @ParameterizedTest
  @EnumSource(names = {"OPENAI_CURRENT", "OPENAI_PREVIOUS"})
  void openai_stream_without_usage_shows_no_trace_of_the_gateways_own_wish_for_it(Sdk sdk) {
    JsonNode stream = seen(sdk, "chat_stream");

    assertThat(stream.path("content").asString()).isEqualTo(TEXT);
    assertThat(stream.path("chunks").asInt()).isEqualTo(9);
    assertThat(stream.path("without_choices").asInt()).isZero();
    assertThat(stream.path("usage")).isEmpty();
    assertThat(decoded(seen(sdk, "chat_stream_bytes").path("bytes")))
        .isEqualTo(Scripts.CHAT_STREAM.withoutUsageChunk().body());
  }

  @ParameterizedTest
  @EnumSource(names = {"OPENAI_CURRENT", "OPENAI_PREVIOUS"})
  void openai_stream_with_usage_gets_it(Sdk sdk) {
    JsonNode stream = seen(sdk, "chat_stream_usage");

    assertThat(stream.path("content").asString()).isEqualTo(TEXT);
    assertThat(stream.path("without_choices").asInt()).isEqualTo(1);
    assertThat(stream.path("usage").path(0).path("completion_tokens").asInt()).isEqualTo(8);
  }

  @ParameterizedTest
  @EnumSource(names = {"OPENAI_CURRENT", "OPENAI_PREVIOUS"})
  void openai_everything_else_that_works(Sdk sdk) {
    assertThat(seen(sdk, "tools").path("name").asString()).isEqualTo("get_weather");
    assertThat(seen(sdk, "tools").path("arguments").path("city").asString()).isEqualTo("Paris");
    assertThat(seen(sdk, "tools_stream").path("arguments").path("city").asString())
        .isEqualTo("Paris");
    assertThat(seen(sdk, "images").path("content").asString()).isEqualTo(TEXT);
    assertThat(seen(sdk, "completions").path("text").asString())
        .isEqualTo("ASHBOARDolgAGING<algorithm");
    assertThat(seen(sdk, "completions_stream").path("text").asString())
        .isEqualTo("ASHBOARDolgAGING<algorithm");
    assertThat(seen(sdk, "responses").path("text").asString()).isEqualTo(SHORT_TEXT);
    assertThat(seen(sdk, "responses_stream").path("last").asString())
        .isEqualTo("response.completed");
    assertThat(seen(sdk, "embeddings").path("vectors").toString())
        .isEqualTo("[[1.0,2.0],[0.5,-1.0]]");
    assertThat(seen(sdk, "models").path("one").asString()).isEqualTo("tiny");
    assertThat(seen(sdk, "models").path("listed").toString())
        .contains("\"tiny\"", "\"team/tiny-27b\"");
    assertThat(seen(sdk, "async_stream").path("content").asString()).isEqualTo(TEXT);
  }

  @ParameterizedTest(name = "{0} raises {1}, status {2}")
  @CsvSource({
    "unknown_model,          NotFoundError,       404",
    "unknown_model_stream,   NotFoundError,       404",
    "unknown_model_retrieve, NotFoundError,       404",
    "too_large,              APIStatusError,      413",
    "worker_400,             BadRequestError,     400",
    "worker_429,             RateLimitError,      429",
    "worker_500,             InternalServerError, 500",
    "worker_503,             InternalServerError, 503"
  })
  void openai_errors_are_the_sdks_own_exceptions(String scenario, String exception, int status) {
    for (Sdk sdk : List.of(Sdk.OPENAI_CURRENT, Sdk.OPENAI_PREVIOUS)) {
      JsonNode seen = seen(sdk, scenario);

      assertThat(seen.path("classes").toString())
          .as(seen.toString())
          .contains("\"" + exception + "\"");
      assertThat(seen.path("status").asInt()).as(seen.toString()).isEqualTo(status);
      assertThat(seen.path("request_id").asString("")).as(seen.toString()).isNotBlank();
      assertThat(seen.path("message").asString("")).as(seen.toString()).isNotBlank();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"OPENAI_CURRENT", "OPENAI_PREVIOUS"})
  void openai_unknown_model_has_the_code_that_programs_look_for(Sdk sdk) {
    assertThat(seen(sdk, "unknown_model").path("code").asString()).isEqualTo("model_not_found");
    assertThat(seen(sdk, "unknown_model").path("param").asString()).isEqualTo("model");
  }

  @ParameterizedTest
  @EnumSource(names = {"OPENAI_CURRENT", "OPENAI_PREVIOUS"})
  void openai_uploads_are_told_what_is_served(Sdk sdk) {
    for (String call : List.of("upload_file", "transcription")) {
      assertThat(seen(sdk, call).path("exception").asString()).isEqualTo("NotFoundError");
      assertThat(seen(sdk, call).path("code").asString()).isEqualTo("unknown_path");
      assertThat(seen(sdk, call).path("message").asString()).contains("/v1/chat/completions");
    }
    JsonNode multipart = seen(sdk, "multipart_chat");
    assertThat(multipart.path("status").asInt()).as(multipart.toString()).isEqualTo(415);
    assertThat(multipart.path("code").asString()).isEqualTo("unsupported_media_type");
    assertThat(multipart.path("message").asString()).contains("multipart/form-data");
  }

  @ParameterizedTest
  @EnumSource(names = {"OPENAI_CURRENT", "OPENAI_PREVIOUS"})
  void openai_errors_inside_a_stream_stay_what_they_were(Sdk sdk) {
    assertThat(seen(sdk, "error_event").path("exception").asString()).isEqualTo("APIError");
    assertThat(seen(sdk, "error_event").path("message").asString()).contains("engine died");
    assertThat(seen(sdk, "truncated_stream").path("exception").asString())
        .as("a broken stream must not look complete")
        .isNotEqualTo("null")
        .isNotBlank();
  }

  @Test
  void anthropic_message() {
    JsonNode message = seen(Sdk.ANTHROPIC, "messages");

    assertThat(message.path("content").asString()).isEqualTo(SHORT_TEXT);
    assertThat(message.path("stop").asString()).isEqualTo("max_tokens");
    assertThat(message.path("usage").path("input_tokens").asInt()).isEqualTo(19);
    assertThat(decoded(message.path("bytes"))).isEqualTo(Scripts.MESSAGE.body());
    assertThat(message.path("request_id").asString("")).as("request-id").isNotBlank();
    assertThat(message.path("decision").asString("")).as("decision id").isNotBlank();
  }

  @Test
  void anthropic_stream() {
    assertThat(seen(Sdk.ANTHROPIC, "messages_stream").path("content").asString())
        .isEqualTo(SHORT_TEXT);
    assertThat(decoded(seen(Sdk.ANTHROPIC, "messages_stream_bytes").path("bytes")))
        .isEqualTo(Scripts.MESSAGE_STREAM.body());
  }

  @Test
  void anthropic_everything_else_that_works() {
    assertThat(seen(Sdk.ANTHROPIC, "tools").path("arguments").path("city").asString())
        .isEqualTo("Paris");
    assertThat(seen(Sdk.ANTHROPIC, "images").path("content").asString()).isEqualTo(SHORT_TEXT);
    assertThat(seen(Sdk.ANTHROPIC, "count_tokens").path("input_tokens").asInt()).isEqualTo(11);
    assertThat(seen(Sdk.ANTHROPIC, "models").path("listed").toString())
        .contains("\"tiny\"", "\"team/tiny-27b\"");
  }

  @ParameterizedTest(name = "{0} raises {1}, status {2}")
  @CsvSource({
    "unknown_model, NotFoundError,        404, true",
    "too_large,     ContentTooLargeError, 413, true",
    "worker_400,    BadRequestError,      400, false",
    "worker_429,    RateLimitError,       429, false",
    "worker_503,    APIStatusError,       503, false",
    "error_event,   APIStatusError,       200, false"
  })
  void anthropic_errors_are_the_sdks_own_exceptions(
      String scenario, String exception, int status, boolean ours) {
    JsonNode seen = seen(Sdk.ANTHROPIC, scenario);

    assertThat(seen.path("classes").toString())
        .as(seen.toString())
        .contains("\"" + exception + "\"");
    assertThat(seen.path("status").asInt()).as(seen.toString()).isEqualTo(status);
    assertThat(seen.path("request_id").asString("")).as(seen.toString()).isNotBlank();
    if (ours) {
      assertThat(seen.path("body").path("type").asString(""))
          .as(seen.toString())
          .isEqualTo("error");
    }
  }

  @ParameterizedTest
  @EnumSource
  void what_the_program_sent_is_what_the_worker_got(Sdk sdk) {
    List<String> received =
        RECEIVED.getOrDefault(sdk, List.of()).stream().map(ScriptedWorker.Received::text).toList();
    List<String> missing = new ArrayList<>();
    program(sdk)
        .properties()
        .forEach(scenario -> {
          if (scenario.getValue().path("exception").asString("").isEmpty()) {
            for (JsonNode sent : scenario.getValue().path("sent")) {
              String body = decoded(sent);
              if (!body.isEmpty()
                  && received.stream().noneMatch(got -> Edits.isDocumented(body, got))) {
                missing.add(scenario.getKey() + ": " + body);
              }
            }
          }
        });
    assertThat(missing).as("bodies that reached no worker as they were, of %s", received).isEmpty();
  }

  private static JsonNode program(Sdk sdk) {
    return SEEN.getOrDefault(sdk, MissingNode.getInstance());
  }

  private static JsonNode seen(Sdk sdk, String scenario) {
    JsonNode node = program(sdk).path(scenario);
    assertThat(node.isMissingNode()).as(scenario).isFalse();
    return node;
  }

  private static String decoded(JsonNode base64) {
    return new String(Base64.getDecoder().decode(base64.asString("")), UTF_8);
  }
}
