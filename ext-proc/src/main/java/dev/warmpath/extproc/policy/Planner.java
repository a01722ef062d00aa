package dev.warmpath.extproc.policy;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.extproc.label.LabelSource;
import dev.warmpath.extproc.policy.CompiledPolicy.CompiledTier;
import dev.warmpath.extproc.policy.CompiledPolicy.LabelCondition;
import dev.warmpath.extproc.policy.PolicyTrace.Failure;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Plans one request. Reads from top to bottom as the combination rules do: which policies match,
 * whose route decides, what is left of it.
 */
final class Planner {
  private final BackendCatalog backends;
  private final List<CompiledPolicy> policies;
  private final List<PolicySnapshot.Unavailable> unavailable;
  private final int constraintCount;
  private final Scope scope;
  private final ClusterState state;
  private final List<Failure> failures = new ArrayList<>(0);

  Planner(
      BackendCatalog backends,
      List<CompiledPolicy> policies,
      List<PolicySnapshot.Unavailable> unavailable,
      int constraintCount,
      Scope scope,
      ClusterState state) {
    this.backends = backends;
    this.policies = policies;
    this.unavailable = unavailable;
    this.constraintCount = constraintCount;
    this.scope = scope;
    this.state = state;
  }

  PolicyPlan plan() {
    String model = scope.request.model();
    CompiledTier defaultTier = backends.defaultTier(model);
    if (defaultTier == null || !scope.tenant.mayUse(model)) {
      return new PolicyPlan.UnknownModel(PolicyTrace.EMPTY);
    }
    for (PolicySnapshot.Unavailable policy : unavailable) {
      if (policy.models().matches(model)) {
        return new PolicyPlan.FailClosed(
            "Policy '"
                + policy.id().name()
                + "' could forbid this request and can't be evaluated: "
                + policy.reason(),
            trace(List.of()));
      }
    }
    List<CompiledPolicy> matched = matching();
    Narrowing enforced = narrow(matched, defaultTier, failures);
    LabelSource.Pending pending = scope.pending();
    if (pending != null) {
      return new PolicyPlan.AwaitLabels(pending.ready(), pending.maxWaitNanos(), trace(List.of()));
    }
    List<PolicyTrace.Shadow> shadows = shadows(matched, enforced, defaultTier);
    PolicyTrace trace =
        new PolicyTrace(
            matched.stream().map(CompiledPolicy::id).toList(),
            enforced.routing() == null ? null : enforced.routing().id(),
            enforced.removals(),
            scope.labels(),
            failures,
            shadows);
    return enforced.tiers().isEmpty()
        ? NoCandidateReply.of(scope.request.model(), matched, enforced, trace)
        : new PolicyPlan.Candidates(
            enforced.tiers(),
            enforced.choose(),
            enforced.ttftSlackNanos(),
            NoCandidateReply.maxWaitNanos(NoCandidateReply.deciding(matched, enforced)),
            trace);
  }

  private PolicyTrace trace(List<RoutingConfiguration.Id> matched) {
    return new PolicyTrace(matched, null, List.of(), scope.labels(), failures, List.of());
  }

  /** Enforced policies that match and could still change something. */
  private List<CompiledPolicy> matching() {
    List<CompiledPolicy> matched = new ArrayList<>();
    boolean routed = false;
    for (CompiledPolicy policy : policies) {
      // Without constraints only its route can matter, and a higher one has been found: its labels
      // need not be known.
      boolean irrelevant = policy.shadow() || (routed && policy.constraints().isEmpty());
      if (!irrelevant && matches(policy, failures)) {
        matched.add(policy);
        routed |= policy.route() != null;
      }
    }
    return matched;
  }

  /** Cheapest first: names and tenant, then a condition without labels, then labels. */
  private boolean matches(CompiledPolicy policy, List<Failure> failures) {
    if (!policy.matchesNames(scope.request.model(), scope.tenant)) {
      return false;
    }
    Expression condition = policy.condition();
    boolean conditionLast = condition != null && condition.reads("labels");
    if (condition != null && !conditionLast && !holds(policy, condition, failures)) {
      return false;
    }
    for (LabelCondition label : policy.labels()) {
      if (!label.in().contains(scope.label(label.key()))) {
        return false;
      }
    }
    return condition == null || !conditionLast || holds(policy, condition, failures);
  }

  private boolean holds(CompiledPolicy policy, Expression condition, List<Failure> failures) {
    scope.candidate(null, null);
    int outcome = condition.test(scope);
    if (outcome == Expression.FAILED) {
      failures.add(new Failure(policy.id(), "match", condition.explainFailure(scope)));
    }
    return outcome == Expression.TRUE;
  }

  private Narrowing narrow(
      List<CompiledPolicy> matched, CompiledTier defaultTier, List<Failure> failures) {
    return new Narrowing(backends, matched, defaultTier, constraintCount, scope, state, failures);
  }

  /** Each shadow policy by itself on top of what is enforced. */
  private List<PolicyTrace.Shadow> shadows(
      List<CompiledPolicy> matched, Narrowing enforced, CompiledTier defaultTier) {
    List<PolicyTrace.Shadow> shadows = new ArrayList<>(0);
    List<Failure> unheeded = new ArrayList<>(0);
    for (int i = 0; i < policies.size(); i++) {
      CompiledPolicy policy = policies.get(i);
      if (!policy.shadow() || !matches(policy, unheeded)) {
        continue;
      }
      Narrowing alternative = narrow(inserted(matched, policy), defaultTier, unheeded);
      shadows.add(
          scope.pending() == null
              ? enforced.compare(policy.id(), alternative)
              : new PolicyTrace.Shadow(policy.id(), false, "not evaluated: waits for a label"));
    }
    return shadows;
  }

  /** At the place of its precedence; {@code policies} is sorted and holds all of them. */
  private List<CompiledPolicy> inserted(List<CompiledPolicy> matched, CompiledPolicy shadow) {
    List<CompiledPolicy> all = new ArrayList<>(matched.size() + 1);
    for (CompiledPolicy policy : policies) {
      if (isIn(policy, List.of(shadow)) || isIn(policy, matched)) {
        all.add(policy);
      }
    }
    return all;
  }

  @SuppressWarnings("ReferenceEquality") // one instance per policy and snapshot
  private static boolean isIn(CompiledPolicy policy, List<CompiledPolicy> matched) {
    for (CompiledPolicy candidate : matched) {
      if (candidate == policy) {
        return true;
      }
    }
    return false;
  }

  static @Nullable CompiledPolicy routing(List<CompiledPolicy> matched) {
    for (CompiledPolicy policy : matched) {
      if (policy.route() != null) {
        return policy;
      }
    }
    return null;
  }
}
