package dev.warmpath.extproc.stream;

import static dev.warmpath.extproc.stream.Messages.body;
import static dev.warmpath.extproc.stream.Messages.headers;
import static dev.warmpath.extproc.stream.Messages.immediate;
import static dev.warmpath.extproc.stream.Messages.metadata;
import static dev.warmpath.extproc.stream.Messages.post;
import static dev.warmpath.extproc.stream.Messages.requestTrailers;
import static dev.warmpath.extproc.stream.Messages.responseBody;
import static dev.warmpath.extproc.stream.Messages.responseHeaders;
import static dev.warmpath.extproc.stream.Messages.setHeaders;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import dev.warmpath.extproc.request.Dialect;
import dev.warmpath.extproc.route.ApiError;
import dev.warmpath.extproc.route.BodyEdit;
import dev.warmpath.extproc.route.Decision;
import dev.warmpath.extproc.stream.StreamHarness.Stream;
import io.envoyproxy.envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Each phase of a deciding stream, as messages in and messages out. */
class DecideStreamTest {
  private static final long BUDGET_BYTES = 6 * 1024 * 1024;

  @TempDir Path folder;
  private StreamHarness harness;

  @BeforeEach
  void start() throws IOException {
    harness = new StreamHarness(folder, BUDGET_BYTES);
  }

  @AfterEach
  void stop() {
    harness.close();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void bufferedBodyIsRoutedAndTheStreamHalfClosed(boolean endOfStream) throws Exception {
    Stream stream = harness.decide();

    stream.send(post(BodySendMode.BUFFERED, "content-length", "7"));
    ProcessingResponse first = stream.next();
    stream.send(body("{\"a\":1}", endOfStream));
    ProcessingResponse second = stream.next();
    stream.awaitCompleted();

    String decisionId = harness.router.onlyRequest().decisionId();
    assertThat(decisionId).matches("[0-9a-z]{26}");
    assertThat(first.hasRequestHeaders()).isTrue();
    assertThat(metadata(first, "warmpath", "decision_id")).isEqualTo(decisionId);
    assertThat(second.hasRequestBody()).isTrue();
    assertThat(second.getRequestBody().getResponse().getClearRouteCache()).isTrue();
    assertThat(second.getRequestBody().getResponse().hasBodyMutation()).isFalse();
    assertThat(setHeaders(second))
        .containsEntry("x-wp-cluster", "pool/default/qwen")
        .containsEntry("x-wp-route", "cluster")
        .doesNotContainKey("x-gateway-destination-endpoint");
    assertThat(metadata(second, "envoy.lb", "x-gateway-destination-endpoint"))
        .isEqualTo("10.0.0.1:8000,10.0.0.2:8000");
    assertThat(harness.router.lastBody).isEqualTo("{\"a\":1}".getBytes(UTF_8));
    assertThat(harness.budget.usedBytes()).isZero();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "BUFFERED | | true",
        "FULL_DUPLEX_STREAMED | | true",
        "BUFFERED | text/json | true",
        "BUFFERED | application/vnd.api+json | true",
        "BUFFERED | application/json,application/json | true",
        "BUFFERED | application/json; charset=utf-8, text/json | true",
        "BUFFERED | application/json | false",
        "FULL_DUPLEX_STREAMED | application/json | false",
        "BUFFERED | Application/JSON;charset=UTF-8 | false",
      })
  void aBodyThatWasReadAsJsonIsNamedSoToTheWorker(String example) throws Exception {
    String[] parts = example.split("\\|", -1);
    BodySendMode mode = BodySendMode.valueOf(parts[0].strip());
    String type = parts[1].strip();
    boolean set = Boolean.parseBoolean(parts[2].strip());
    Stream stream = harness.decide();

    stream.send(type.isEmpty() ? post(mode) : post(mode, "content-type", type));
    if (mode == BodySendMode.BUFFERED) {
      stream.next();
    }
    stream.send(body("{}", true));
    Map<String, String> headers = setHeaders(stream.next());

    assertThat(headers.get("content-type")).isEqualTo(set ? "application/json" : null);
  }

  @Test
  void editedBodyCarriesItsNewLength() throws Exception {
    harness.router.onBody =
        (head, bytes) ->
            harness.router.routed(
                head,
                new BodyEdit(1, 4, "\"model\"".getBytes(UTF_8)),
                new BodyEdit(6, 6, "0".getBytes(UTF_8)));
    Stream stream = harness.decide();

    stream.send(post(BodySendMode.BUFFERED));
    stream.next();
    stream.send(body("{\"a\":1}", true));
    ProcessingResponse answer = stream.next();

    String expected = "{\"model\":10}";
    assertThat(answer.getRequestBody().getResponse().getBodyMutation().getBody().toStringUtf8())
        .isEqualTo(expected);
    assertThat(setHeaders(answer)).containsEntry("content-length", "" + expected.length());
    assertThat(metadata(answer, "warmpath", "strip_usage")).isEqualTo("true");
  }

  @Test
  void severalClustersBecomeAPlan() throws Exception {
    harness.router.onBody =
        (head, bytes) ->
            new Decision.Routed(
                harness.router.start(head.decisionId()),
                TestRouter.TWO_WORKERS,
                List.of("pool/default/qwen", "provider/default/x"),
                List.of(),
                false,
                new Decision.ModelNames(Map.of("provider/default/x", "\"big\""), 9, 15));
    Stream stream = harness.decide();

    stream.send(post(BodySendMode.BUFFERED));
    stream.next();
    stream.send(body("{}", true));
    ProcessingResponse answer = stream.next();

    assertThat(setHeaders(answer))
        .containsEntry("x-wp-route", "plan")
        .doesNotContainKey("x-wp-cluster");
    var fields = answer.getDynamicMetadata();
    assertThat(
            fields
                .getFieldsOrThrow("warmpath.route")
                .getStructValue()
                .getFieldsOrThrow("priority_groups")
                .getListValue()
                .getValuesList())
        .extracting(group ->
            group
                .getStructValue()
                .getFieldsOrThrow("clusters")
                .getListValue()
                .getValues(0)
                .getStructValue()
                .getFieldsOrThrow("cluster_name")
                .getStringValue())
        .containsExactly("pool/default/qwen", "provider/default/x");
    var own = fields.getFieldsOrThrow("warmpath").getStructValue();
    assertThat(own.getFieldsOrThrow("model_start").getNumberValue()).isEqualTo(9);
    assertThat(
            own.getFieldsOrThrow("models")
                .getStructValue()
                .getFieldsOrThrow("provider/default/x")
                .getStringValue())
        .isEqualTo("\"big\"");
  }

  @Test
  void requestWithoutBodyIsAnsweredAtItsHeaders() throws Exception {
    harness.router.onHead =
        head -> new Decision.Answered(200, "application/json", "{\"data\":[]}".getBytes(UTF_8));
    Stream stream = harness.decide();

    stream.send(headers("GET", "/v1/models?limit=2", BodySendMode.BUFFERED, true));
    ProcessingResponse answer = stream.next();
    stream.awaitCompleted();

    assertThat(immediate(answer).getStatus().getCodeValue()).isEqualTo(200);
    assertThat(immediate(answer).getBody().toStringUtf8()).isEqualTo("{\"data\":[]}");
    assertThat(immediate(answer).getDetails()).isEqualTo("wp_answered");
    assertThat(harness.router.heads.element().path()).isEqualTo("/v1/models");
    assertThat(harness.router.heads.element().query()).isEqualTo("limit=2");
    assertThat(harness.router.heads.element().method()).isEqualTo("GET");
  }

  @Test
  void postWithoutBodyIsDecidedFromAnEmptyOne() throws Exception {
    Stream stream = harness.decide();

    stream.send(headers("POST", Messages.CHAT, BodySendMode.BUFFERED, true));
    ProcessingResponse answer = stream.next();
    stream.awaitCompleted();

    assertThat(answer.hasRequestHeaders()).isTrue();
    assertThat(answer.getRequestHeaders().getResponse().getClearRouteCache()).isTrue();
    assertThat(setHeaders(answer)).containsEntry("x-wp-route", "cluster");
    assertThat(harness.router.lastBody).isEmpty();
  }

  @Test
  void rejectionSpeaksTheOpenAiDialect() throws Exception {
    harness.router.onBody =
        (head, bytes) ->
            new Decision.Rejected(
                new ApiError(
                    Dialect.OPENAI, 404, "model_not_found", "No \"x\".", "model", 0, false));
    Stream stream = harness.decide();

    stream.send(post(BodySendMode.BUFFERED));
    stream.next();
    stream.send(body("{}", true));
    ProcessingResponse answer = stream.next();
    stream.awaitCompleted();

    assertThat(immediate(answer).getStatus().getCodeValue()).isEqualTo(404);
    assertThat(immediate(answer).getDetails()).isEqualTo("wp_model_not_found");
    assertThat(immediate(answer).getBody().toStringUtf8())
        .isEqualTo(
            "{\"error\":{\"message\":\"No \\\"x\\\".\",\"type\":\"invalid_request_error\","
                + "\"param\":\"model\",\"code\":\"model_not_found\"}}");
    assertThat(setHeaders(answer))
        .containsEntry("content-type", "application/json")
        .containsEntry("x-request-id", "req-1")
        .containsEntry("x-should-retry", "false")
        .doesNotContainKey("retry-after");
  }

  @Test
  void rejectionSpeaksTheAnthropicDialect() throws Exception {
    harness.router.onHead =
        head ->
            new Decision.Rejected(
                new ApiError(Dialect.ANTHROPIC, 429, "queue_full", "Busy.", null, 2, true));
    Stream stream = harness.decide();

    stream.send(headers("POST", "/v1/messages", BodySendMode.BUFFERED, false));
    ProcessingResponse answer = stream.next();
    stream.awaitCompleted();

    assertThat(immediate(answer).getBody().toStringUtf8())
        .isEqualTo(
            "{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"Busy.\"},"
                + "\"request_id\":\"req-1\"}");
    assertThat(setHeaders(answer))
        .containsEntry("request-id", "req-1")
        .containsEntry("retry-after", "2")
        .doesNotContainKey("x-should-retry");
  }

  @Test
  void rejectionCarriesTheHeadersThatItsStatusCallsFor() throws Exception {
    harness.router.onHead =
        head ->
            new Decision.Rejected(
                new ApiError(
                    Dialect.OPENAI,
                    405,
                    "method_not_allowed",
                    "No.",
                    null,
                    0,
                    false,
                    Map.of("allow", "POST")));
    Stream stream = harness.decide();

    stream.send(headers("GET", "/v1/embeddings", BodySendMode.BUFFERED, true));
    ProcessingResponse answer = stream.next();

    assertThat(setHeaders(answer)).containsEntry("allow", "POST");
  }

  @Test
  void unexpectedExceptionBecomesAServiceError() throws Exception {
    harness.router.onBody =
        (head, bytes) -> {
          throw new IllegalStateException("secret prompt");
        };
    Stream stream = harness.decide();

    stream.send(headers("POST", "/v1/messages", BodySendMode.BUFFERED, false));
    stream.next();
    stream.send(body("{}", true));
    ProcessingResponse answer = stream.next();
    stream.awaitCompleted();

    assertThat(immediate(answer).getStatus().getCodeValue()).isEqualTo(503);
    assertThat(immediate(answer).getDetails()).isEqualTo("wp_gateway_internal");
    assertThat(immediate(answer).getBody().toStringUtf8())
        .contains("overloaded_error")
        .doesNotContain("secret");
    assertThat(harness.budget.usedBytes()).isZero();
    assertThat(harness.router.undecided).containsExactly("gateway_internal");
  }

  @Test
  void exceptionAtTheHeadersBecomesAServiceError() throws Exception {
    harness.router.onHead =
        head -> {
          throw new IllegalStateException("x");
        };
    Stream stream = harness.decide();

    stream.send(post(BodySendMode.BUFFERED));
    ProcessingResponse answer = stream.next();
    stream.awaitCompleted();

    assertThat(immediate(answer).getStatus().getCodeValue()).isEqualTo(503);
  }

  @Test
  void impossibleEditBecomesAServiceErrorAndReleasesTheLease() throws Exception {
    harness.router.onBody =
        (head, bytes) -> harness.router.routed(head, new BodyEdit(5, 99, new byte[0]));
    Stream stream = harness.decide();

    stream.send(post(BodySendMode.BUFFERED));
    stream.next();
    stream.send(body("{}", true));
    ProcessingResponse answer = stream.next();

    assertThat(immediate(answer).getStatus().getCodeValue()).isEqualTo(503);
    assertThat(harness.router.onlyRequest().events).containsExactly("ended LOST");
  }

  @Test
  void fullDuplexHoldsTheHeadersBackAndReturnsTheBodyInChunks() throws Exception {
    ByteString first = ByteString.copyFrom(new byte[100_000]);
    ByteString second = ByteString.copyFrom(new byte[30_000]);
    Stream stream = harness.decide();

    stream.send(post(BodySendMode.FULL_DUPLEX_STREAMED));
    stream.send(body(first, false));
    stream.send(body(second, true));
    stream.send(body(second, true)); // some Envoys repeat the last chunk
    ProcessingResponse headers = stream.next();
    List<ProcessingResponse> chunks = List.of(stream.next(), stream.next(), stream.next());
    stream.awaitCompleted();

    assertThat(headers.hasRequestHeaders()).isTrue();
    assertThat(setHeaders(headers)).containsEntry("x-wp-cluster", "pool/default/qwen");
    assertThat(headers.getRequestHeaders().getResponse().getClearRouteCache()).isTrue();
    assertThat(chunks)
        .extracting(chunk ->
            chunk
                .getRequestBody()
                .getResponse()
                .getBodyMutation()
                .getStreamedResponse()
                .getBody()
                .size())
        .containsExactly(64_000, 64_000, 2_000);
    assertThat(chunks)
        .extracting(chunk ->
            chunk
                .getRequestBody()
                .getResponse()
                .getBodyMutation()
                .getStreamedResponse()
                .getEndOfStream())
        .containsExactly(false, false, true);
    assertThat(harness.router.lastBody).hasSize(130_000);
  }

  @Test
  void fullDuplexBodyMayEndWithTrailersOrAnEmptyChunk() throws Exception {
    Stream trailed = harness.decide();
    trailed.send(post(BodySendMode.FULL_DUPLEX_STREAMED)).send(body("{}", false));
    trailed.send(requestTrailers());
    trailed.next();
    ProcessingResponse chunk = trailed.next();
    ProcessingResponse trailers = trailed.next();
    trailed.awaitCompleted();

    Stream empty = harness.decide();
    empty.send(post(BodySendMode.FULL_DUPLEX_STREAMED)).send(body("{}", false));
    empty.send(body("", true));
    empty.next();
    ProcessingResponse last = empty.next();
    empty.awaitCompleted();

    assertThat(streamed(chunk).getEndOfStream()).isFalse();
    assertThat(trailers.hasRequestTrailers()).isTrue();
    assertThat(streamed(last).getEndOfStream()).isTrue();
    assertThat(streamed(last).getBody().toStringUtf8()).isEqualTo("{}");
  }

  @Test
  void streamedBodyWithoutWaitingGetsOneAnswerAMessage() throws Exception {
    harness.router.onBody =
        (head, bytes) -> harness.router.routed(head, new BodyEdit(0, 1, "ab".getBytes(UTF_8)));
    Stream stream = harness.decide();
    var first = post(BodySendMode.STREAMED).toBuilder();
    first.getProtocolConfigBuilder().setSendBodyWithoutWaitingForHeaderResponse(true);

    stream.send(first.build()).send(body("12", false)).send(body("34", true));
    ProcessingResponse headers = stream.next();
    ProcessingResponse one = stream.next();
    ProcessingResponse two = stream.next();
    stream.awaitCompleted();

    assertThat(setHeaders(headers)).containsEntry("content-length", "5");
    assertThat(one.getRequestBody().getResponse().getBodyMutation().getBody().toStringUtf8())
        .isEqualTo("ab234");
    assertThat(two.getRequestBody().getResponse().getBodyMutation().getClearBody()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"STREAMED", "NONE"})
  void bodyModesThatComeTooLateAreRefused(String mode) throws Exception {
    Stream stream = harness.decide();

    stream.send(post(BodySendMode.valueOf(mode)));
    ProcessingResponse answer = stream.next();
    stream.awaitCompleted();

    assertThat(immediate(answer).getDetails()).isEqualTo("wp_unsupported_body_mode");
  }

  @Test
  void bodyAboveTheLimitIsRefusedWhenItHasCome() throws Exception {
    Stream stream = harness.decide();

    stream.send(
        post(
            BodySendMode.FULL_DUPLEX_STREAMED,
            "content-length",
            "" + (StreamHarness.MAX_BODY_BYTES + 1)));
    stream.send(body(ByteString.copyFrom(new byte[StreamHarness.MAX_BODY_BYTES]), false));
    stream.send(body("x", true));
    ProcessingResponse answer = stream.next();
    stream.awaitCompleted();

    assertThat(immediate(answer).getStatus().getCodeValue()).isEqualTo(413);
    assertThat(harness.router.undecided).containsExactly("request_too_large");
    assertThat(harness.budget.usedBytes()).isZero();
  }

  @Test
  void budgetTurnsAwayWhatDoesNotFitAndTakesTheNext() throws Exception {
    String fourMegabytes = "" + StreamHarness.MAX_BODY_BYTES;
    Stream holder = harness.decide();
    holder.send(post(BodySendMode.BUFFERED, "content-length", fourMegabytes));
    holder.next();
    Stream refused = harness.decide();

    refused.send(post(BodySendMode.BUFFERED, "content-length", fourMegabytes));
    ProcessingResponse answer = refused.next();

    assertThat(immediate(answer).getStatus().getCodeValue()).isEqualTo(503);
    assertThat(immediate(answer).getDetails()).isEqualTo("wp_buffer_full");
    assertThat(setHeaders(answer)).containsEntry("retry-after", "1");
    assertThat(harness.router.undecided).containsExactly("buffer_full");
    holder.cancel();
    await().untilAsserted(() -> assertThat(harness.budget.usedBytes()).isZero());
    assertThat(harness.router.undecided).containsExactly("buffer_full", "left");
    Stream next = harness.decide();
    next.send(post(BodySendMode.BUFFERED, "content-length", fourMegabytes));
    assertThat(next.next().hasRequestHeaders()).isTrue();
  }

  @Test
  void slowDecisionsAskForMoreTimeFirst() throws Exception {
    Stream stream = harness.decide();

    stream.send(post(BodySendMode.BUFFERED));
    stream.next();
    stream.send(body(ByteString.copyFrom(new byte[2 * 1024 * 1024]), true));
    ProcessingResponse patience = stream.next();
    ProcessingResponse answer = stream.next();
    stream.awaitCompleted();

    assertThat(patience.getOverrideMessageTimeout().getSeconds()).isEqualTo(120);
    assertThat(answer.hasRequestBody()).isTrue();
  }

  @Test
  void deferredDecisionIsAnsweredWhenItComes() throws Exception {
    CompletableFuture<Decision> later = new CompletableFuture<>();
    harness.router.onBody =
        (head, bytes) -> new Decision.Deferred(later, TimeUnit.SECONDS.toNanos(30), () -> {});
    Stream stream = harness.decide();

    stream.send(post(BodySendMode.BUFFERED));
    stream.next();
    stream.send(body("{}", true));
    ProcessingResponse patience = stream.next();
    later.complete(harness.router.routed(harness.router.heads.element()));
    ProcessingResponse answer = stream.next();
    stream.awaitCompleted();

    assertThat(patience.getOverrideMessageTimeout().getSeconds()).isEqualTo(40);
    assertThat(setHeaders(answer)).containsEntry("x-wp-route", "cluster");
  }

  @Test
  void clientThatLeavesADeferredDecisionStopsIt() throws Exception {
    AtomicBoolean stopped = new AtomicBoolean();
    CompletableFuture<Decision> later = new CompletableFuture<>();
    harness.router.onBody =
        (head, bytes) ->
            new Decision.Deferred(later, TimeUnit.SECONDS.toNanos(30), () -> stopped.set(true));
    Stream stream = harness.decide();
    stream.send(post(BodySendMode.BUFFERED));
    stream.next();
    stream.send(body("{}", true));
    stream.next();

    stream.cancel();

    await().untilTrue(stopped);
    later.complete(harness.router.routed(harness.router.heads.element()));
    assertThat(harness.router.onlyRequest().events).containsExactly("ended CLIENT_GONE");
    assertThat(harness.budget.usedBytes()).isZero();
  }

  @Test
  void clientThatLeavesWhileADecisionIsMadeGivesItsLeaseBack() throws Exception {
    CountDownLatch asked = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    harness.router.onBody =
        (head, bytes) -> {
          asked.countDown();
          awaitLatch(go);
          return harness.router.routed(head);
        };
    Stream stream = harness.decide();
    stream.send(post(BodySendMode.BUFFERED));
    stream.next();
    stream.send(body("{}", true));
    awaitLatch(asked);
    Stream barrier = harness.decide();

    stream.cancel();
    // A later stream on the same connection is answered only after the cancel was read.
    barrier.send(post(BodySendMode.BUFFERED));
    barrier.next();
    go.countDown();

    await()
        .untilAsserted(() ->
            assertThat(harness.router.requests.values())
                .anySatisfy(
                    request -> assertThat(request.events).containsExactly("ended CLIENT_GONE")));
    await().untilAsserted(() -> assertThat(harness.budget.usedBytes()).isZero());
  }

  @Test
  void decisionsBeyondTheQueueAreTurnedAway() throws Exception {
    CountDownLatch go = new CountDownLatch(1);
    harness.router.onBody =
        (head, bytes) -> {
          awaitLatch(go);
          return harness.router.routed(head);
        };
    List<Stream> streams = new ArrayList<>();
    for (int i = 0; i < 2 + 16; i++) { // the pool's threads and its queue
      Stream stream = harness.decide();
      stream.send(post(BodySendMode.BUFFERED));
      stream.next();
      stream.send(body("{}", true));
      streams.add(stream);
    }

    Stream tooMany = harness.decide();
    tooMany.send(post(BodySendMode.BUFFERED));
    tooMany.next();
    tooMany.send(body("{}", true));
    ProcessingResponse answer = tooMany.next();

    assertThat(immediate(answer).getDetails()).isEqualTo("wp_gateway_overloaded");
    assertThat(harness.router.undecided).containsExactly("gateway_overloaded");
    go.countDown();
    for (Stream stream : streams) {
      assertThat(stream.next().hasRequestBody()).isTrue();
    }
  }

  @Test
  void clientOfAnotherDataPlaneNamesNoEndpointWhereTheDecisionNamesNone() throws Exception {
    harness.router.onBody =
        (head, bytes) ->
            new Decision.Routed(
                harness.router.start(head.decisionId()),
                List.of(),
                List.of("provider/default/x"),
                List.of(),
                false,
                new Decision.ModelNames(Map.of(), 9, 15));
    Stream stream = harness.foreign();

    stream.send(post(BodySendMode.FULL_DUPLEX_STREAMED)).send(body("{}", true));
    ProcessingResponse headers = stream.next();

    assertThat(headers.getRequestHeaders().getResponse().getHeaderMutation().getRemoveHeadersList())
        .contains("x-gateway-destination-endpoint");
  }

  @Test
  void anotherDataPlaneSendsTheResponseThroughTheSameStream() throws Exception {
    Stream stream = harness.foreign();
    stream.send(post(BodySendMode.FULL_DUPLEX_STREAMED)).send(body("{}", true));
    ProcessingResponse headers = stream.next();
    stream.next();

    stream.send(responseHeaders(null, "10.0.0.2:8000", "200", "text/event-stream"));
    ProcessingResponse responseHeaders = stream.next();
    stream.send(responseBody("data: {\"choices\":[]}\n\n", false));
    ProcessingResponse token = stream.next();
    stream.send(responseBody("data: [DONE]\n\n", true));
    ProcessingResponse last = stream.next();
    stream.awaitCompleted();

    assertThat(setHeaders(headers))
        .containsEntry("x-gateway-destination-endpoint", "10.0.0.1:8000,10.0.0.2:8000");
    assertThat(responseHeaders.hasResponseHeaders()).isTrue();
    assertThat(
            token
                .getResponseBody()
                .getResponse()
                .getBodyMutation()
                .getStreamedResponse()
                .getBody()
                .toStringUtf8())
        .startsWith("data: {");
    assertThat(
            last.getResponseBody()
                .getResponse()
                .getBodyMutation()
                .getStreamedResponse()
                .getEndOfStream())
        .isTrue();
    assertThat(harness.router.onlyRequest().events)
        .containsExactly("attempted 10.0.0.2:8000 2", "first token", "ended COMPLETED");
  }

  @Test
  void anotherDataPlaneWithoutResponsePhaseEndsTheRequestWithItsStream() throws Exception {
    Stream stream = harness.foreign();
    stream.send(post(BodySendMode.BUFFERED));
    stream.next();
    stream.send(body("{}", true));
    stream.next();

    stream.cancel();

    await()
        .untilAsserted(() ->
            assertThat(harness.router.onlyRequest().events).containsExactly("ended COMPLETED"));
  }

  private static io.envoyproxy.envoy.service.ext_proc.v3.StreamedBodyResponse streamed(
      ProcessingResponse answer) {
    return answer.getRequestBody().getResponse().getBodyMutation().getStreamedResponse();
  }

  private static void awaitLatch(CountDownLatch latch) {
    try {
      if (!latch.await(20, TimeUnit.SECONDS)) {
        throw new AssertionError("waited too long");
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
