package dev.warmpath.extproc.policy;

import dev.warmpath.crds.config.GatewayNames;
import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.v1alpha1.BackendSpec;
import dev.warmpath.crds.v1alpha1.LocalRef;
import dev.warmpath.crds.v1alpha1.PolicySpec;
import dev.warmpath.crds.v1alpha1.PolicySpec.Choose;
import dev.warmpath.crds.v1alpha1.PolicySpec.Mode;
import dev.warmpath.crds.v1alpha1.PolicySpec.OnNoCandidate;
import dev.warmpath.crds.v1alpha1.PoolSpec;
import dev.warmpath.crds.v1alpha1.ProviderSpec;
import dev.warmpath.crds.v1alpha1.TenantSpec;
import dev.warmpath.extproc.tenant.Tenant;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Writes a routing configuration in a few words. */
final class Configuration {
  static final InstantSource CLOCK = InstantSource.fixed(Instant.parse("2026-11-29T12:00:00Z"));

  final List<RoutingConfiguration.Pool> pools = new ArrayList<>();
  final List<RoutingConfiguration.Provider> providers = new ArrayList<>();
  final List<RoutingConfiguration.Backend> backends = new ArrayList<>();
  final List<RoutingConfiguration.Policy> policies = new ArrayList<>();
  final List<RoutingConfiguration.UnavailablePolicy> unavailable = new ArrayList<>();

  static RoutingConfiguration.Id id(String name) {
    return new RoutingConfiguration.Id("default", name, 1);
  }

  Configuration pool(String name, BackendSpec.Capabilities has, String tier, String... models) {
    pools.add(
        new RoutingConfiguration.Pool(
            id(name),
            new PoolSpec(
                "upstream/" + name,
                List.of(new LocalRef("set")),
                new PoolSpec.Objective(Duration.ofSeconds(8), 0.9),
                new PoolSpec.Routing(PoolSpec.Algorithm.PredictedTTFT),
                new PoolSpec.Limits(64),
                null),
            GatewayNames.poolCluster("default", name)));
    backends.add(
        new RoutingConfiguration.Backend(
            id(name),
            new BackendSpec(
                List.of(models),
                new LocalRef(name),
                null,
                Map.of("tier", tier),
                has,
                null,
                List.of())));
    return this;
  }

  Configuration pool(String name, String... models) {
    return pool(name, new BackendSpec.Capabilities(null, true, true), "standard", models);
  }

  Configuration provider(String name, String tier, String... models) {
    return provider(ProviderSpec.Type.OpenAI, name, tier, models);
  }

  Configuration provider(ProviderSpec.Type type, String name, String tier, String... models) {
    providers.add(
        new RoutingConfiguration.Provider(
            id(name),
            new ProviderSpec(
                type, null, null, null, null, new ProviderSpec.Limits(200), Duration.ofMillis(900)),
            GatewayNames.providerCluster("default", name)));
    backends.add(
        new RoutingConfiguration.Backend(
            id(name),
            new BackendSpec(
                List.of(models),
                null,
                new BackendSpec.ProviderTarget(name, "their-" + name),
                Map.of("tier", tier),
                new BackendSpec.Capabilities(null, true, true),
                null,
                List.of())));
    return this;
  }

  Configuration policy(PolicyText policy) {
    policies.add(policy.build());
    return this;
  }

  Configuration shuffle(RandomGenerator random) {
    Collections.shuffle(pools, java.util.Random.from(random));
    Collections.shuffle(providers, java.util.Random.from(random));
    Collections.shuffle(backends, java.util.Random.from(random));
    Collections.shuffle(policies, java.util.Random.from(random));
    return this;
  }

  RoutingConfiguration build() {
    return new RoutingConfiguration(
        List.of(),
        List.copyOf(pools),
        List.copyOf(providers),
        List.copyOf(backends),
        List.copyOf(policies),
        List.copyOf(unavailable),
        List.of());
  }

  PolicySnapshot compile() {
    return PolicySnapshot.compile(build(), CLOCK);
  }

  static Tenant tenant(
      String name, Map<String, String> labels, List<String> allow, List<String> deny) {
    return Tenant.of(
        new RoutingConfiguration.Tenant(
            id(name),
            new TenantSpec(
                List.of(),
                null,
                null,
                new TenantSpec.Models(allow, deny),
                labels,
                new TenantSpec.Limits(null, null, null),
                null,
                0,
                false),
            List.of()));
  }

  /** One policy, built up field by field. */
  static final class PolicyText {
    final String name;
    int priority = 100;
    Mode mode = Mode.Enforce;
    List<String> models = List.of();
    PolicySpec.@Nullable TenantMatch tenants;
    final List<PolicySpec.LabelMatch> labels = new ArrayList<>();
    @Nullable String condition;
    final List<PolicySpec.Constraint> constraints = new ArrayList<>();
    final List<PolicySpec.Tier> tiers = new ArrayList<>();
    Choose choose = Choose.PredictedTTFT;
    OnNoCandidate onNoCandidate = new OnNoCandidate(OnNoCandidate.Action.Reject, 503, null, null);

    PolicyText(String name) {
      this.name = name;
    }

    PolicyText priority(int value) {
      priority = value;
      return this;
    }

    PolicyText shadow() {
      mode = Mode.Shadow;
      return this;
    }

    PolicyText models(String... globs) {
      models = List.of(globs);
      return this;
    }

    PolicyText tenants(List<String> names, Map<String, String> labels) {
      tenants = new PolicySpec.TenantMatch(names, labels);
      return this;
    }

    PolicyText label(String key, String... in) {
      labels.add(new PolicySpec.LabelMatch(key, List.of(in)));
      return this;
    }

    PolicyText condition(String text) {
      condition = text;
      return this;
    }

    PolicyText constraint(String name, String when, String exclude) {
      constraints.add(new PolicySpec.Constraint(name, when, exclude, name + " forbids it"));
      return this;
    }

    PolicyText tier(@Nullable String endpoints, String... backends) {
      tiers.add(
          new PolicySpec.Tier(
              new PolicySpec.BackendSelector(List.of(backends), Map.of()), endpoints));
      return this;
    }

    PolicyText tierByLabel(@Nullable String endpoints, String key, String value) {
      tiers.add(
          new PolicySpec.Tier(
              new PolicySpec.BackendSelector(List.of(), Map.of(key, value)), endpoints));
      return this;
    }

    PolicyText choose(Choose value) {
      choose = value;
      return this;
    }

    PolicyText onNoCandidate(OnNoCandidate value) {
      onNoCandidate = value;
      return this;
    }

    RoutingConfiguration.Policy build() {
      return new RoutingConfiguration.Policy(
          id(name),
          new PolicySpec(
              priority,
              mode,
              new PolicySpec.Match(models, tenants, List.copyOf(labels), condition),
              List.copyOf(constraints),
              tiers.isEmpty()
                  ? null
                  : new PolicySpec.Route(List.copyOf(tiers), choose, Duration.ofMillis(200)),
              onNoCandidate));
    }
  }
}
