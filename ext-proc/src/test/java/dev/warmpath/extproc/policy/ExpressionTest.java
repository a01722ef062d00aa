package dev.warmpath.extproc.policy;

import static dev.warmpath.extproc.policy.Expression.FAILED;
import static dev.warmpath.extproc.policy.Expression.FALSE;
import static dev.warmpath.extproc.policy.Expression.TRUE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.v1alpha1.BackendSpec;
import dev.warmpath.extproc.label.Label;
import dev.warmpath.extproc.request.Dialect;
import dev.warmpath.extproc.tenant.Tenant;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ExpressionTest {
  private static final ExpressionCompiler COMPILER = new ExpressionCompiler();

  private final List<String> askedLabels = new ArrayList<>();

  @Test
  void readsEveryVariableOnBothPaths() {
    Map<String, Integer> expected =
        Map.ofEntries(
            Map.entry("request.model == 'qwen'", TRUE),
            Map.entry("request.path == '/v1/chat/completions'", TRUE),
            Map.entry("request.dialect == 'openai'", TRUE),
            Map.entry("request.promptTokens < 2000", TRUE),
            Map.entry("request.maxTokens >= 257", FALSE),
            Map.entry("request.stream", TRUE),
            Map.entry("request.tools", FALSE),
            Map.entry("request.images == 2", TRUE),
            Map.entry("request.priority == -5", TRUE),
            Map.entry("request.header('x-team') == 'a'", TRUE),
            Map.entry("request.header('x-none') == ''", TRUE),
            Map.entry("tenant.name == 'anonymous'", TRUE),
            Map.entry("tenant.labels.tier == 'free'", FAILED),
            Map.entry("labels.pii != 'absent'", TRUE),
            Map.entry("labels['complexity'] in ['simple', 'medium']", TRUE),
            Map.entry("labels.nobody == 'unknown'", TRUE),
            Map.entry("backend.external", FALSE),
            Map.entry("backend.name.startsWith('qwen')", TRUE),
            Map.entry("backend.labels.tier == 'standard'", TRUE),
            Map.entry("backend.labels.missing == 'x'", FAILED),
            Map.entry("backend.pool == 'qwen-pool'", TRUE),
            Map.entry("backend.provider == ''", TRUE),
            Map.entry("backend.pricing.outputPerMillion < 1.0", TRUE),
            Map.entry("backend.pricing.cachedInputPerMillion < 1.0", FAILED),
            Map.entry("pool.queuedPrompts == 12", TRUE),
            Map.entry("pool.readyWorkers == 2", TRUE),
            Map.entry("pool.kvCacheUsage > 0.49 && pool.kvCacheUsage < 0.51", TRUE),
            Map.entry("endpoint.queuedPrompts < 8", TRUE),
            Map.entry("endpoint.hardware == 'L40S'", TRUE),
            Map.entry("endpoint.predictedTtft < duration('2s')", TRUE),
            Map.entry("endpoint.predictedTtft < duration('50ms')", FALSE),
            Map.entry("endpoint.kvCacheUsage < 0.7", TRUE),
            Map.entry("now > timestamp('2020-01-01T00:00:00Z')", TRUE),
            Map.entry("now.getHours() < 24", TRUE));

    expected.forEach((text, outcome) -> {
      Expression expression = COMPILER.endpoints(text);
      assertThat(expression.test(scope())).as(text).isEqualTo(outcome);
      // The same through the CEL runtime alone: a list index is outside of the fast subset.
      Expression slow = COMPILER.endpoints("[" + text + "][0]");
      assertThat(slow).as(text).isInstanceOf(RuntimeExpression.class);
      assertThat(slow.test(scope()))
          .as(() -> "slow " + text + ": " + slow.explainFailure(scope()))
          .isEqualTo(outcome);
    });
  }

  @Test
  void failsForWhatIsMissingAndAbsorbsAFailureAsCelDoes() {
    Map<String, Integer> expected =
        Map.ofEntries(
            Map.entry("tenant.labels.x == 'a' && false", FALSE),
            Map.entry("false && tenant.labels.x == 'a'", FALSE),
            Map.entry("tenant.labels.x == 'a' || true", TRUE),
            Map.entry("true || tenant.labels.x == 'a'", TRUE),
            Map.entry("tenant.labels.x == 'a' && true", FAILED),
            Map.entry("tenant.labels.x == 'a' || false", FAILED),
            Map.entry("!(tenant.labels.x == 'a')", FAILED),
            Map.entry("tenant.labels.x != 'a'", FAILED),
            Map.entry("has(tenant.labels.x)", FALSE),
            Map.entry("has(labels.x)", TRUE),
            Map.entry("request.promptTokens / 0 > 1", FAILED),
            Map.entry("request.promptTokens + 9223372036854775807 > 1", FAILED),
            Map.entry("request.promptTokens - 100 > 899", TRUE),
            Map.entry("request.model", FAILED),
            Map.entry("request.header('authorization') == ''", FAILED));

    expected.forEach((text, outcome) ->
        assertThat(COMPILER.endpoints(text).test(scope())).as(text).isEqualTo(outcome));
  }

  @Test
  void whatDoesNotCompileFailsAndSaysWhere() {
    Expression expression = COMPILER.endpoints("request.promptTokens <");

    assertThat(expression.test(scope())).isEqualTo(FAILED);
    assertThat(expression.explainFailure(scope())).contains("1:23");
  }

  @Test
  void asksForALabelOnlyWhereItIsRead() {
    COMPILER.endpoints("request.stream || labels.pii == 'present'").test(scope());
    COMPILER.endpoints("[request.stream][0] || labels.pii == 'present'").test(scope());

    assertThat(askedLabels).isEmpty();
  }

  @Test
  void knowsWhatItReads() {
    assertThat(COMPILER.endpoints("backend.external || backend.name == 'x'").readsOnlyBackend())
        .isTrue();
    assertThat(COMPILER.endpoints("backend.external && pool.readyWorkers > 1").readsClusterState())
        .isTrue();
    assertThat(COMPILER.endpoints("['a'].exists(e, e == labels.pii)").reads("labels")).isTrue();
  }

  /** The fast path must agree with the CEL runtime on every expression that both can evaluate. */
  @Test
  void nodesAgreeWithTheRuntimeOnRandomExpressions() {
    long seed = System.getProperty("seed") == null ? 20261129 : Long.getLong("seed");
    RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
    int compared = 0;
    for (int i = 0; i < 400; i++) {
      String text = random(random, 3);
      Expression fast = COMPILER.endpoints(text);
      Expression slow = COMPILER.endpoints("[" + text + "][0]");
      Scope scope = scope();
      assertThat(fast).as(text).isNotInstanceOf(RuntimeExpression.class);
      assertThat(fast.test(scope)).as("seed %d: %s", seed, text).isEqualTo(slow.test(scope));
      compared++;
    }
    assertThat(compared).isEqualTo(400);
  }

  private static String random(RandomGenerator random, int depth) {
    if (depth == 0 || random.nextInt(4) == 0) {
      return LEAVES.get(random.nextInt(LEAVES.size()));
    }
    String left = random(random, depth - 1);
    String right = random(random, depth - 1);
    return switch (random.nextInt(5)) {
      case 0 -> "(" + left + " && " + right + ")";
      case 1 -> "(" + left + " || " + right + ")";
      case 2 -> "!(" + left + ")";
      case 3 -> "((" + left + ") == (" + right + "))";
      default -> "((" + left + ") ? (" + right + ") : (" + random(random, depth - 1) + "))";
    };
  }

  private static final List<String> LEAVES =
      List.of(
          "request.stream",
          "request.tools",
          "request.promptTokens < 2000",
          "request.promptTokens * 2 + request.maxTokens > 2255",
          "endpoint.queuedPrompts <= 4",
          "endpoint.cachedTokens > 3",
          "endpoint.kvCacheUsage >= 0.5",
          "tenant.labels.x == 'a'",
          "labels.pii != 'absent'",
          "labels['complexity'] in ['simple']",
          "backend.external",
          "backend.labels.tier == 'standard'",
          "backend.pricing.cachedInputPerMillion < 1.0",
          "backend.pricing.inputPerMillion == 0.25",
          "endpoint.predictedTtft < duration('150ms')",
          "pool.queuedPrompts != 12",
          "request.model.endsWith('en')",
          "request.model.contains(backend.name)",
          "true",
          "false");

  private Scope scope() {
    RequestFacts request =
        new RequestFacts(
            "qwen",
            "/v1/chat/completions",
            Dialect.OPENAI,
            1000,
            256,
            true,
            false,
            2,
            -5,
            Map.of("x-team", "a"));
    Scope scope =
        new Scope(request, Tenant.ANONYMOUS, this::label, Instant.parse("2026-11-29T12:00:00Z"));
    FakeCluster cluster =
        new FakeCluster()
            .pool(
                "qwen-pool",
                new FakeCluster.Worker("w0", true, "L40S", 4, 2, 0.4, -1, 100_000_000),
                new FakeCluster.Worker("w1", true, "L40S", 8, 2, 0.6, 5, 100_000_000),
                new FakeCluster.Worker("w2", false, "L40S", 99, 2, 0.9, 5, 100_000_000));
    scope.candidate(backend(null), cluster.pool("pool/default/qwen-pool"));
    scope.endpoint = 0;
    return scope;
  }

  private Label label(String key) {
    askedLabels.add(key);
    return switch (key) {
      case "pii" -> new Label("present", Label.Source.BUILT_IN, List.of("email"), null, 0);
      case "complexity" -> new Label("simple", Label.Source.BUILT_IN, List.of(), null, 0);
      default -> Label.unknown(Label.Source.NONE, "no classifier", 0);
    };
  }

  private static BackendTarget backend(@Nullable BigDecimal cachedInput) {
    return new BackendTarget(
        new RoutingConfiguration.Id("default", "qwen-local", 1),
        List.of("qwen"),
        BackendTarget.Kind.POOL,
        new RoutingConfiguration.Id("default", "qwen-pool", 1),
        "pool/default/qwen-pool",
        "Qwen/Qwen",
        Set.of(Dialect.OPENAI),
        Map.of("tier", "standard"),
        new BackendSpec.Capabilities(null, true, true),
        new BackendSpec.Pricing(
            "USD", new BigDecimal("0.25"), cachedInput, new BigDecimal("0.60")));
  }
}
