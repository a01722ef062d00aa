package dev.warmpath.extproc.policy;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.v1alpha1.BackendSpec;
import dev.warmpath.crds.v1alpha1.PolicySpec;
import dev.warmpath.crds.v1alpha1.ProviderSpec;
import dev.warmpath.extproc.label.LabelSource;
import dev.warmpath.extproc.tenant.Tenant;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The combination rules once more, as plainly as they can be written: reads the resources directly,
 * evaluates everything eagerly, with the CEL runtime only. Slow on purpose.
 */
final class ReferencePlan {
  private static final ExpressionCompiler CEL = new ExpressionCompiler();

  private final RoutingConfiguration configuration;
  private final RequestFacts request;
  private final Tenant tenant;
  private final LabelSource labels;
  private final ClusterState state;

  ReferencePlan(
      RoutingConfiguration configuration,
      RequestFacts request,
      Tenant tenant,
      LabelSource labels,
      ClusterState state) {
    this.configuration = configuration;
    this.request = request;
    this.tenant = tenant;
    this.labels = labels;
    this.state = state;
  }

  /** The tiers as text, or the name of the refusal. */
  String outcome() {
    List<RoutingConfiguration.Backend> backends =
        configuration.backends().stream()
            .sorted(Comparator.comparing(backend -> backend.id().name()))
            .toList();
    List<RoutingConfiguration.Backend> serving =
        backends.stream().filter(b -> b.spec().models().contains(request.model())).toList();
    if (serving.isEmpty() || !tenant.mayUse(request.model())) {
      return "UnknownModel";
    }
    if (configuration.unavailablePolicies().stream()
        .anyMatch(p -> p.models().isEmpty() || anyGlob(p.models(), request.model()))) {
      return "FailClosed";
    }
    List<RoutingConfiguration.Policy> matching =
        configuration.policies().stream()
            .filter(p -> p.spec().mode() == PolicySpec.Mode.Enforce && matches(p.spec().match()))
            .sorted(
                Comparator.comparingInt((RoutingConfiguration.Policy p) -> -p.spec().priority())
                    .thenComparing(p -> p.id().name()))
            .toList();
    Optional<RoutingConfiguration.Policy> routing =
        matching.stream().filter(p -> p.spec().route() != null).findFirst();
    List<String> tiers = new ArrayList<>();
    if (routing.isPresent()) {
      for (PolicySpec.Tier tier : route(routing.get()).tiers()) {
        tiers.add(tier(select(backends, tier.backends()), tier.endpoints(), matching));
      }
    } else {
      List<RoutingConfiguration.Backend> local =
          serving.stream().filter(b -> b.spec().pool() != null).toList();
      tiers.add(tier(local.isEmpty() ? serving : local, null, matching));
    }
    tiers.removeIf(String::isEmpty);
    if (tiers.isEmpty()) {
      return "NoCandidate";
    }
    return routing.map(p -> route(p).choose()).orElse(PolicySpec.Choose.PredictedTTFT)
        + " "
        + String.join(" > ", tiers);
  }

  private static PolicySpec.Route route(RoutingConfiguration.Policy policy) {
    PolicySpec.Route route = policy.spec().route();
    if (route == null) {
      throw new IllegalStateException();
    }
    return route;
  }

  private boolean matches(PolicySpec.Match match) {
    boolean holds = match.models().isEmpty() || anyGlob(match.models(), request.model());
    PolicySpec.TenantMatch tenants = match.tenants();
    if (tenants != null) {
      holds &= tenants.names().isEmpty() || tenants.names().contains(tenant.name());
      holds &= tenant.labels().entrySet().containsAll(tenants.labels().entrySet());
    }
    for (PolicySpec.LabelMatch label : match.labels()) {
      holds &= label.in().contains(labels.label(label.key()).value());
    }
    String condition = match.condition();
    if (condition != null) {
      holds &= evaluate(condition, null, -1) == Expression.TRUE;
    }
    return holds;
  }

  private List<RoutingConfiguration.Backend> select(
      List<RoutingConfiguration.Backend> backends, PolicySpec.BackendSelector selector) {
    List<RoutingConfiguration.Backend> named = new ArrayList<>();
    if (selector.names().isEmpty()) {
      named.addAll(backends);
    }
    for (String name : selector.names()) {
      backends.stream().filter(b -> b.id().name().equals(name)).forEach(named::add);
    }
    named.removeIf(b -> !b.spec().labels().entrySet().containsAll(selector.labels().entrySet()));
    return named;
  }

  private String tier(
      List<RoutingConfiguration.Backend> backends,
      @Nullable String filter,
      List<RoutingConfiguration.Policy> matching) {
    List<String> candidates = new ArrayList<>();
    for (RoutingConfiguration.Backend backend : backends) {
      if (isUnderstood(backend.spec()) && fits(backend.spec()) && !excluded(backend, matching)) {
        endpoints(backend, filter).ifPresent(candidates::add);
      }
    }
    return String.join("|", candidates);
  }

  private boolean isUnderstood(BackendSpec spec) {
    BackendSpec.ProviderTarget target = spec.provider();
    if (target == null) {
      return true;
    }
    ProviderSpec.Type type =
        configuration.providers().stream()
            .filter(provider -> provider.id().name().equals(target.name()))
            .map(provider -> provider.spec().type())
            .findFirst()
            .orElseThrow();
    boolean anthropic = type == ProviderSpec.Type.Anthropic;
    return type != ProviderSpec.Type.Bedrock && anthropic == request.path().contains("messages");
  }

  private boolean fits(BackendSpec spec) {
    Integer context = spec.capabilities().contextTokens();
    return spec.models().stream().anyMatch(tenant::mayUse)
        && (context == null || request.promptTokens() + request.maxTokens() <= context)
        && (!request.tools() || spec.capabilities().tools())
        && (request.images() == 0 || spec.capabilities().vision());
  }

  private boolean excluded(
      RoutingConfiguration.Backend backend, List<RoutingConfiguration.Policy> matching) {
    boolean excluded = false;
    for (RoutingConfiguration.Policy policy : matching) {
      for (PolicySpec.Constraint constraint : policy.spec().constraints()) {
        excluded |=
            evaluate(constraint.when(), null, -1) != Expression.FALSE
                && evaluate(constraint.exclude(), backend, -1) != Expression.FALSE;
      }
    }
    return excluded;
  }

  private Optional<String> endpoints(
      RoutingConfiguration.Backend backend, @Nullable String filter) {
    BackendSpec.ProviderTarget provider = backend.spec().provider();
    if (provider != null) {
      boolean open =
          state.provider("provider/default/" + provider.name()).available()
              && (filter == null || evaluate(filter, backend, -1) == Expression.TRUE);
      return open ? Optional.of(backend.id().name()) : Optional.empty();
    }
    ClusterState.PoolState pool = state.pool("pool/default/" + backend.id().name());
    List<Integer> eligible = new ArrayList<>();
    for (int i = 0; i < pool.size(); i++) {
      if (pool.available(i)
          && (filter == null || evaluate(filter, backend, i) == Expression.TRUE)) {
        eligible.add(i);
      }
    }
    return eligible.isEmpty()
        ? Optional.empty()
        : Optional.of(
            backend.id().name()
                + "{"
                + String.join(", ", eligible.stream().map(String::valueOf).toList())
                + "}");
  }

  private int evaluate(String text, RoutingConfiguration.@Nullable Backend backend, int endpoint) {
    Scope scope = new Scope(request, tenant, labels, Configuration.CLOCK.instant());
    if (backend != null) {
      BackendTarget target =
          BackendCatalog.of(configuration).all().stream()
              .filter(t -> t.id().equals(backend.id()))
              .findFirst()
              .orElseThrow();
      scope.candidate(target, target.external() ? null : state.pool(target.clusterName()));
      scope.endpoint = endpoint;
    }
    return PROGRAMS.computeIfAbsent(text, key -> CEL.endpoints("[" + key + "][0]")).test(scope);
  }

  private static final Map<String, Expression> PROGRAMS = new TreeMap<>();

  /** The file system's globs have the same star and question mark for names without slashes. */
  private static boolean anyGlob(List<String> globs, String name) {
    return globs.stream()
        .anyMatch(
            glob -> FileSystems.getDefault().getPathMatcher("glob:" + glob).matches(Path.of(name)));
  }

  /** A plan in the words of {@link #outcome}. */
  static String words(PolicyPlan plan) {
    return switch (plan) {
      case PolicyPlan.Candidates candidates ->
          candidates.choose()
              + " "
              + String.join(
                  " > ",
                  candidates.tiers().stream()
                      .map(tier ->
                          String.join(
                              "|",
                              tier.candidates().stream()
                                  .map(c ->
                                      c.backend().external()
                                          ? c.backend().name()
                                          : c.backend().name() + c.endpoints())
                                  .toList()))
                      .toList());
      case PolicyPlan.UnknownModel unknown -> "UnknownModel";
      case PolicyPlan.NoCandidate none -> "NoCandidate";
      case PolicyPlan.FailClosed closed -> "FailClosed";
      case PolicyPlan.AwaitLabels await -> "AwaitLabels";
    };
  }
}
