package dev.warmpath.extproc.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.v1alpha1.BackendSpec;
import dev.warmpath.crds.v1alpha1.PolicySpec;
import dev.warmpath.crds.v1alpha1.PolicySpec.Choose;
import dev.warmpath.crds.v1alpha1.ProviderSpec;
import dev.warmpath.extproc.label.Label;
import dev.warmpath.extproc.label.LabelSource;
import dev.warmpath.extproc.policy.Configuration.PolicyText;
import dev.warmpath.extproc.request.Operation;
import dev.warmpath.extproc.tenant.Tenant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Test;

/**
 * Random policy sets over random states; {@code -Dseed=N} repeats a run, {@code -Drounds=N} sets
 * its length.
 */
class PolicyAlgebraTest {
  private static final long SEED = Long.getLong("seed", 20261129L);
  private static final int ROUNDS = Integer.getInteger("rounds", 400);

  private static final List<String> CONDITIONS =
      List.of(
          "request.promptTokens < 2000",
          "request.stream",
          "tenant.labels.tier == 'free'",
          "labels.pii != 'absent'",
          "labels.complexity in ['simple', 'unknown'] || request.tools",
          "true",
          "false",
          "['a', 'b'].exists(n, n == tenant.name)");
  private static final List<String> EXCLUDES =
      List.of(
          "backend.external",
          "backend.labels.tier == 'cloud'",
          "backend.labels.region == 'eu'",
          "backend.name.startsWith('p') && request.promptTokens > 1000",
          "!backend.external && labels.pii == 'present'",
          "backend.pricing.inputPerMillion > 1.0",
          "false",
          "true");
  private static final List<String> FILTERS =
      List.of(
          "endpoint.queuedPrompts < 4",
          "endpoint.kvCacheUsage < 0.7 && pool.readyWorkers > 1",
          "endpoint.hardware == 'H100' || endpoint.cachedTokens > 10",
          "endpoint.predictedTtft < duration('1s')",
          "backend.external || endpoint.runningRequests < 8",
          "pool.queuedPrompts < 10");

  private final RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(SEED);

  @Test
  void agreesWithTheReferenceAndOnlyEverNarrows() {
    Set<String> kinds = new HashSet<>();
    for (int round = 0; round < ROUNDS; round++) {
      Configuration configuration = configuration();
      RequestFacts request = request();
      Tenant tenant = tenant();
      LabelSource labels = labels();
      FakeCluster state = state();
      PolicySnapshot policies = configuration.compile();

      PolicyPlan plan = policies.plan(request, tenant, labels, state);
      String words = ReferencePlan.words(plan);
      kinds.add(words.split(" ", 2)[0]);

      String where = "seed " + SEED + ", round " + round + ": " + configuration.policies;
      assertThat(words)
          .as(where)
          .isEqualTo(
              new ReferencePlan(configuration.build(), request, tenant, labels, state).outcome());

      // The order of files doesn't matter.
      assertThat(
              ReferencePlan.words(
                  configuration.shuffle(random).compile().plan(request, tenant, labels, state)))
          .as(where)
          .isEqualTo(words);

      // A policy that did not match changes nothing when it goes.
      Set<RoutingConfiguration.Id> matched = new HashSet<>(plan.trace().matched());
      Configuration without = copy(configuration);
      without.policies.removeIf(policy -> !matched.contains(policy.id()));
      if (!(plan instanceof PolicyPlan.FailClosed)) {
        assertThat(ReferencePlan.words(without.compile().plan(request, tenant, labels, state)))
            .as(where)
            .isEqualTo(words);
      }

      // One more constraint, and one more failing constraint, never add a candidate.
      Configuration more = copy(configuration);
      more.policy(
          new PolicyText("extra")
              .priority(random.nextInt(1000))
              .constraint("k", any(CONDITIONS), any(EXCLUDES)));
      PolicyPlan narrowed = more.compile().plan(request, tenant, labels, state);
      assertThat(candidates(plan)).as(where).containsAll(candidates(narrowed));

      // A shadow policy changes nothing.
      Configuration shadowed = copy(configuration);
      shadowed.policy(policy("extra", random).shadow());
      assertThat(ReferencePlan.words(shadowed.compile().plan(request, tenant, labels, state)))
          .as(where)
          .isEqualTo(words);
    }
    assertThat(kinds).contains("UnknownModel", "NoCandidate", "FailClosed", "Cheapest");
  }

  /** Backend, tier and endpoint, one by one. */
  private static Set<String> candidates(PolicyPlan plan) {
    Set<String> all = new HashSet<>();
    if (plan instanceof PolicyPlan.Candidates candidates) {
      for (PolicyPlan.Tier tier : candidates.tiers()) {
        for (PolicyPlan.Candidate candidate : tier.candidates()) {
          String backend = tier.index() + " " + candidate.backend().name();
          all.add(backend);
          for (int i = candidate.endpoints().next(0);
              i >= 0;
              i = candidate.endpoints().next(i + 1)) {
            all.add(backend + " " + i);
          }
        }
      }
    }
    return all;
  }

  private static Configuration copy(Configuration configuration) {
    Configuration copy = new Configuration();
    copy.pools.addAll(configuration.pools);
    copy.providers.addAll(configuration.providers);
    copy.backends.addAll(configuration.backends);
    copy.policies.addAll(configuration.policies);
    copy.unavailable.addAll(configuration.unavailable);
    return copy;
  }

  private Configuration configuration() {
    Configuration configuration = new Configuration();
    for (int i = 0; i < 4; i++) {
      configuration.pool(
          "p" + i,
          new BackendSpec.Capabilities(
              random.nextBoolean() ? null : 1 + random.nextInt(4000),
              random.nextInt(4) > 0,
              random.nextInt(3) > 0),
          any(List.of("standard", "cheap", "big")),
          models());
    }
    for (int i = 0; i < 2; i++) {
      configuration.provider(
          any(List.of(ProviderSpec.Type.values())),
          "c" + i,
          any(List.of("cloud", "cheap")),
          models());
    }
    int policies = random.nextInt(6);
    for (int i = 0; i < policies; i++) {
      PolicyText text = policy("policy" + i, random);
      configuration.policy(random.nextInt(5) == 0 ? text.shadow() : text);
    }
    if (random.nextInt(12) == 0) {
      configuration.unavailable.add(
          new RoutingConfiguration.UnavailablePolicy(
              Configuration.id("broken"),
              random.nextBoolean() ? List.of() : List.of("m1*"),
              "syntax error"));
    }
    return configuration;
  }

  private String[] models() {
    List<String> models = new ArrayList<>(List.of("m0", "m1", "m2", "m3"));
    models.removeIf(model -> random.nextInt(5) < 2);
    return models.isEmpty() ? new String[] {"m0"} : models.toArray(new String[0]);
  }

  private PolicyText policy(String name, RandomGenerator random) {
    PolicyText text = new PolicyText(name).priority(random.nextInt(4));
    if (random.nextInt(3) == 0) {
      text.models(any(List.of("m*", "m1", "?0", "x")));
    }
    if (random.nextInt(4) == 0) {
      text.tenants(
          random.nextBoolean() ? List.of("a", "z") : List.of(),
          random.nextBoolean() ? Map.of("tier", "free") : Map.of());
    }
    if (random.nextInt(3) == 0) {
      text.label(any(List.of("pii", "complexity")), "absent", "simple", "unknown");
    }
    if (random.nextInt(3) == 0) {
      text.condition(any(CONDITIONS));
    }
    for (int i = random.nextInt(3); i > 0; i--) {
      text.constraint("k" + i, any(CONDITIONS), any(EXCLUDES));
    }
    for (int i = text.constraints.isEmpty() ? 1 + random.nextInt(2) : random.nextInt(3);
        i > 0;
        i--) {
      String filter = random.nextBoolean() ? null : any(FILTERS);
      if (random.nextBoolean()) {
        text.tier(filter, any(List.of("p0", "p1")), any(List.of("p2", "c0", "gone")));
      } else {
        text.tierByLabel(filter, "tier", any(List.of("standard", "cheap", "big", "cloud")));
      }
    }
    return text.choose(any(List.of(Choose.values())));
  }

  private RequestFacts request() {
    Operation operation = any(List.of(Operation.values()));
    return new RequestFacts(
        any(List.of("m0", "m1", "m2", "m3", "m9")),
        operation.path(),
        operation.dialect(),
        random.nextInt(4000),
        random.nextInt(2) * 100L,
        random.nextBoolean(),
        random.nextInt(3) == 0,
        random.nextInt(4) == 0 ? 1 : 0,
        0,
        Map.of());
  }

  private Tenant tenant() {
    return switch (random.nextInt(4)) {
      case 0 -> Configuration.tenant("a", Map.of("tier", "free"), List.of(), List.of());
      case 1 -> Configuration.tenant("b", Map.of("tier", "paid"), List.of("m0", "m1"), List.of());
      case 2 -> Configuration.tenant("c", Map.of(), List.of("m*"), List.of("m2"));
      default -> Tenant.ANONYMOUS;
    };
  }

  private LabelSource labels() {
    Map<String, String> values =
        Map.of(
            "pii", any(List.of("present", "absent", "unknown")),
            "complexity", any(List.of("simple", "complex", "unknown")));
    return key ->
        new Label(
            values.getOrDefault(key, Label.UNKNOWN), Label.Source.BUILT_IN, List.of(), null, 0);
  }

  private FakeCluster state() {
    FakeCluster state = new FakeCluster();
    for (int p = 0; p < 4; p++) {
      List<FakeCluster.Worker> workers = new ArrayList<>();
      for (int i = random.nextInt(5); i > 0; i--) {
        workers.add(
            new FakeCluster.Worker(
                "w" + i,
                random.nextInt(4) > 0,
                any(List.of("L40S", "H100", "")),
                random.nextInt(9) - 1,
                random.nextInt(12) - 1,
                random.nextInt(8) == 0 ? Double.NaN : random.nextDouble(),
                random.nextInt(30) - 1,
                random.nextLong(2_000_000_000L) - 1));
      }
      state.pool("p" + p, workers);
    }
    return random.nextInt(3) == 0 ? state.failing("c0") : state;
  }

  private <T> T any(List<T> values) {
    return values.get(random.nextInt(values.size()));
  }

  /** Keeps the generator honest: a set of policies that never differ would prove nothing. */
  @Test
  void theGeneratorReachesEveryPartOfAPolicy() {
    Set<String> seen = new HashSet<>();
    for (int i = 0; i < 200; i++) {
      for (RoutingConfiguration.Policy policy : configuration().policies) {
        PolicySpec spec = policy.spec();
        seen.add(spec.mode().name());
        seen.add(spec.route() == null ? "no route" : "route");
        seen.add(spec.constraints().isEmpty() ? "free" : "constrained");
        seen.add(spec.match().condition() == null ? "no condition" : "condition");
      }
    }
    assertThat(seen)
        .contains(
            "Enforce",
            "Shadow",
            "route",
            "no route",
            "free",
            "constrained",
            "condition",
            "no condition");
  }
}
