package dev.warmpath.e2e;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.e2e.support.ConfigFolder;
import dev.warmpath.e2e.support.Header;
import dev.warmpath.e2e.support.ScriptedWorker;
import dev.warmpath.e2e.support.Scripts;
import dev.warmpath.e2e.support.Stack;
import dev.warmpath.e2e.support.WireClient;
import dev.warmpath.e2e.support.WireResponse;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Headers that only the gateway may set have no effect when a client sends them, and go no further.
 */
class SpoofingE2E {

  private static final String BODY =
      "{\"model\":\"small\",\"max_tokens\":4,\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}";

  private static ScriptedWorker small;
  private static ScriptedWorker large;
  private static Stack stack;
  private static InetSocketAddress gateway;

  @BeforeAll
  static void start(@TempDir Path folder) throws IOException {
    small = ScriptedWorker.start("small", Scripts.vllm());
    large = ScriptedWorker.start("large", Scripts.vllm());
    stack =
        Stack.run(
            folder,
            new ConfigFolder(folder.resolve("config"))
                .workerSet("small", List.of(new ConfigFolder.Worker("s0", small.port())))
                .workerSet("large", List.of(new ConfigFolder.Worker("l0", large.port())))
                .pool("small", "small", "small")
                .pool("large", "large", "large")
                .poolBackend("small", "small", "small")
                .poolBackend("large", "large", "large"));
    gateway = stack.gateway();
  }

  @AfterAll
  static void stop() throws IOException {
    stack.close();
    small.close();
    large.close();
  }

  @AfterEach
  void forget() {
    small.forget();
    large.forget();
  }

  private static String resolved(String header) {
    return header.replace("LARGE", "127.0.0.1:" + large.port());
  }

  @ParameterizedTest(name = "{0}")
  @ValueSource(
      strings = {
        "x-wp-cluster: pool/default/large",
        "X-WP-Cluster: pool/default/large",
        "x-wp-route: plan",
        "x-wp-route: cluster",
        "x-wp-role: decide",
        "x-wp-anything: 1",
        "x-gateway-destination-endpoint: LARGE",
        "x-gateway-destination-endpoint-served: LARGE",
        "x-gateway-model-name: large",
        "x-envoy-upstream-rq-timeout-ms: 1",
        "x-envoy-upstream-rq-per-try-timeout-ms: 1",
        "x-envoy-expected-rq-timeout-ms: 1",
        "x-envoy-max-retries: 100",
        "x-envoy-retry-on: 5xx,retriable-4xx,reset",
        "x-envoy-retry-grpc-on: cancelled",
        "x-envoy-retriable-status-codes: 200",
        "x-envoy-retriable-header-names: content-type",
        "x-envoy-hedge-on-per-try-timeout: true",
        "x-envoy-original-dst-host: LARGE",
        "x-envoy-original-path: /metrics",
        "x-envoy-original-method: DELETE",
        "x-envoy-internal: true",
        "x-envoy-force-trace: true",
        "x-envoy-decorator-operation: x",
        "x-envoy-ip-tags: x",
        "x-envoy-upstream-alt-stat-name: x",
        "x-envoy-attempt-count: 9",
        "x-envoy-external-address: 10.0.0.1",
        "x-envoy-peer-metadata: x"
      })
  void an_internal_header_of_a_client_does_nothing(String line) throws IOException {
    String[] parts = resolved(line).split(": ", 2);

    WireResponse response =
        WireClient.post(
            gateway,
            "/v1/chat/completions",
            BODY.getBytes(UTF_8),
            List.of(new Header(parts[0], parts[1])));

    assertThat(response.status()).as(response.toString()).isEqualTo(200);
    assertThat(response.text()).isEqualTo(Scripts.CHAT.body());
    assertThat(large.received()).as("the other pool").isEmpty();
    assertThat(small.received()).hasSize(1);
    assertThat(small.last().head().names())
        .as("headers at the worker")
        .doesNotContain(parts[0].toLowerCase(Locale.ROOT));
  }

  @Test
  void no_internal_header_reaches_a_worker_or_a_client() throws IOException {
    WireResponse response =
        WireClient.post(
            gateway,
            "/v1/chat/completions",
            BODY.getBytes(UTF_8),
            List.of(
                new Header("authorization", "Bearer sk-secret-of-the-client"),
                new Header("x-api-key", "sk-secret-of-the-client"),
                new Header("cookie", "session=secret-of-the-client"),
                new Header(
                    "traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")));

    assertThat(response.status()).as(response.toString()).isEqualTo(200);
    assertThat(small.last().head().names())
        .noneMatch(name ->
            name.startsWith("x-wp-")
                || name.startsWith("x-gateway-")
                || name.startsWith("x-envoy-"));
    assertThat(small.last().head().headers().toString())
        .as("headers at the worker")
        .doesNotContain("secret-of-the-client");
    assertThat(response.head().names())
        .noneMatch(name ->
            name.startsWith("x-wp-")
                || name.startsWith("x-gateway-")
                || name.startsWith("x-envoy-"));
    assertThat(stack.log()).doesNotContain("secret-of-the-client");
  }

  @ParameterizedTest
  @ValueSource(strings = {"/v1/models", "/metrics", "/", "/v1/load_lora_adapter"})
  void an_undecided_request_cannot_choose_a_cluster(String path) throws IOException {
    WireClient.get(
        gateway,
        path,
        new Header("x-wp-cluster", "pool/default/large"),
        new Header("x-wp-route", "cluster"),
        new Header("x-gateway-destination-endpoint", "127.0.0.1:" + large.port()));

    assertThat(large.received()).isEmpty();
    assertThat(small.received()).isEmpty();
  }

  @Test
  void a_decision_id_of_a_client_is_not_taken_over() throws IOException {
    WireResponse response =
        WireClient.post(
            gateway,
            "/v1/chat/completions",
            BODY.getBytes(UTF_8),
            List.of(new Header("x-warmpath-decision", "chosenbytheclient")));

    assertThat(response.header("x-warmpath-decision"))
        .isNotBlank()
        .isNotEqualTo("chosenbytheclient");
  }

  @Test
  void a_trailer_of_a_client_is_no_header() throws IOException {
    try (WireClient client = WireClient.connect(gateway)) {
      client.writeChunkedHead("/v1/chat/completions", new Header("trailer", "x-wp-cluster"));
      client.write(Integer.toHexString(BODY.length()) + "\r\n" + BODY + "\r\n0\r\n");
      client.write("x-wp-cluster: pool/default/large\r\n\r\n");

      assertThat(client.readResponse().status()).isIn(200, 400);
    }
    assertThat(large.received()).isEmpty();
  }
}
