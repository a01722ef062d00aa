package dev.warmpath.e2e;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.warmpath.e2e.support.ConfigFolder;
import dev.warmpath.e2e.support.ScriptedWorker;
import dev.warmpath.e2e.support.Scripts;
import dev.warmpath.e2e.support.Stack;
import dev.warmpath.e2e.support.WireClient;
import dev.warmpath.e2e.support.WireResponse;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

/**
 * "How policies combine", rules 4 to 6, as a table: one policy and one model for each row, and the
 * whole body that a client of either dialect gets. Every failure narrows.
 */
class FailClosedE2E {

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /**
   * One row.
   *
   * @param model is also the policy's name
   * @param policy what stands below {@code spec}
   * @param retryAfter the header, null for none
   * @param message of a refusal; null where the request is served
   */
  record Row(
      String model,
      String policy,
      int status,
      @Nullable String retryAfter,
      String code,
      @Nullable String message) {
    @Override
    public String toString() {
      return model;
    }
  }

  private static final String LOCAL = "route: {tiers: [{backends: {names: [local]}%s}]}";

  static List<Row> rows() {
    return List.of(
        // 4. Nothing left: the deciding policy's answer, naming policy and constraint.
        new Row(
            "constraint",
            "constraints: [{name: c, when: 'true', exclude: 'true', message: not here}]",
            503,
            "5",
            "policy_excluded",
            "No candidate for model 'constraint' under policy 'constraint': not here (policy 'constraint', constraint 'c')."),
        new Row(
            "own-answer",
            "constraints: [{name: c, when: 'true', exclude: 'true', message: later}]\n"
                + "  onNoCandidate: {action: Reject, status: 429, retryAfter: 7s}",
            429,
            "7",
            "policy_excluded",
            "No candidate for model 'own-answer' under policy 'own-answer': later (policy 'own-answer', constraint 'c')."),
        new Row(
            "filter",
            LOCAL.formatted(", endpoints: 'endpoint.queuedPrompts > 100000'"),
            503,
            "5",
            "no_capacity",
            "No candidate for model 'filter' under policy 'filter': 'local' is left out (its worker does not meet the condition of the route)."),
        new Row(
            "waited",
            LOCAL.formatted(", endpoints: 'endpoint.queuedPrompts > 100000'")
                + "\n  onNoCandidate: {action: Queue, maxWait: 1s, status: 503, retryAfter: 3s}",
            503,
            "3",
            "no_capacity",
            "No candidate for model 'waited' under policy 'waited': 'local' is left out (its worker does not meet the condition of the route)."),
        new Row(
            "waiting-cannot-help",
            "constraints: [{name: c, when: \"request.model == 'waiting-cannot-help'\", exclude: 'true', message: never}]\n"
                + "  onNoCandidate: {action: Queue, maxWait: 60s, status: 503}",
            503,
            "5",
            "policy_excluded",
            "No candidate for model 'waiting-cannot-help' under policy 'waiting-cannot-help': never (policy 'waiting-cannot-help', constraint 'c')."),
        // 5. An expression that fails while it runs.
        new Row(
            "match-fails",
            "match: {models: [match-fails], condition: '1 / request.images > 0'}\n"
                + "  constraints: [{name: c, when: 'true', exclude: 'true', message: no}]",
            200,
            null,
            "",
            null),
        new Row(
            "when-fails",
            "constraints: [{name: c, when: '1 / request.images > 0', exclude: 'true', message: no}]",
            503,
            "5",
            "policy_excluded",
            "No candidate for model 'when-fails' under policy 'when-fails': no (policy 'when-fails', constraint 'c')."),
        new Row(
            "exclude-fails",
            "constraints: [{name: c, when: 'true', exclude: 'backend.pricing.inputPerMillion > 5.0', message: no}]",
            503,
            "5",
            "policy_excluded",
            "No candidate for model 'exclude-fails' under policy 'exclude-fails': no (policy 'exclude-fails', constraint 'c')."),
        new Row(
            "endpoints-fails",
            LOCAL.formatted(", endpoints: '1 / request.images >= 0'"),
            503,
            "5",
            "no_capacity",
            "No candidate for model 'endpoints-fails' under policy 'endpoints-fails': 'local' is left out (its worker does not meet the condition of the route)."),
        // 6. A policy that never was valid and has constraints.
        new Row(
            "never-valid",
            "constraints: [{name: c, when: 'labels.pii = 1', exclude: 'true', message: no}]",
            503,
            null,
            "policy_unavailable",
            "Policy 'never-valid' could forbid this request and can't be evaluated: "));
  }

  private static ScriptedWorker worker;
  private static Stack stack;
  private static InetSocketAddress gateway;

  @BeforeAll
  static void start(@TempDir Path folder) throws IOException {
    worker = ScriptedWorker.start("served", Scripts.vllm());
    ConfigFolder config =
        new ConfigFolder(folder.resolve("config"))
            .workerSet("w", List.of(new ConfigFolder.Worker("w0", worker.port())))
            .pool("served", "served", "w")
            .poolBackend(
                "local",
                "served",
                java.util.stream.Stream.concat(
                        rows().stream().map(Row::model),
                        java.util.stream.Stream.of("changed", "left"))
                    .toArray(String[]::new));
    for (Row row : rows()) {
      config.write("policy-" + row.model() + ".yaml", policy(row.model(), row.policy()));
    }
    config.write("policy-changed.yaml", changed("true"));
    config.write(
        "policy-left.yaml",
        policy(
            "left",
            LOCAL.formatted(", endpoints: 'endpoint.queuedPrompts > 100000'")
                + "\n  onNoCandidate: {action: Queue, maxWait: 60s, status: 503}"));
    stack = Stack.run(folder, config);
    gateway = stack.gateway();
  }

  private static String policy(String name, String spec) {
    return "apiVersion: inference.warmpath.dev/v1alpha1\nkind: InferencePolicy\nmetadata: {name: "
        + name
        + "}\nspec:\n  "
        + (spec.startsWith("match:") ? "" : "match: {models: [" + name + "]}\n  ")
        + spec
        + "\n";
  }

  private static String changed(String when) {
    return policy(
        "changed",
        "constraints: [{name: c, when: '" + when + "', exclude: 'true', message: still here}]");
  }

  @AfterAll
  static void stop() throws IOException {
    if (stack != null) {
      stack.close();
    }
    worker.close();
  }

  @BeforeEach
  void forget() {
    worker.forget();
  }

  private static WireResponse ask(String path, String model) throws IOException {
    return WireClient.post(
        gateway,
        path,
        "{\"model\":\"%s\",\"max_tokens\":4,\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}"
            .formatted(model)
            .getBytes(UTF_8),
        List.of());
  }

  @ParameterizedTest
  @MethodSource("rows")
  void the_answer_is(Row row) throws IOException {
    for (String path : List.of("/v1/chat/completions", "/v1/messages")) {
      WireResponse answer = ask(path, row.model());

      assertThat(answer.status()).as(answer.toString()).isEqualTo(row.status());
      if (row.message() == null) {
        assertThat(worker.last().text()).contains("\"served\"");
        continue;
      }
      assertThat(answer.header("retry-after")).as(answer.toString()).isEqualTo(row.retryAfter());
      boolean whole = row.message().endsWith(".");
      String expected =
          path.equals("/v1/messages") ? anthropic(row, answer.header("request-id")) : openAi(row);
      if (whole) {
        assertThat(answer.text()).isEqualTo(expected);
      } else {
        assertThat(answer.text()).startsWith(expected.substring(0, expected.indexOf(": \"") + 2));
      }
      assertThat(worker.received()).isEmpty();
    }
  }

  private static String openAi(Row row) {
    return "{\"error\":{\"message\":\"%s\",\"type\":\"%s\",\"param\":null,\"code\":\"%s\"}}"
        .formatted(
            row.message(), row.status() == 429 ? "rate_limit_error" : "server_error", row.code());
  }

  private static String anthropic(Row row, @Nullable String requestId) {
    return "{\"type\":\"error\",\"error\":{\"type\":\"%s\",\"message\":\"%s\"},\"request_id\":\"%s\"}"
        .formatted(
            row.status() == 429 ? "rate_limit_error" : "overloaded_error",
            row.message(),
            requestId);
  }

  @Test
  void a_client_that_leaves_while_it_waits_is_gone_and_not_refused() throws IOException {
    double before = stack.outcomes("client_gone");
    byte[] body = "{\"model\":\"left\",\"messages\":[]}".getBytes(UTF_8);
    try (WireClient client = WireClient.connect(gateway)) {
      client.writePost("/v1/chat/completions", body);
      await("it waits")
          .atMost(PATIENCE)
          .until(() -> stack.metrics().sum("warmpath_waiting_requests").orElse(0) == 1);

      client.reset();
    }

    await("the metric says so")
        .atMost(PATIENCE)
        .until(() -> stack.outcomes("client_gone") == before + 1);
    JsonNode record = WireClient.get(stack.admin(), "/decisions?last=1").json().path(0);
    assertThat(record.path("model").asString()).isEqualTo("left");
    assertThat(record.path("outcome").asString()).isEqualTo("CLIENT_GONE");
    assertThat(record.path("refusal").isNull()).as(record.toString()).isTrue();
  }

  @Test
  void a_policy_that_becomes_invalid_keeps_its_last_good_version() throws IOException {
    assertThat(ask("/v1/messages", "changed").status()).isEqualTo(503);

    stack.config().write("policy-changed.yaml", changed("labels.pii = 1"));

    await("the log names it")
        .atMost(PATIENCE)
        .untilAsserted(() -> assertThat(stack.log()).contains("policy-changed.yaml"));
    WireResponse answer = ask("/v1/chat/completions", "changed");
    assertThat(answer.status()).isEqualTo(503);
    assertThat(answer.text()).contains("policy_excluded", "still here");
    stack.config().write("policy-changed.yaml", changed("false"));
    await("a good version takes its place")
        .atMost(PATIENCE)
        .until(() -> ask("/v1/messages", "changed").status() == 200);
  }
}
