package dev.warmpath.extproc.route;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.warmpath.crds.v1alpha1.PoolSpec;
import dev.warmpath.extproc.inflight.InFlightRequest.Outcome;
import dev.warmpath.extproc.inflight.InFlightRequest.Usage;
import dev.warmpath.extproc.label.LabelSource;
import dev.warmpath.extproc.request.Dialect;
import dev.warmpath.extproc.request.Operation;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RoutingPipelineTest {
  private final AtomicLong clock = new AtomicLong();
  private final PoolRouter router =
      new PoolRouter(1 << 20, clock::get, InstantSource.system(), new SplittableRandom(1));
  private final DecisionLog log = new DecisionLog(16);
  private final RoutingPipeline pipeline =
      new RoutingPipeline(
          router, (request, head, tenant) -> LabelSource.NONE, log, InstantSource.system());

  private RequestHead head(String id, String method, String path, Map<String, String> headers) {
    return new RequestHead(id, "r-" + id, method, path, "", headers, clock.get());
  }

  private Decision chat(String id, String body) {
    return pipeline.route(
        head(id, "POST", "/v1/chat/completions", Map.of()), body.getBytes(StandardCharsets.UTF_8));
  }

  private static String edited(String body, Decision.Routed routed) {
    StringBuilder out = new StringBuilder(body);
    for (int i = routed.edits().size() - 1; i >= 0; i--) {
      BodyEdit edit = routed.edits().get(i);
      out.replace(edit.start(), edit.end(), new String(edit.replacement(), StandardCharsets.UTF_8));
    }
    return out.toString();
  }

  @Test
  void routesAChatToAWorkerAndReleasesItsLease() {
    router.apply(Configurations.pool(3, PoolSpec.Algorithm.PredictedTTFT, 64), "v1");
    String text = "lorem ipsum ".repeat(3_000);
    String body =
        "{\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}],\"model\":\"qwen-27b\",\"stream\":true}"
            .formatted(text);

    Decision.Routed first = (Decision.Routed) chat("a", body);

    assertThat(first.clusters()).containsExactly(Configurations.CLUSTER);
    assertThat(first.destinations()).hasSize(3);
    assertThat(first.stripUsageChunk()).isTrue();
    assertThat(edited(body, first))
        .startsWith("{\"stream_options\":{\"include_usage\":true},\"messages\"")
        .endsWith("\"model\":\"Qwen/Qwen3.8-27B-FP8\",\"stream\":true}");
    assertThat(router.activeLeases()).isEqualTo(1);
    assertThat(pipeline.inFlight("a")).isSameAs(first.request());

    clock.addAndGet(3_000_000_000L);
    first.request().firstToken(clock.get());
    first.request().usage(new Usage(9_000, 0, 10));
    first.request().ended(Outcome.COMPLETED, clock.get());
    assertThat(router.activeLeases()).isZero();
    assertThat(pipeline.inFlight("a")).isNull();

    Decision.Routed second = (Decision.Routed) chat("b", body);
    assertThat(second.destinations().getFirst()).isEqualTo(first.destinations().getFirst());
    DecisionRecord record = requireNonNull(log.find("b"));
    assertThat(record.candidates().getFirst().cachedTokens()).isGreaterThan(8_000);
    assertThat(log.last(5)).hasSize(2);
  }

  @Test
  void answersTheModelListInTheShapeOfTheClient() {
    router.apply(Configurations.pool(1, PoolSpec.Algorithm.PredictedTTFT, 64), "v1");

    Decision.Answered openAi =
        (Decision.Answered) headOnly(head("a", "GET", "/v1/models", Map.of()));
    Decision.Answered anthropic =
        (Decision.Answered)
            headOnly(head("b", "GET", "/v1/models", Map.of("anthropic-version", "2023-06-01")));
    Decision.Answered one =
        (Decision.Answered)
            headOnly(head("c", "GET", "/v1/models/Qwen%2FQwen3.8-27B-FP8", Map.of()));

    assertThat(new String(openAi.body(), StandardCharsets.UTF_8))
        .isEqualTo(
            "{\"object\":\"list\",\"data\":[{\"id\":\"Qwen/Qwen3.8-27B-FP8\",\"object\":\"model\","
                + "\"created\":0,\"owned_by\":\"warmpath\"},{\"id\":\"qwen-27b\",\"object\":\"model\","
                + "\"created\":0,\"owned_by\":\"warmpath\"}]}");
    assertThat(new String(anthropic.body(), StandardCharsets.UTF_8))
        .contains("\"type\":\"model\"", "\"first_id\":\"Qwen/Qwen3.8-27B-FP8\"");
    assertThat(one.status()).isEqualTo(200);
  }

  @Test
  void beforeTheFirstConfigurationEverythingIsToBeTriedAgain() {
    Map<String, String> anthropic = Map.of("anthropic-version", "2023-06-01");
    Map<RequestHead, Dialect> early =
        Map.of(
            head("a", "POST", "/v1/chat/completions", Map.of()), Dialect.OPENAI,
            head("b", "POST", "/v1/messages", Map.of()), Dialect.ANTHROPIC,
            head("c", "GET", "/v1/models", Map.of()), Dialect.OPENAI,
            head("d", "GET", "/v1/models/qwen", anthropic), Dialect.ANTHROPIC,
            // The operator's prefixes are not known yet either.
            head("e", "POST", "/team/v1/messages", anthropic), Dialect.ANTHROPIC);

    early.forEach((head, dialect) ->
        assertThat(refusal(headOnly(head)))
            .returns(503, ApiError::status)
            .returns("not_configured", ApiError::code)
            .returns(true, ApiError::shouldRetry)
            .returns(1, ApiError::retryAfterSeconds)
            .returns(dialect, ApiError::dialect));
  }

  @Test
  void whatWasRefusedUnreadIsRecordedWithWhatItAskedFor() {
    router.apply(Configurations.pool(1, PoolSpec.Algorithm.PredictedTTFT, 64), "v1");

    headOnly(head("a", "GET", "/v1/messages/count_tokens", Map.of()));
    headOnly(head("b", "POST", "/v1/models/x", Map.of()));
    headOnly(head("c", "POST", "/v1/secret-of-a-client", Map.of()));
    chat("d", "{");
    ApiError error = new ApiError(Dialect.OPENAI, 413, "request_too_large", "No.", null, 0, false);
    pipeline.undecided(head("e", "POST", "/v1/embeddings", Map.of()), error);
    pipeline.undecided(head("f", "POST", "/v1/messages", Map.of()), null);

    assertThat(log.last(9).reversed())
        .extracting(
            DecisionRecord::id,
            DecisionRecord::operation,
            record -> record.refusal() == null ? null : record.refusal().code(),
            DecisionRecord::outcome,
            DecisionRecord::model)
        .containsExactly(
            tuple("a", "/v1/messages/count_tokens", "method_not_allowed", null, ""),
            tuple("b", "/v1/models", "method_not_allowed", null, ""),
            tuple("c", "", "unknown_path", null, ""),
            tuple("d", "/v1/chat/completions", "invalid_json", null, ""),
            tuple("e", "/v1/embeddings", "request_too_large", null, ""),
            tuple("f", "/v1/messages", null, Outcome.CLIENT_GONE, ""));
  }

  @Test
  void whatIsFullIsSaidByTheBackendsName() {
    String body = "{\"model\":\"qwen-27b\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}";
    Map<Integer, String> told =
        Map.of(
            1, "the worker of 'qwen-local' that may take it has 2 prompts queued",
            3, "each of the 3 workers of 'qwen-local' that may take it has 2 prompts queued");
    told.forEach((workers, words) -> {
      PoolRouter fresh =
          new PoolRouter(1 << 20, clock::get, InstantSource.system(), new SplittableRandom(1));
      fresh.apply(Configurations.pool(workers, PoolSpec.Algorithm.PredictedTTFT, 2), "v1");
      RoutingPipeline full =
          new RoutingPipeline(
              fresh, (request, head, tenant) -> LabelSource.NONE, log, InstantSource.system());
      Decision last = null;
      for (int i = 0; i <= 2 * workers; i++) {
        last =
            full.route(
                head(workers + "-" + i, "POST", "/v1/chat/completions", Map.of()),
                body.getBytes(StandardCharsets.UTF_8));
      }

      assertThat(refusal(requireNonNull(last)))
          .returns(429, ApiError::status)
          .returns("workers_saturated", ApiError::code)
          .returns(true, ApiError::shouldRetry)
          .returns(
              "Everything that may take this request is at its limit: " + words + ".",
              ApiError::message);
    });
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "content-type: ",
        "content-type: application/json",
        "content-type: application/json; charset=utf-8",
        "content-type: Application/JSON;charset=UTF-8",
        "content-type:  application/json ",
        "content-type: application/json,application/json",
        "content-type: application/json; charset=utf-8, text/json",
        "content-type: application/json; profile=\"a, b\"",
        "content-type: application/vnd.api+json",
        "content-type: text/json",
        "content-encoding: identity",
        "content-encoding: Identity, identity",
        "content-encoding: ",
      })
  void jsonUnderAnyNameIsRead(String header) {
    router.apply(Configurations.pool(1, PoolSpec.Algorithm.PredictedTTFT, 64), "v1");
    for (Operation operation : Operation.values()) {
      assertThat(pipeline.routeHead(head("a", "POST", operation.path(), headers(header)))).isNull();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "content-type: multipart/form-data; boundary=x | multipart/form-data",
        "content-type: application/x-www-form-urlencoded | application/x-www-form-urlencoded",
        "content-type: text/plain | text/plain",
        "content-type: application/xml | application/xml",
        "content-type: application/jsonl | application/jsonl",
        "content-type: nonsense | nonsense",
        "content-type: application/json, text/plain | text/plain",
        "content-type: application/json; charset=utf-8,text/plain | text/plain",
        "content-type: text/plain, application/json | text/plain",
        "content-encoding: gzip | gzip",
        "content-encoding: br | br",
        "content-encoding: zstd | zstd",
        "content-encoding: deflate, gzip | deflate, gzip",
        "content-encoding: identity, gzip | identity, gzip",
        "content-encoding: GZIP | GZIP"
      })
  void aBodyThatIsNoPlainJsonIsToldSoBeforeItIsSent(String example) {
    router.apply(Configurations.pool(1, PoolSpec.Algorithm.PredictedTTFT, 64), "v1");
    String[] parts = example.split(" \\| ", 2);
    boolean type = parts[0].startsWith("content-type");
    for (Operation operation : Operation.values()) {
      assertThat(refusal(headOnly(head("a", "POST", operation.path(), headers(parts[0])))))
          .returns(415, ApiError::status)
          .returns(type ? "unsupported_media_type" : "unsupported_encoding", ApiError::code)
          .returns(operation.dialect(), ApiError::dialect)
          .returns(false, ApiError::shouldRetry)
          .returns(type ? Map.of() : Map.of("accept-encoding", "identity"), ApiError::headers)
          .satisfies(error -> assertThat(error.message()).contains("'" + parts[1] + "'"));
    }
  }

  private static Map<String, String> headers(String line) {
    int colon = line.indexOf(':');
    return colon < 0
        ? Map.of()
        : Map.of(line.substring(0, colon), line.substring(colon + 1).stripLeading());
  }

  @Test
  void refusesInTheDialectOfThePath() {
    router.apply(Configurations.pool(1, PoolSpec.Algorithm.PredictedTTFT, 64), "v1");

    assertThat(refusal(headOnly(head("a", "POST", "/v1/load_lora_adapter", Map.of()))))
        .returns(404, ApiError::status)
        .returns("unknown_path", ApiError::code)
        .satisfies(error ->
            assertThat(error.message()).contains("POST /v1/chat/completions", "GET /v1/models"));
    assertThat(refusal(headOnly(head("b", "GET", "/v1/messages", Map.of()))))
        .returns(405, ApiError::status)
        .returns(Map.of("allow", "POST"), ApiError::headers)
        .returns(Dialect.ANTHROPIC, ApiError::dialect);
    for (String path : List.of("/v1/models", "/v1/models/qwen-27b")) {
      assertThat(refusal(headOnly(head("b", "DELETE", path, Map.of()))))
          .returns(405, ApiError::status)
          .returns(Map.of("allow", "GET"), ApiError::headers);
    }
    assertThat(pipeline.routeHead(head("c", "POST", "/v1/messages", Map.of()))).isNull();
    assertThat(refusal(chat("d", "{\"model\":\"nope\",\"messages\":[]}")))
        .returns(404, ApiError::status)
        .returns("model_not_found", ApiError::code);
    assertThat(refusal(chat("e", "{\"model\":\"qwen-27b\"}")))
        .returns(400, ApiError::status)
        .returns("messages", ApiError::param);
  }

  @Test
  void saturationIsA429WithAShortRetryAfter() {
    router.apply(Configurations.pool(2, PoolSpec.Algorithm.PredictedTTFT, 1), "v1");
    String body = "{\"model\":\"qwen-27b\",\"stream\":true,\"messages\":[]}";
    chat("a", body);
    chat("b", body);

    ApiError error = refusal(chat("c", body));

    assertThat(error).returns(429, ApiError::status).returns(true, ApiError::shouldRetry);
    assertThat(error.retryAfterSeconds()).isBetween(1, 5);
    assertThat(router.activeLeases()).isEqualTo(2);
  }

  private Decision headOnly(RequestHead head) {
    return requireNonNull(pipeline.routeHead(head));
  }

  private static ApiError refusal(Decision decision) {
    return ((Decision.Rejected) decision).error();
  }
}
