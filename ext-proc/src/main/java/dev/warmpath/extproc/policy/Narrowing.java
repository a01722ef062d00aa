package dev.warmpath.extproc.policy;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.v1alpha1.BackendSpec;
import dev.warmpath.crds.v1alpha1.PolicySpec;
import dev.warmpath.extproc.policy.ClusterState.PoolState;
import dev.warmpath.extproc.policy.CompiledPolicy.CompiledConstraint;
import dev.warmpath.extproc.policy.CompiledPolicy.CompiledTier;
import dev.warmpath.extproc.policy.PolicyTrace.Cause;
import dev.warmpath.extproc.policy.PolicyTrace.Failure;
import dev.warmpath.extproc.policy.PolicyTrace.Removal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What a set of matching policies leaves of its route: tenant and capabilities first, then
 * constraints, then availability and the tier's endpoint filter. Nothing here can add a candidate.
 */
final class Narrowing {
  /** Memo of a {@code when}: not evaluated yet. */
  private static final byte OPEN = -1;

  private final List<CompiledPolicy> matched;
  private final @Nullable CompiledPolicy routing;
  private final Scope scope;
  private final ClusterState state;
  private final List<Failure> failures;
  private final byte[] when;
  private final List<PolicyPlan.Tier> tiers = new ArrayList<>(2);
  private final List<Removal> removals = new ArrayList<>(2);
  private boolean waitingCanHelp;

  Narrowing(
      BackendCatalog backends,
      List<CompiledPolicy> matched,
      CompiledTier defaultTier,
      int constraintCount,
      Scope scope,
      ClusterState state,
      List<Failure> failures) {
    this.matched = matched;
    this.routing = Planner.routing(matched);
    this.scope = scope;
    this.state = state;
    this.failures = failures;
    this.when = new byte[constraintCount];
    Arrays.fill(when, OPEN);
    List<CompiledTier> written =
        routing == null || routing.tiers() == null ? List.of(defaultTier) : routing.tiers();
    for (int i = 0; i < written.size(); i++) {
      List<PolicyPlan.Candidate> candidates = candidates(backends, i, written.get(i));
      if (!candidates.isEmpty()) {
        tiers.add(new PolicyPlan.Tier(i, candidates));
      }
    }
  }

  /** The tiers that have a candidate now. */
  List<PolicyPlan.Tier> tiers() {
    return tiers;
  }

  List<Removal> removals() {
    return removals;
  }

  /** The policy whose route was taken; null for the default route. */
  @Nullable CompiledPolicy routing() {
    return routing;
  }

  PolicySpec.Choose choose() {
    return routing == null || routing.route() == null
        ? PolicySpec.Choose.PredictedTTFT
        : routing.route().choose();
  }

  long ttftSlackNanos() {
    return routing == null || routing.route() == null ? 0 : routing.route().ttftSlack().toNanos();
  }

  /** Some candidate was lost to a state that changes. */
  boolean waitingCanHelp() {
    return waitingCanHelp;
  }

  private List<PolicyPlan.Candidate> candidates(
      BackendCatalog backends, int tier, CompiledTier written) {
    List<PolicyPlan.Candidate> candidates = new ArrayList<>(written.backends().length);
    for (int index : written.backends()) {
      BackendTarget backend = backends.all().get(index);
      PoolState pool = backend.external() ? null : state.pool(backend.clusterName());
      scope.candidate(backend, pool);
      if (unfit(backend, tier) || constrained(backend, index, tier)) {
        continue;
      }
      EndpointSet endpoints =
          pool == null ? provider(backend, tier, written) : endpoints(backend, pool, tier, written);
      if (endpoints != null) {
        candidates.add(new PolicyPlan.Candidate(backend, endpoints));
      }
    }
    return candidates;
  }

  private boolean unfit(BackendTarget backend, int tier) {
    if (!usable(backend)) {
      return remove(backend, tier, Cause.TENANT, null, "not allowed for this tenant");
    }
    RequestFacts request = scope.request;
    if (!backend.dialects().contains(request.dialect())) {
      return remove(backend, tier, Cause.DIALECT, null, otherDialect(backend, request));
    }
    BackendSpec.Capabilities has = backend.capabilities();
    Integer context = has.contextTokens();
    if (context != null && request.promptTokens() + request.maxTokens() > context) {
      return remove(
          backend,
          tier,
          Cause.CONTEXT_LENGTH,
          null,
          (request.promptTokens() + request.maxTokens()) + " tokens asked, " + context + " fit");
    }
    if (request.tools() && !has.tools()) {
      return remove(backend, tier, Cause.TOOLS, null, "no tool calls");
    }
    if (request.images() > 0 && !has.vision()) {
      return remove(backend, tier, Cause.VISION, null, "no image input");
    }
    return false;
  }

  private static String otherDialect(BackendTarget backend, RequestFacts request) {
    String spoken =
        backend.dialects().stream()
            .map(dialect -> "the " + dialect.vendor() + " API only")
            .findFirst()
            .orElse("an API of its own");
    return "its provider speaks "
        + spoken
        + ", and "
        + request.path()
        + " is of the "
        + request.dialect().vendor()
        + " API";
  }

  /** Under any of the names that clients know it by. */
  private boolean usable(BackendTarget backend) {
    for (String model : backend.models()) {
      if (scope.tenant.mayUse(model)) {
        return true;
      }
    }
    return false;
  }

  /** Every constraint of every matching policy; the first that excludes is recorded. */
  private boolean constrained(BackendTarget backend, int index, int tier) {
    for (CompiledPolicy policy : matched) {
      for (CompiledConstraint constraint : policy.constraints()) {
        if (excludes(policy, constraint, index)) {
          waitingCanHelp |=
              constraint.exclude().readsClusterState() || constraint.when().readsClusterState();
          return remove(backend, tier, Cause.CONSTRAINT, policy, constraint.name());
        }
      }
    }
    return false;
  }

  /**
   * Both parts must hold. The part that needs no label goes first: a constraint that would exclude
   * no candidate then costs no classifier.
   */
  private boolean excludes(CompiledPolicy policy, CompiledConstraint constraint, int index) {
    if (constraint.exclude().reads("labels")) {
      return applies(policy, constraint) && excluded(policy, constraint, index);
    }
    return excluded(policy, constraint, index) && applies(policy, constraint);
  }

  private boolean excluded(CompiledPolicy policy, CompiledConstraint constraint, int index) {
    boolean[] known = constraint.excluded();
    if (known != null) {
      return known[index];
    }
    int outcome = constraint.exclude().test(scope);
    if (outcome == Expression.FAILED) {
      failures.add(new Failure(policy.id(), "exclude", constraint.exclude().explainFailure(scope)));
    }
    return outcome != Expression.FALSE;
  }

  private boolean applies(CompiledPolicy policy, CompiledConstraint constraint) {
    byte known = when[constraint.ordinal()];
    if (known == OPEN) {
      BackendTarget backend = scope.backend;
      PoolState pool = scope.pool;
      scope.candidate(null, null); // its value must not depend on who asks first
      int outcome = constraint.when().test(scope);
      if (outcome == Expression.FAILED) {
        failures.add(new Failure(policy.id(), "when", constraint.when().explainFailure(scope)));
      }
      scope.candidate(backend, pool);
      known = (byte) (outcome == Expression.FALSE ? 0 : 1);
      when[constraint.ordinal()] = known;
    }
    return known == 1;
  }

  /** A provider has no endpoints to filter, so a filter that reads one excludes it. */
  private @Nullable EndpointSet provider(BackendTarget backend, int tier, CompiledTier written) {
    if (!state.provider(backend.clusterName()).available()) {
      waitingCanHelp = true;
      remove(backend, tier, Cause.UNAVAILABLE, null, "provider at its limit or failing");
      return null;
    }
    Expression filter = written.endpoints();
    if (filter != null && !passes(filter)) {
      remove(
          backend,
          tier,
          Cause.ENDPOINT_FILTER,
          routing,
          filter.toString(),
          "it does not meet the condition of the route");
      return null;
    }
    return EndpointSet.EMPTY;
  }

  private @Nullable EndpointSet endpoints(
      BackendTarget backend, PoolState pool, int tier, CompiledTier written) {
    Expression filter = written.endpoints();
    int size = pool.size();
    long[] words = new long[(size + 63) >> 6];
    int available = 0;
    boolean eligible = false;
    for (int i = 0; i < size; i++) {
      if (!pool.available(i)) {
        continue;
      }
      available++;
      scope.endpoint = i;
      if (filter == null || passes(filter)) {
        words[i >> 6] |= 1L << i;
        eligible = true;
      }
    }
    scope.endpoint = -1;
    if (eligible) {
      return EndpointSet.of(words);
    }
    waitingCanHelp = true;
    if (available > 0 && filter != null) {
      remove(
          backend, tier, Cause.ENDPOINT_FILTER, routing, filter.toString(), unmet(available, size));
    } else {
      remove(backend, tier, Cause.UNAVAILABLE, null, notReady(size));
    }
    return null;
  }

  private static String notReady(int workers) {
    return switch (workers) {
      case 0 -> "it has no workers";
      case 1 -> "its worker is not ready";
      default -> "none of its " + workers + " workers is ready";
    };
  }

  private static String unmet(int ready, int workers) {
    if (workers == 1) {
      return "its worker does not meet the condition of the route";
    }
    return ready == workers
        ? "none of its " + workers + " workers meets the condition of the route"
        : ready
            + " of its "
            + workers
            + " workers "
            + (ready == 1 ? "is ready and does" : "are ready and do")
            + " not meet the condition of the route";
  }

  private boolean passes(Expression filter) {
    int outcome = filter.test(scope);
    if (outcome == Expression.FAILED && routing != null && !hasFailed(routing, "endpoints")) {
      failures.add(new Failure(routing.id(), "endpoints", filter.explainFailure(scope)));
    }
    return outcome == Expression.TRUE;
  }

  /** One failure per filter is enough: a broken metric fails on every endpoint. */
  private boolean hasFailed(CompiledPolicy policy, String site) {
    for (Failure failure : failures) {
      if (failure.policy().equals(policy.id()) && failure.site().equals(site)) {
        return true;
      }
    }
    return false;
  }

  private boolean remove(
      BackendTarget backend, int tier, Cause cause, @Nullable CompiledPolicy by, String detail) {
    return remove(backend, tier, cause, by, detail, detail);
  }

  private boolean remove(
      BackendTarget backend,
      int tier,
      Cause cause,
      @Nullable CompiledPolicy by,
      String detail,
      String told) {
    removals.add(new Removal(backend.id(), tier, cause, by == null ? null : by.id(), detail, told));
    return true;
  }

  /** What {@code alternative}, with one more policy, would have changed. */
  PolicyTrace.Shadow compare(RoutingConfiguration.Id policy, Narrowing alternative) {
    String before = describe();
    String after = alternative.describe();
    return new PolicyTrace.Shadow(
        policy, !before.equals(after), before.equals(after) ? "no change" : after);
  }

  private String describe() {
    if (tiers.isEmpty()) {
      return "no candidate";
    }
    return choose()
        + " of "
        + tiers.stream()
            .map(tier ->
                tier.candidates().stream()
                    .map(Narrowing::describe)
                    .collect(Collectors.joining(" or ")))
            .collect(Collectors.joining(", then "));
  }

  private static String describe(PolicyPlan.Candidate candidate) {
    BackendTarget backend = candidate.backend();
    return backend.external() ? backend.name() : backend.name() + candidate.endpoints();
  }
}
