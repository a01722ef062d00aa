package dev.warmpath.envoy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.warmpath.crds.config.GatewayNames;
import io.envoyproxy.envoy.data.accesslog.v3.HTTPAccessLogEntry;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The rendered bootstrap in a real Envoy, from a client's and a worker's point of view. */
final class GatewayIT {
  private static final String CHAT = "/v1/chat/completions";
  private static final String MESSAGES = "/v1/messages?beta=true";

  @TempDir Path directory;
  private Gateway gateway;

  @BeforeEach
  void start() throws Exception {
    gateway = new Gateway(directory, options -> options.withDecideTimeout(Duration.ofSeconds(60)));
  }

  @AfterEach
  void stop() throws Exception {
    gateway.close();
  }

  private static String text(HttpResponse<byte[]> response) {
    return new String(response.body(), StandardCharsets.UTF_8);
  }

  private static String header(HttpResponse<?> response, String name) {
    assertThat(response.headers().allValues(name)).as(name).hasSizeLessThan(2);
    return response.headers().firstValue(name).orElse("");
  }

  @Test
  void decidedRequestReachesTheClusterWithoutCredentialsOrInternalHeaders() throws Exception {
    HttpResponse<byte[]> response =
        gateway.post(
            CHAT,
            "{\"model\":\"m\"}".getBytes(StandardCharsets.UTF_8),
            Map.of(
                "authorization", "Bearer secret-1",
                "x-api-key", "secret-2",
                "cookie", "secret-3",
                "accept-encoding", "gzip",
                "x-stainless-lang", "python"));

    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(header(response, "server")).isEqualTo("warmpath");
    assertThat(header(response, GatewayNames.DECISION_HEADER)).isEqualTo("d1");
    assertThat(header(response, "x-request-id")).isNotEmpty();
    assertThat(response.headers().firstValue("request-id")).isEmpty();
    assertThat(response.headers().map().keySet()).noneMatch(name -> name.startsWith("x-envoy-"));
    FakeProcessor.Seen seen = gateway.processor().seen().getFirst();
    assertThat(seen.headers())
        .containsEntry("authorization", "Bearer secret-1")
        .containsEntry("x-api-key", "secret-2")
        .doesNotContainKey("cookie");
    Map<String, String> upstream = gateway.pool.received().getFirst().headers();
    assertThat(upstream)
        .containsEntry("x-stainless-lang", "python")
        .doesNotContainKeys(
            "authorization",
            "x-api-key",
            "cookie",
            "accept-encoding",
            GatewayNames.CLUSTER_HEADER,
            GatewayNames.ROUTE_HEADER);
    assertThat(upstream.values()).noneMatch(value -> value.contains("secret-"));
  }

  @Test
  void anthropicClientsGetTheirRequestIdHeader() throws Exception {
    HttpResponse<byte[]> response = gateway.post(MESSAGES, "{}");
    assertThat(header(response, "request-id"))
        .isNotEmpty()
        .isEqualTo(header(response, "x-request-id"));
  }

  @Test
  void clientCannotSteer() throws Exception {
    gateway.processor().decision(request -> FakeProcessor.Answer.cluster("no/such/cluster"));
    Map<String, String> forged =
        Map.of(
            "x-wp-cluster", Gateway.PROVIDER,
            "x-wp-route", "cluster",
            "x-wp-anything", "1",
            "x-warmpath-decision", "forged",
            "x-gateway-destination-endpoint", "127.0.0.1:1",
            "x-envoy-upstream-rq-timeout-ms", "1",
            "x-envoy-original-path", "/metrics");
    HttpResponse<byte[]> refused =
        gateway.post(CHAT, "{}".getBytes(StandardCharsets.UTF_8), forged);
    assertThat(refused.statusCode()).isEqualTo(503);
    assertThat(text(refused)).contains("\"code\":\"upstream_unavailable\"");
    assertThat(gateway.provider.received()).isEmpty();

    gateway.processor().decision(request -> FakeProcessor.Answer.cluster(Gateway.POOL));
    HttpResponse<byte[]> served = gateway.post(CHAT, "{}".getBytes(StandardCharsets.UTF_8), forged);
    assertThat(served.statusCode()).isEqualTo(200);
    assertThat(header(served, GatewayNames.DECISION_HEADER)).isEqualTo("d2");
    for (Map<String, String> headers :
        List.of(
            gateway.processor().seen().getLast().headers(),
            gateway.pool.received().getLast().headers())) {
      assertThat(headers.keySet())
          .noneMatch(name ->
              name.startsWith("x-wp-")
                  || name.startsWith("x-gateway-")
                  || name.startsWith("x-warmpath-"))
          .noneMatch(name -> name.startsWith("x-envoy-") && forged.containsKey(name));
    }
  }

  @Test
  void bodiesUpToTheLimitPassAndOneByteMoreIsRefusedInTheDialect() throws Exception {
    byte[] full = new byte[(int) gateway.options.bodyLimitBytes()];
    for (int size : new int[] {0, 2_000, 1 << 20, 20 << 20, full.length}) {
      HttpResponse<byte[]> response =
          gateway.post(CHAT, java.util.Arrays.copyOf(full, size), Map.of());
      assertThat(response.statusCode()).as("%d bytes", size).isEqualTo(200);
      assertThat(gateway.pool.received().getLast().body()).hasSize(size);
    }
    byte[] over = new byte[full.length + 1];
    HttpResponse<byte[]> openai = gateway.post(CHAT, over, Map.of());
    assertThat(openai.statusCode()).isEqualTo(413);
    assertThat(text(openai))
        .startsWith("{\"error\":{\"message\":\"")
        .contains("\"code\":\"request_too_large\"", "67108864");
    assertThat(header(openai, "x-should-retry")).isEqualTo("false");
    HttpResponse<byte[]> anthropic = gateway.post(MESSAGES, over, Map.of());
    assertThat(anthropic.statusCode()).isEqualTo(413);
    assertThat(text(anthropic))
        .startsWith("{\"type\":\"error\",\"error\":{\"type\":\"request_too_large\"")
        .contains("\"request_id\":\"" + header(anthropic, "request-id") + "\"");
  }

  @Test
  void processorsOwnRepliesPassUntouched() throws Exception {
    gateway
        .processor()
        .decision(request ->
            FakeProcessor.Answer.reply(
                429, GatewayNames.REPLY_DETAILS_PREFIX + "full", "{\"mine\":1}"));
    HttpResponse<byte[]> response = gateway.post(CHAT, "{}");
    assertThat(response.statusCode()).isEqualTo(429);
    assertThat(text(response)).isEqualTo("{\"mine\":1}");
    assertThat(header(response, "content-type")).isEqualTo("application/json");
    assertThat(header(response, "retry-after")).isEqualTo("3");
    assertThat(header(response, "allow")).isEqualTo("POST");
    assertThat(header(response, "accept-encoding")).isEqualTo("identity");
    assertThat(header(response, "x-should-retry")).isEqualTo("false");
    assertThat(header(response, GatewayNames.DECISION_HEADER)).isEqualTo("d1");
    assertThat(header(response, "x-request-id")).isNotEmpty();
  }

  @Test
  void processorDeathIs503AtOnceAndRunningStreamsGoOn() throws Exception {
    CountDownLatch dead = new CountDownLatch(1);
    gateway.pool.script((request, writer) -> {
      writer.stream("");
      writer.chunk("data: 1\n\n");
      dead.await(30, TimeUnit.SECONDS);
      writer.chunk("data: [DONE]\n\n");
      writer.end();
    });
    HttpResponse<InputStream> running =
        gateway
            .client()
            .send(
                gateway.request(CHAT).POST(HttpRequest.BodyPublishers.ofString("{}")).build(),
                HttpResponse.BodyHandlers.ofInputStream());
    assertThat(running.body().readNBytes(9))
        .isEqualTo("data: 1\n\n".getBytes(StandardCharsets.UTF_8));

    gateway.killProcessor();

    HttpResponse<byte[]> openai = gateway.post(CHAT, "{}");
    assertThat(openai.statusCode()).isEqualTo(503);
    assertThat(text(openai)).contains("\"code\":\"processor_unavailable\"");
    assertThat(header(openai, "retry-after")).isEqualTo("1");
    HttpResponse<byte[]> anthropic = gateway.post(MESSAGES, "{}");
    assertThat(anthropic.statusCode()).isEqualTo(503);
    assertThat(text(anthropic)).startsWith("{\"type\":\"error\",\"error\":{\"type\":\"api_error\"");
    await().untilAsserted(() -> assertThat(health()).isEqualTo(503));
    dead.countDown();
    assertThat(new String(running.body().readAllBytes(), StandardCharsets.UTF_8))
        .isEqualTo("data: [DONE]\n\n");

    gateway.restartProcessor();
    gateway.pool.script((request, writer) -> writer.json(200, "{}"));
    await().untilAsserted(() -> assertThat(gateway.post(CHAT, "{}").statusCode()).isEqualTo(200));
    await().untilAsserted(() -> assertThat(health()).isEqualTo(200));
  }

  @Test
  void healthFollowsTheProcessorAndRequestsReachItAllTheSame() throws Exception {
    await().untilAsserted(() -> assertThat(health()).isEqualTo(200));

    gateway.processor().ready(false);

    await().untilAsserted(() -> assertThat(health()).isEqualTo(503));
    assertThat(gateway.post(CHAT, "{}").statusCode()).isEqualTo(200);

    gateway.processor().ready(true);

    await().untilAsserted(() -> assertThat(health()).isEqualTo(200));
  }

  private int health() throws Exception {
    return gateway.get("/health", Map.of()).statusCode();
  }

  @Test
  void silentProcessorIs504(@TempDir Path other) throws Exception {
    try (Gateway hasty =
        new Gateway(other, options -> options.withDecideTimeout(Duration.ofMillis(300)))) {
      hasty.processor().decision(request -> FakeProcessor.Answer.never());
      HttpResponse<byte[]> response = hasty.post(CHAT, "{}");
      assertThat(response.statusCode()).isEqualTo(504);
      assertThat(text(response)).contains("\"code\":\"decision_timeout\"");
      assertThat(header(response, "retry-after")).isEqualTo("2");
    }
  }

  @Test
  void planFallsOverToTheNextCluster() throws Exception {
    gateway
        .processor()
        .decision(request -> FakeProcessor.Answer.plan(Gateway.POOL, Gateway.PROVIDER));
    gateway.pool.script((request, writer) -> writer.json(503, "{}"));
    gateway.provider.script((request, writer) -> writer.json(200, "{\"from\":\"provider\"}"));
    HttpResponse<byte[]> response = gateway.post(CHAT, "{\"a\":1}");
    assertThat(text(response)).isEqualTo("{\"from\":\"provider\"}");
    assertThat(gateway.provider.received().getFirst().body()).asString().isEqualTo("{\"a\":1}");
    HTTPAccessLogEntry entry = gateway.logged("d1");
    assertThat(Gateway.tags(entry))
        .containsEntry(GatewayNames.TAG_ATTEMPTS, "2")
        .containsEntry(GatewayNames.TAG_UPSTREAM_CLUSTER, Gateway.PROVIDER)
        .containsEntry(GatewayNames.TAG_UPSTREAM_HOST, "127.0.0.1:" + gateway.provider.port());
  }

  @Test
  void workerThatResetsBeforeAnsweringIsTriedAgain() throws Exception {
    AtomicInteger attempts = new AtomicInteger();
    gateway.pool.script((request, writer) -> {
      if (attempts.incrementAndGet() == 1) {
        writer.reset();
      } else {
        writer.json(200, "{\"second\":true}");
      }
    });
    assertThat(text(gateway.post(CHAT, "{}"))).isEqualTo("{\"second\":true}");
  }

  @Test
  void upstreamErrorsReachTheClientAsTheyAre() throws Exception {
    gateway.pool.script((request, writer) -> writer.json(400, "{\"error\":{\"code\":400}}"));
    HttpResponse<byte[]> response = gateway.post(CHAT, "{}");
    assertThat(response.statusCode()).isEqualTo(400);
    assertThat(text(response)).isEqualTo("{\"error\":{\"code\":400}}");
  }

  @Test
  void watchShowsHeadAndFirstBytesOfTheAnswer() throws Exception {
    gateway.pool.script((request, writer) -> {
      writer.stream("");
      writer.chunk("data: 1\n\n");
      writer.end();
    });
    gateway.post(CHAT, "{}");
    await().untilAsserted(() -> assertThat(gateway.processor().watched()).hasSizeGreaterThan(1));
    ProcessingRequest head = gateway.processor().watched().getFirst();
    assertThat(head.hasResponseHeaders()).isTrue();
    assertThat(head.getObservabilityMode()).isTrue();
    assertThat(
            head.getMetadataContext()
                .getFilterMetadataOrThrow(GatewayNames.METADATA_NAMESPACE)
                .getFieldsOrThrow(GatewayNames.DECISION_KEY)
                .getStringValue())
        .isEqualTo("d1");
    assertThat(head.getAttributesMap().values().iterator().next().getFieldsMap())
        .containsKeys(
            GatewayNames.ATTRIBUTE_UPSTREAM_ADDRESS,
            GatewayNames.ATTRIBUTE_ATTEMPT_COUNT,
            GatewayNames.ATTRIBUTE_RESPONSE_CODE);
    assertThat(gateway.processor().watched().get(1).getResponseBody().getBody().toStringUtf8())
        .isEqualTo("data: 1\n\n");
    assertThat(Gateway.tags(gateway.logged("d1")))
        .containsKeys(
            GatewayNames.TAG_FIRST_BODY_MICROS,
            GatewayNames.TAG_DECIDED_MICROS,
            GatewayNames.TAG_TOTAL_MICROS,
            GatewayNames.TAG_UPLOAD_MICROS)
        .containsEntry(GatewayNames.TAG_CONTENT_TYPE, "text/event-stream");
  }

  @Test
  void escapedSlashesReachTheProcessorAsTheyCame() throws Exception {
    gateway.processor().decision(request -> FakeProcessor.Answer.reply(200, "wp_model", "{}"));
    assertThat(gateway.get("/v1/models/org%2Fname", Map.of()).statusCode()).isEqualTo(200);
    assertThat(gateway.processor().seen().getFirst().headers())
        .containsEntry(":path", "/v1/models/org%2Fname");
  }

  @Test
  void everyPathIsDecided() throws Exception {
    gateway.processor().decision(request -> FakeProcessor.Answer.reply(404, "wp_path", "{}"));
    for (String path : List.of("/", "/metrics", "/v1", "/healthz", "/health/x", "/v1/../metrics")) {
      assertThat(gateway.get(path, Map.of()).statusCode()).as(path).isEqualTo(404);
    }
    assertThat(gateway.pool.received()).isEmpty();
  }

  @Test
  void stopLetsRequestsInFlightEndAndLeavesNothingBehind() throws Exception {
    CountDownLatch draining = new CountDownLatch(1);
    gateway.pool.script((request, writer) -> {
      writer.stream("");
      writer.chunk("data: 1\n\n");
      draining.await(30, TimeUnit.SECONDS);
      writer.chunk("data: [DONE]\n\n");
      writer.end();
    });
    HttpResponse<InputStream> running =
        gateway
            .client()
            .send(
                gateway.request(CHAT).POST(HttpRequest.BodyPublishers.ofString("{}")).build(),
                HttpResponse.BodyHandlers.ofInputStream());
    running.body().readNBytes(9);
    long pid = gateway.envoy.pid();
    Thread stopper =
        Thread.ofVirtual()
            .start(() -> {
              try {
                gateway.envoy.stop(Duration.ofSeconds(20));
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            });
    await()
        .untilAsserted(() ->
            assertThatThrownBy(
                    () -> new Socket(InetAddress.getLoopbackAddress(), gateway.port).close())
                .isInstanceOf(ConnectException.class));
    draining.countDown();
    assertThat(new String(running.body().readAllBytes(), StandardCharsets.UTF_8))
        .isEqualTo("data: [DONE]\n\n");
    stopper.join();
    assertThat(ProcessHandle.of(pid).filter(ProcessHandle::isAlive)).isEmpty();
    assertThat(Files.exists(directory.resolve(BootstrapOptions.ADMIN_SOCKET))).isFalse();
  }
}
