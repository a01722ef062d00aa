package dev.warmpath.extproc.policy;

import static dev.warmpath.extproc.policy.Configuration.tenant;
import static dev.warmpath.extproc.policy.FakeCluster.worker;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.type;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.v1alpha1.BackendSpec;
import dev.warmpath.crds.v1alpha1.PolicySpec.Choose;
import dev.warmpath.crds.v1alpha1.PolicySpec.OnNoCandidate;
import dev.warmpath.crds.v1alpha1.PolicySpec.OnNoCandidate.Action;
import dev.warmpath.extproc.label.Label;
import dev.warmpath.extproc.label.LabelSource;
import dev.warmpath.extproc.policy.Configuration.PolicyText;
import dev.warmpath.extproc.policy.PolicyPlan.Candidates;
import dev.warmpath.extproc.policy.PolicyPlan.FailClosed;
import dev.warmpath.extproc.policy.PolicyPlan.NoCandidate;
import dev.warmpath.extproc.policy.PolicyPlan.UnknownModel;
import dev.warmpath.extproc.policy.PolicyTrace.Cause;
import dev.warmpath.extproc.request.Dialect;
import dev.warmpath.extproc.tenant.Tenant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class PolicySnapshotTest {
  private static final RequestFacts CHAT = facts("qwen", 1000, 0, false, 0);

  private final List<String> asked = new ArrayList<>();

  // --- without any policy

  @Test
  void theDefaultIsThePoolBackendsWithTheNameAndNothingLeavesTheCluster() {
    PolicySnapshot policies =
        new Configuration()
            .pool("b-pool", "qwen", "alias")
            .pool("a-pool", "qwen")
            .provider("cloud", "cloud", "qwen", "gpt")
            .compile();
    FakeCluster cluster =
        new FakeCluster().pool("a-pool", worker("a0", 0)).pool("b-pool", worker("b0", 0));

    assertThat(names(plan(policies, CHAT, cluster))).containsExactly("a-pool|b-pool");
    assertThat(names(plan(policies, facts("alias", 1, 0, false, 0), cluster)))
        .containsExactly("b-pool");
    assertThat(names(plan(policies, facts("gpt", 1, 0, false, 0), cluster)))
        .containsExactly("cloud");
  }

  @Test
  void whenThePoolIsDownAProviderIsNoSilentFallback() {
    PolicySnapshot policies =
        new Configuration().pool("local", "qwen").provider("cloud", "cloud", "qwen").compile();

    PolicyPlan plan = plan(policies, CHAT, new FakeCluster());

    NoCandidate none = (NoCandidate) plan;
    assertThat(none.status()).isEqualTo(503);
    assertThat(none.code()).isEqualTo("no_capacity");
    assertThat(none.message()).contains("'local' is unavailable").doesNotContain("cloud");
  }

  /** States of the workers of one pool, up or not and queued prompts; and what a client is told. */
  static Stream<Arguments> statesOfAPoolAndWhatIsToldOfThem() {
    String unmet = "meet the condition of the route";
    return Stream.of(
        arguments("", "is unavailable (it has no workers)"),
        arguments("down", "is unavailable (its worker is not ready)"),
        arguments("down down down", "is unavailable (none of its 3 workers is ready)"),
        arguments("9", "is left out (its worker does not " + unmet + ")"),
        arguments("9 9 9", "is left out (none of its 3 workers meets the condition of the route)"),
        arguments(
            "9 down 9", "is left out (2 of its 3 workers are ready and do not " + unmet + ")"),
        arguments(
            "down 9", "is left out (1 of its 2 workers is ready and does not " + unmet + ")"));
  }

  @ParameterizedTest(name = "[{0}] {1}")
  @MethodSource("statesOfAPoolAndWhatIsToldOfThem")
  void aClientIsToldWhatWasWrongWithEachBackendAndNothingOfItsInside(String states, String told) {
    PolicySnapshot policies =
        new Configuration()
            .pool("local", "qwen")
            .provider("cloud", "cloud", "qwen")
            .policy(
                new PolicyText("burst")
                    .tier("endpoint.queuedPrompts < 8 && endpoint.hardware == 'L40S'", "local")
                    .tier(null, "cloud"))
            .compile();
    List<FakeCluster.Worker> workers = new ArrayList<>();
    for (String one : states.isEmpty() ? new String[0] : states.split(" ", -1)) {
      String name = "secret-w" + workers.size();
      workers.add(
          one.equals("down")
              ? new FakeCluster.Worker(name, false, "L40S", 0, 0, 0.5, 0, 100_000_000)
              : worker(name, Long.parseLong(one)));
    }

    PolicyPlan plan =
        plan(policies, CHAT, new FakeCluster().pool("local", workers).failing("cloud"));

    NoCandidate none = (NoCandidate) plan;
    assertThat(none.code()).isEqualTo("no_capacity");
    assertThat(none.message())
        .isEqualTo(
            "No candidate for model 'qwen' under policy 'burst': 'local' "
                + told
                + "; 'cloud' is unavailable (provider at its limit or failing).");
  }

  @Test
  void aModelThatATenantMayNotSeeLooksLikeOneThatDoesNotExist() {
    PolicySnapshot policies =
        new Configuration().pool("local", "qwen", "secret").provider("c", "c", "gpt").compile();
    FakeCluster cluster = new FakeCluster().pool("local", worker("w0", 0));
    Tenant limited = tenant("a", Map.of(), List.of("qwen*", "gpt"), List.of("gpt"));

    PolicyPlan hidden =
        policies.plan(facts("gpt", 1, 0, false, 0), limited, LabelSource.NONE, cluster);
    PolicyPlan missing =
        policies.plan(facts("nothing", 1, 0, false, 0), limited, LabelSource.NONE, cluster);

    assertThat(hidden).isEqualTo(missing).isInstanceOf(UnknownModel.class);
    assertThat(policies.models(limited)).containsExactly("qwen");
    assertThat(policies.models(Tenant.ANONYMOUS)).containsExactly("gpt", "qwen", "secret");
  }

  @Test
  void capabilitiesCut() {
    PolicySnapshot policies =
        new Configuration()
            .pool("small", new BackendSpec.Capabilities(4096, true, false), "x", "qwen")
            .pool("notools", new BackendSpec.Capabilities(null, false, true), "x", "qwen")
            .pool("all", new BackendSpec.Capabilities(100_000, true, true), "x", "qwen")
            .compile();
    FakeCluster cluster =
        new FakeCluster()
            .pool("small", worker("s", 0))
            .pool("notools", worker("n", 0))
            .pool("all", worker("a", 0));

    assertThat(names(plan(policies, CHAT, cluster))).containsExactly("all|notools|small");
    assertThat(names(plan(policies, facts("qwen", 4000, 200, false, 0), cluster)))
        .containsExactly("all|notools");
    assertThat(names(plan(policies, facts("qwen", 10, 0, true, 0), cluster)))
        .containsExactly("all|small");
    assertThat(names(plan(policies, facts("qwen", 10, 0, true, 1), cluster)))
        .containsExactly("all");
    NoCandidate none = (NoCandidate) plan(policies, facts("qwen", 200_000, 0, true, 0), cluster);
    assertThat(none.status()).isEqualTo(400);
    assertThat(none.code()).isEqualTo("capability_missing");
    assertThat(none.message()).contains("200000 tokens asked").contains("no tool calls");
  }

  // --- routes

  @Test
  void burstToCloudTheFirstTierWithAnEligibleEndpointDecides() {
    PolicySnapshot policies =
        new Configuration()
            .pool("local", "qwen")
            .provider("cloud", "cloud", "claude")
            .policy(
                new PolicyText("burst")
                    .tier("endpoint.queuedPrompts < 8", "local")
                    .tierByLabel(null, "tier", "cloud"))
            .compile();

    PolicyPlan calm =
        plan(policies, CHAT, new FakeCluster().pool("local", worker("w0", 9), worker("w1", 7)));
    PolicyPlan burst =
        plan(policies, CHAT, new FakeCluster().pool("local", worker("w0", 9), worker("w1", 8)));

    assertThat(names(calm)).containsExactly("local", "cloud");
    assertThat(endpoints(calm, 0)).isEqualTo("{1}");
    assertThat(names(burst)).containsExactly("cloud");
    assertThat(burst.trace().removals())
        .singleElement()
        .satisfies(removal -> {
          assertThat(removal.cause()).isEqualTo(Cause.ENDPOINT_FILTER);
          assertThat(removal.detail()).isEqualTo("endpoint.queuedPrompts < 8");
        });
  }

  @Test
  void theRouteOfTheHighestPriorityDecidesAndEqualOnesGoByName() {
    PolicySnapshot policies =
        new Configuration()
            .pool("a", "qwen")
            .pool("b", "qwen")
            .pool("c", "qwen")
            .policy(new PolicyText("z-low").priority(1).tier(null, "a"))
            .policy(new PolicyText("m-second").priority(200).tier(null, "c").choose(Choose.Order))
            .policy(new PolicyText("m-first").priority(200).tier(null, "b").choose(Choose.Cheapest))
            .policy(new PolicyText("top").priority(900).models("other-*").tier(null, "a"))
            .compile();
    FakeCluster cluster =
        new FakeCluster()
            .pool("a", worker("a", 0))
            .pool("b", worker("b", 0))
            .pool("c", worker("c", 0));

    Candidates plan = (Candidates) plan(policies, CHAT, cluster);

    assertThat(names(plan)).containsExactly("b");
    assertThat(plan.choose()).isEqualTo(Choose.Cheapest);
    assertThat(plan.ttftSlackNanos()).isEqualTo(200_000_000);
    assertThat(plan.trace().decidedBy()).isEqualTo(Configuration.id("m-first"));
  }

  @Test
  void everyPartOfAMatchMustHold() {
    PolicyText text =
        new PolicyText("p")
            .models("qw*")
            .tenants(List.of("a", "b"), Map.of("tier", "free"))
            .label("complexity", "simple", "medium")
            .condition("request.promptTokens < 2000")
            .tier(null, "special");
    PolicySnapshot policies =
        new Configuration().pool("normal", "qwen").pool("special", "x").policy(text).compile();
    FakeCluster cluster =
        new FakeCluster().pool("normal", worker("n", 0)).pool("special", worker("s", 0));
    Tenant a = tenant("a", Map.of("tier", "free"), List.of(), List.of());
    LabelSource simple = labels(Map.of("complexity", "simple"));

    assertThat(names(policies.plan(CHAT, a, simple, cluster))).containsExactly("special");
    assertThat(
            names(
                policies.plan(
                    CHAT,
                    tenant("c", Map.of("tier", "free"), List.of(), List.of()),
                    simple,
                    cluster)))
        .containsExactly("normal");
    assertThat(
            names(
                policies.plan(
                    CHAT,
                    tenant("a", Map.of("tier", "paid"), List.of(), List.of()),
                    simple,
                    cluster)))
        .containsExactly("normal");
    assertThat(names(policies.plan(CHAT, a, labels(Map.of("complexity", "complex")), cluster)))
        .containsExactly("normal");
    assertThat(names(policies.plan(CHAT, a, LabelSource.NONE, cluster))).containsExactly("normal");
    assertThat(names(policies.plan(facts("qwen", 2000, 0, false, 0), a, simple, cluster)))
        .containsExactly("normal");
  }

  // --- constraints

  private static Configuration piiStaysLocal() {
    return new Configuration()
        .pool("local", "qwen")
        .provider("cloud", "cloud", "qwen")
        .policy(
            new PolicyText("pii-stays-local")
                .priority(1000)
                .constraint("personal-data", "labels.pii != 'absent'", "backend.external"))
        .policy(
            new PolicyText("burst")
                .tier("endpoint.queuedPrompts < 8", "local")
                .tier(null, "cloud"));
  }

  @Test
  void aConstraintBindsEveryTierWhateverPolicyRoutes() {
    PolicySnapshot policies = piiStaysLocal().compile();
    FakeCluster up = new FakeCluster().pool("local", worker("w0", 0));
    FakeCluster full = new FakeCluster().pool("local", worker("w0", 9));

    for (String label : List.of("present", "unknown", "nonsense")) {
      LabelSource pii = labels(Map.of("pii", label));
      assertThat(names(policies.plan(CHAT, Tenant.ANONYMOUS, pii, up))).containsExactly("local");
      NoCandidate none = (NoCandidate) policies.plan(CHAT, Tenant.ANONYMOUS, pii, full);
      assertThat(none.code()).isEqualTo("policy_excluded");
      assertThat(none.message())
          .contains(
              "personal-data forbids it (policy 'pii-stays-local', constraint 'personal-data')")
          .contains("'local' is left out (its worker does not meet the condition of the route)");
      assertThat(none.trace().labels().get("pii")).extracting(Label::value).isEqualTo(label);
    }
    LabelSource absent = labels(Map.of("pii", "absent"));
    assertThat(names(policies.plan(CHAT, Tenant.ANONYMOUS, absent, up)))
        .containsExactly("local", "cloud");
    assertThat(names(policies.plan(CHAT, Tenant.ANONYMOUS, absent, full))).containsExactly("cloud");
  }

  @Test
  void aLabelIsComputedOnlyWhereItCanMatter() {
    PolicySnapshot policies =
        new Configuration()
            .pool("local", "qwen")
            .provider("cloud", "cloud", "qwen")
            .policy(
                new PolicyText("pii-stays-local")
                    .priority(1000)
                    .constraint("personal-data", "labels.pii != 'absent'", "backend.external"))
            .policy(
                new PolicyText("other-model").models("gpt*").label("a", "x").tier(null, "cloud"))
            .policy(
                new PolicyText("other-tenant")
                    .tenants(List.of("t"), Map.of())
                    .label("b", "x")
                    .tier(null, "cloud"))
            .policy(
                new PolicyText("condition-first")
                    .condition("request.stream")
                    .label("c", "x")
                    .tier(null, "cloud"))
            .policy(new PolicyText("decides").priority(500).tier(null, "local"))
            .policy(new PolicyText("too-low").priority(400).label("d", "x").tier(null, "cloud"))
            .compile();

    PolicyPlan plan =
        policies.plan(
            CHAT,
            Tenant.ANONYMOUS,
            labels(Map.of()),
            new FakeCluster().pool("local", worker("w0", 0)));

    assertThat(names(plan)).containsExactly("local");
    assertThat(asked).isEmpty();
    assertThat(plan.trace().labels()).isEmpty();
  }

  @Test
  void aLabelOnItsWayIsAwaited() {
    PolicySnapshot policies = piiStaysLocal().compile();
    CompletableFuture<Label> arrival = new CompletableFuture<>();
    LabelSource webhook =
        new LabelSource() {
          private boolean waits;

          @Override
          public Label label(String key) {
            waits = !arrival.isDone();
            return arrival.getNow(Label.unknown(Label.Source.WEBHOOK, "on its way", 0));
          }

          @Override
          public @Nullable Pending pending() {
            return waits ? new Pending(arrival, 250_000_000) : null;
          }
        };
    FakeCluster cluster = new FakeCluster().pool("local", worker("w0", 0));

    PolicyPlan first = policies.plan(CHAT, Tenant.ANONYMOUS, webhook, cluster);
    CompletionStage<?> ready = ((PolicyPlan.AwaitLabels) first).ready();
    arrival.complete(new Label("absent", Label.Source.WEBHOOK, List.of(), null, 1));
    PolicyPlan second = policies.plan(CHAT, Tenant.ANONYMOUS, webhook, cluster);

    assertThat(ready).isCompleted();
    assertThat(names(second)).containsExactly("local", "cloud");
  }

  // --- what a failure does

  @Test
  void aFailingMatchIsFalse() {
    PolicySnapshot policies =
        new Configuration()
            .pool("local", "qwen")
            .provider("cloud", "c", "x")
            .policy(
                new PolicyText("p").condition("tenant.labels.tier == 'free'").tier(null, "cloud"))
            .compile();

    PolicyPlan plan = plan(policies, CHAT, new FakeCluster().pool("local", worker("w", 0)));

    assertThat(names(plan)).containsExactly("local");
    assertThat(plan.trace().failures())
        .singleElement()
        .satisfies(failure -> assertThat(failure.site()).isEqualTo("match"));
  }

  @Test
  void aFailingWhenIsTrueAndAFailingExcludeIsTrue() {
    for (String[] text :
        new String[][] {
          {"tenant.labels.tier == 'free'", "backend.external", "when"},
          {"true", "backend.labels.nothing == 'x'", "exclude"},
          {"not even CEL (", "backend.external", "when"},
          {"true", "[backend.external][7]", "exclude"}
        }) {
      PolicySnapshot policies =
          new Configuration()
              .provider("cloud", "c", "qwen")
              .policy(new PolicyText("p").constraint("k", text[0], text[1]))
              .compile();

      PolicyPlan plan = plan(policies, CHAT, new FakeCluster());

      assertThat(plan)
          .as(text[2])
          .asInstanceOf(type(NoCandidate.class))
          .satisfies(none -> {
            assertThat(none.message()).contains("policy 'p'").contains("constraint 'k'");
            assertThat(none.status()).isEqualTo(503);
          });
      assertThat(plan.trace().failures())
          .singleElement()
          .satisfies(failure -> assertThat(failure.site()).isEqualTo(text[2]));
    }
  }

  @Test
  void aFailingEndpointFilterIsFalseAndCountedOnce() {
    PolicySnapshot policies =
        new Configuration()
            .pool("local", "qwen")
            .policy(new PolicyText("p").tier("endpoint.cachedTokens >= 0", "local"))
            .compile();
    FakeCluster cluster =
        new FakeCluster()
            .pool(
                "local",
                new FakeCluster.Worker("w0", true, "", 0, 0, 0.1, -1, 1),
                new FakeCluster.Worker("w1", true, "", 0, 0, 0.1, -1, 1),
                new FakeCluster.Worker("w2", true, "", 0, 0, 0.1, 5, 1));

    PolicyPlan plan = plan(policies, CHAT, cluster);

    assertThat(endpoints(plan, 0)).isEqualTo("{2}");
    assertThat(plan.trace().failures()).hasSize(1);
  }

  @Test
  void aPolicyThatNeverWasValidClosesTheModelsThatItCouldMatch() {
    Configuration configuration = new Configuration().pool("local", "qwen", "other");
    configuration.unavailable.add(
        new RoutingConfiguration.UnavailablePolicy(
            Configuration.id("broken"), List.of("qw*"), "spec.constraints[0].when: syntax error"));
    PolicySnapshot policies = configuration.compile();
    FakeCluster cluster = new FakeCluster().pool("local", worker("w", 0));

    assertThat(plan(policies, CHAT, cluster))
        .asInstanceOf(type(FailClosed.class))
        .satisfies(closed -> assertThat(closed.message()).contains("'broken'").contains("syntax"));
    assertThat(names(plan(policies, facts("other", 1, 0, false, 0), cluster)))
        .containsExactly("local");
  }

  @Test
  void queueingIsForStatesThatChange() {
    OnNoCandidate queue =
        new OnNoCandidate(Action.Queue, 429, Duration.ofSeconds(7), Duration.ofSeconds(30));
    PolicySnapshot batch =
        new Configuration()
            .pool("local", "qwen")
            .policy(
                new PolicyText("batch")
                    .tier("endpoint.kvCacheUsage < 0.4", "local")
                    .onNoCandidate(queue))
            .compile();
    PolicySnapshot hopeless =
        new Configuration()
            .provider("cloud", "c", "qwen")
            .policy(
                new PolicyText("never")
                    .tier(null, "cloud")
                    .constraint("k", "true", "true")
                    .onNoCandidate(queue))
            .compile();

    NoCandidate waits =
        (NoCandidate) plan(batch, CHAT, new FakeCluster().pool("local", worker("w", 0)));
    NoCandidate refused = (NoCandidate) plan(hopeless, CHAT, new FakeCluster());

    assertThat(waits.action()).isEqualTo(Action.Queue);
    assertThat(waits.maxWaitNanos()).isEqualTo(30_000_000_000L);
    assertThat(waits.status()).isEqualTo(429);
    assertThat(waits.retryAfterSeconds()).isEqualTo(7);
    assertThat(refused.action()).isEqualTo(Action.Reject);
    assertThat(refused.status()).isEqualTo(429);
  }

  @Test
  void aShadowPolicyHasNoEffectAndSaysWhatItWouldHaveChanged() {
    PolicySnapshot policies =
        new Configuration()
            .pool("local", "qwen")
            .provider("cloud", "c", "x")
            .policy(new PolicyText("to-cloud").shadow().priority(900).tier(null, "cloud"))
            .policy(
                new PolicyText("nothing-new").shadow().constraint("k", "true", "backend.external"))
            .policy(new PolicyText("not-matching").shadow().models("z*").tier(null, "cloud"))
            .compile();

    PolicyPlan plan = plan(policies, CHAT, new FakeCluster().pool("local", worker("w", 0)));

    assertThat(names(plan)).containsExactly("local");
    assertThat(plan.trace().matched()).isEmpty();
    assertThat(plan.trace().shadows())
        .containsExactly(
            new PolicyTrace.Shadow(Configuration.id("to-cloud"), true, "PredictedTTFT of cloud"),
            new PolicyTrace.Shadow(Configuration.id("nothing-new"), false, "no change"));
  }

  @Test
  void aFailingProviderIsNoCandidate() {
    PolicySnapshot policies = new Configuration().provider("cloud", "c", "qwen").compile();

    assertThat(plan(policies, CHAT, new FakeCluster().failing("cloud")))
        .isInstanceOf(NoCandidate.class);
  }

  private static PolicyPlan plan(PolicySnapshot policies, RequestFacts facts, FakeCluster cluster) {
    return policies.plan(facts, Tenant.ANONYMOUS, LabelSource.NONE, cluster);
  }

  private LabelSource labels(Map<String, String> values) {
    return key -> {
      asked.add(key);
      String value = values.get(key);
      return value == null
          ? Label.unknown(Label.Source.NONE, "test", 0)
          : new Label(value, Label.Source.BUILT_IN, List.of(), null, 0);
    };
  }

  static RequestFacts facts(String model, long prompt, long max, boolean tools, int images) {
    return new RequestFacts(
        model,
        "/v1/chat/completions",
        Dialect.OPENAI,
        prompt,
        max,
        false,
        tools,
        images,
        0,
        Map.of());
  }

  private static List<String> names(PolicyPlan plan) {
    assertThat(plan).isInstanceOf(Candidates.class);
    return ((Candidates) plan)
        .tiers().stream()
            .map(tier ->
                String.join("|", tier.candidates().stream().map(c -> c.backend().name()).toList()))
            .toList();
  }

  private static String endpoints(PolicyPlan plan, int tier) {
    return ((Candidates) plan).tiers().get(tier).candidates().getFirst().endpoints().toString();
  }
}
