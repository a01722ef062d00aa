package dev.warmpath.envoy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.InputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A real Envoy taken out of service, as a pod's preStop hook does it. */
final class DrainIT {
  private static final String CHAT = "/v1/chat/completions";

  @TempDir Path directory;

  private final CountDownLatch last = new CountDownLatch(1);
  private Gateway gateway;

  @BeforeEach
  void start() throws Exception {
    gateway = new Gateway(directory);
  }

  @AfterEach
  void stop() throws Exception {
    last.countDown();
    gateway.close();
  }

  @Test
  void drainTurnsAwayNobodyAndWaitsForTheLastStream() throws Exception {
    InputStream running = openStream();

    CompletableFuture<Long> drain = drain(Duration.ofSeconds(2), Duration.ofSeconds(60));

    await().until(() -> gateway.get("/health", Map.of()).statusCode() == 503);
    gateway.pool.script((request, writer) -> writer.json(200, "{}"));
    HttpResponse<byte[]> late = gateway.post(CHAT, "{}");
    assertThat(late.statusCode()).as("before the listeners close").isEqualTo(200);
    assertThat(late.headers().firstValue("connection")).hasValue("close");
    await().untilAsserted(this::assertConnectionsAreRefused);
    assertThat(drain).isNotDone();

    last.countDown();

    assertThat(new String(running.readAllBytes(), StandardCharsets.UTF_8))
        .isEqualTo("data: [DONE]\n\n");
    assertThat(drain.get(30, TimeUnit.SECONDS)).isZero();
    assertThat(gateway.envoy.isAlive()).as("Envoy is ended by whoever runs it").isTrue();
  }

  @Test
  void limitEndsTheWaitAndTellsHowManyRequestsAreLeft() throws Exception {
    InputStream running = openStream();

    assertThat(drain(Duration.ZERO, Duration.ofMillis(200)).get(30, TimeUnit.SECONDS)).isEqualTo(1);

    last.countDown();
    running.readAllBytes();
  }

  @Test
  void statsPortAnswersStatisticsAndNothingElse(@TempDir Path other) throws Exception {
    int port = freePort();
    try (Gateway shown =
            new Gateway(other, options -> options.withStats(new Address.Tcp("127.0.0.1", port)));
        HttpClient client = HttpClient.newHttpClient()) {
      assertThat(shown.envoy.isAlive()).isTrue();
      assertThat(get(client, port, "/stats/prometheus"))
          .satisfies(answer -> assertThat(answer.statusCode()).isEqualTo(200))
          .satisfies(answer -> assertThat(answer.body()).contains("envoy_http_downstream_rq_"));
      for (String path : new String[] {"/", "/config_dump", "/quitquitquit", "/stats", "/ready"}) {
        assertThat(get(client, port, path).statusCode()).as(path).isEqualTo(404);
      }
    }
  }

  private InputStream openStream() throws Exception {
    gateway.pool.script((request, writer) -> {
      writer.stream("");
      writer.chunk("data: 1\n\n");
      last.await(60, TimeUnit.SECONDS);
      writer.chunk("data: [DONE]\n\n");
      writer.end();
    });
    InputStream body =
        gateway
            .client()
            .send(
                gateway.request(CHAT).POST(HttpRequest.BodyPublishers.ofString("{}")).build(),
                HttpResponse.BodyHandlers.ofInputStream())
            .body();
    assertThat(new String(body.readNBytes(9), StandardCharsets.UTF_8)).isEqualTo("data: 1\n\n");
    return body;
  }

  private CompletableFuture<Long> drain(Duration settle, Duration limit) {
    CompletableFuture<Long> result = new CompletableFuture<>();
    Thread.ofVirtual()
        .start(() -> {
          try {
            result.complete(new EnvoyDrain(gateway.envoy.admin()).run(settle, limit));
          } catch (Exception e) {
            result.completeExceptionally(e);
          }
        });
    return result;
  }

  private void assertConnectionsAreRefused() {
    assertThatThrownBy(() -> new Socket(InetAddress.getLoopbackAddress(), gateway.port).close())
        .isInstanceOf(ConnectException.class);
  }

  private static HttpResponse<String> get(HttpClient client, int port, String path)
      throws Exception {
    return client.send(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private static int freePort() throws Exception {
    try (java.net.ServerSocket probe = new java.net.ServerSocket(0)) {
      return probe.getLocalPort();
    }
  }
}
