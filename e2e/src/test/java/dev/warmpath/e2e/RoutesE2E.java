package dev.warmpath.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.warmpath.e2e.support.ConfigFolder;
import dev.warmpath.e2e.support.Header;
import dev.warmpath.e2e.support.ScriptedWorker;
import dev.warmpath.e2e.support.Scripts;
import dev.warmpath.e2e.support.SlowStream;
import dev.warmpath.e2e.support.Stack;
import dev.warmpath.e2e.support.StreamLoad;
import dev.warmpath.e2e.support.WireClient;
import dev.warmpath.e2e.support.WireResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Hosts and path prefixes of the operator's, through a real Envoy. */
class RoutesE2E {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private static ScriptedWorker small;
  private static ScriptedWorker large;
  private static ConfigFolder config;
  private static Stack stack;

  @BeforeAll
  static void start(@TempDir Path folder) throws IOException {
    small = ScriptedWorker.start("small", Scripts.vllm());
    large = ScriptedWorker.start("large", Scripts.vllm());
    config = new ConfigFolder(folder.resolve("config"));
    served("small", small);
    served("large", large);
    backend("small", "[{pathPrefix: /team-a, defaultModel: small, labels: {team: a}}]");
    backend("large", "[{hosts: [big.example], defaultModel: large}]");
    config.write(
        "policy.yaml",
        """
        apiVersion: inference.warmpath.dev/v1alpha1
        kind: InferencePolicy
        metadata: {name: team-b-waits}
        spec:
          match: {labels: [{key: team, in: [b]}]}
          constraints:
          - {name: not-yet, when: "true", exclude: "true", message: team b has to wait}
          onNoCandidate: {action: Reject, status: 503}
        """);
    stack = Stack.run(folder, config);
  }

  @AfterAll
  static void stop() throws IOException {
    stack.close();
    small.close();
    large.close();
  }

  private static void served(String name, ScriptedWorker worker) throws IOException {
    config.workerSet(name, List.of(new ConfigFolder.Worker("w", worker.port())));
    config.pool(name, name, name);
  }

  private static void backend(String name, String routes) throws IOException {
    config.write(
        "backend-" + name + ".yaml",
        """
        apiVersion: inference.warmpath.dev/v1alpha1
        kind: GatewayBackend
        metadata: {name: %1$s}
        spec: {models: [%1$s], pool: {name: %1$s}, routes: %2$s}
        """
            .formatted(name, routes));
  }

  private static WireResponse ask(String host, String path, String body) throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    try (WireClient client = WireClient.connect(stack.gateway())) {
      client.writePost(path, bytes, new Header("host", host));
      return client.readResponse();
    }
  }

  private static String chat(String model) {
    return "{%s\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}"
        .formatted(model.isEmpty() ? "" : "\"model\":\"" + model + "\",");
  }

  @Test
  void a_prefix_is_removed_and_a_missing_model_is_filled_in() throws Exception {
    small.forget();
    WireResponse answer = ask("any.example", "/team-a/v1/chat/completions?x=1", chat(""));

    assertThat(answer.status()).as("%s", answer).isEqualTo(200);
    assertThat(small.last().target()).isEqualTo("/v1/chat/completions?x=1");
    assertThat(small.last().text())
        .isEqualTo("{\"model\":\"small\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}");

    WireResponse nothing =
        ask(
            "any.example",
            "/team-a/v1/chat/completions",
            chat("").replace("{\"mess", "{\"model\": null,\"mess"));
    assertThat(nothing.status()).as("%s", nothing).isEqualTo(200);
    assertThat(small.last().text()).startsWith("{\"model\": \"small\",\"messages\"");

    String stream = chat("").replace("{\"mess", "{\"stream\":true,\"mess");
    WireResponse streamed = ask("any.example", "/team-a/v1/chat/completions", stream);
    assertThat(streamed.status()).as("%s", streamed).isEqualTo(200);
    assertThat(small.last().text())
        .startsWith(
            "{\"model\":\"small\",\"stream_options\":{\"include_usage\":true},\"stream\":true");
  }

  @Test
  void a_route_leads_to_the_models_of_its_backend_alone() throws Exception {
    WireResponse other = ask("any.example", "/team-a/v1/chat/completions", chat("large"));
    assertThat(other.status()).isEqualTo(404);
    assertThat(other.text()).contains("model_not_found");

    large.forget();
    assertThat(ask("big.example", "/v1/chat/completions", chat("")).status()).isEqualTo(200);
    assertThat(large.received()).isNotEmpty();
    assertThat(ask("big.example:8080", "/v1/chat/completions", chat("small")).status())
        .isEqualTo(404);
    assertThat(ask("any.example", "/v1/chat/completions", chat("")).status())
        .as("the API's own path has no default")
        .isEqualTo(400);
    WireResponse models = WireClient.get(stack.gateway(), "/team-a/v1/models");
    assertThat(models.text()).contains("small").doesNotContain("large");
    assertThat(ask("any.example", "/team-b/v1/chat/completions", chat("small")).status())
        .isEqualTo(404);
  }

  @Test
  void labels_of_a_route_reach_policies_and_a_bad_route_changes_nothing_else() throws Exception {
    assertThat(ask("any.example", "/team-a/v1/chat/completions", chat("small")).status())
        .isEqualTo(200);
    small.script(new SlowStream(5, Duration.ofMillis(50)));
    try (StreamLoad load = StreamLoad.start(stack.gateway(), 20, RoutesE2E::stream)) {
      backend("small", "[{pathPrefix: /team-b, labels: {team: b}}, {pathPrefix: /team-c}]");
      await("the route has changed")
          .atMost(PATIENCE)
          .until(() -> ask("x", "/team-c/v1/chat/completions", chat("small")).status() == 200);
      assertThat(ask("x", "/team-a/v1/chat/completions", chat("small")).status()).isEqualTo(404);
      WireResponse held = ask("x", "/team-b/v1/chat/completions", chat("small"));
      assertThat(held.status()).isEqualTo(503);
      assertThat(held.text()).contains("team b has to wait");

      // The incumbent keeps its route, though the new backend's name comes before it.
      config.write(
          "backend-a.yaml",
          """
          apiVersion: inference.warmpath.dev/v1alpha1
          kind: GatewayBackend
          metadata: {name: a}
          spec: {models: [mine], pool: {name: large}, routes: [{pathPrefix: /team-c/}]}
          """);
      await("it is refused on its own resource")
          .atMost(PATIENCE)
          .until(() -> stack.log().contains("already leads to GatewayBackend default/small"));
      assertThat(ask("x", "/team-c/v1/chat/completions", chat("small")).status()).isEqualTo(200);
      assertThat(ask("x", "/v1/chat/completions", chat("mine")).status()).isEqualTo(404);
      config.delete("backend-a.yaml");
      int completed = load.completed();
      await().atMost(PATIENCE).until(() -> load.completed() > completed + 20);
      assertThat(load.finish().failures()).isEmpty();
    } finally {
      small.script(Scripts.vllm());
      backend("small", "[{pathPrefix: /team-a, defaultModel: small, labels: {team: a}}]");
      await("as it was")
          .atMost(PATIENCE)
          .until(() -> ask("x", "/team-a/v1/chat/completions", chat("small")).status() == 200);
    }
  }

  private static String stream(int number) {
    return """
    {"model":"small","stream":true,"messages":[{"role":"user","content":"stream %d"}]}\
    """
        .formatted(number);
  }
}
