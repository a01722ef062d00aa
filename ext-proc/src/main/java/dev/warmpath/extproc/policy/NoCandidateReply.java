package dev.warmpath.extproc.policy;

import dev.warmpath.crds.v1alpha1.PolicySpec.OnNoCandidate;
import dev.warmpath.crds.v1alpha1.PolicySpec.OnNoCandidate.Action;
import dev.warmpath.extproc.policy.CompiledPolicy.CompiledConstraint;
import dev.warmpath.extproc.policy.PolicyTrace.Cause;
import dev.warmpath.extproc.policy.PolicyTrace.Removal;
import java.time.Duration;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Words and status for a request whose candidates were all cut. */
final class NoCandidateReply {
  private static final Duration DEFAULT_MAX_WAIT = Duration.ofSeconds(60);

  private NoCandidateReply() {}

  /**
   * The policy whose route was taken decides what happens; with the default route, the highest
   * policy that matched; without any, a plain 503. Waiting is for states that change: a request
   * that nothing could serve later is rejected at once.
   */
  static PolicyPlan of(
      String model, List<CompiledPolicy> matched, Narrowing narrowing, PolicyTrace trace) {
    List<Removal> removals = narrowing.removals();
    boolean onlyHidden = all(removals, Set.of(Cause.TENANT));
    if (!onlyHidden
        && all(
            removals,
            EnumSet.of(
                Cause.TENANT, Cause.DIALECT, Cause.CONTEXT_LENGTH, Cause.TOOLS, Cause.VISION))) {
      return new PolicyPlan.NoCandidate(
          Action.Reject, "capability_missing", capabilities(model, removals), 400, 0, 0, trace);
    }
    CompiledPolicy deciding = deciding(matched, narrowing);
    boolean constrained =
        removals.stream().anyMatch(removal -> removal.cause() == Cause.CONSTRAINT);
    String code = constrained ? "policy_excluded" : "no_capacity";
    String message = message(model, matched, deciding, removals);
    if (deciding == null) {
      return new PolicyPlan.NoCandidate(Action.Reject, code, message, 503, 2, 0, trace);
    }
    OnNoCandidate wanted = deciding.onNoCandidate();
    boolean queue = wanted.action() == Action.Queue && narrowing.waitingCanHelp();
    return new PolicyPlan.NoCandidate(
        queue ? Action.Queue : Action.Reject,
        code,
        message,
        wanted.status(),
        seconds(wanted.retryAfter()),
        queue ? maxWaitNanos(deciding) : 0,
        trace);
  }

  /** Whose route was taken, else who matched first; null where no policy matched. */
  static @Nullable CompiledPolicy deciding(List<CompiledPolicy> matched, Narrowing narrowing) {
    CompiledPolicy routing = narrowing.routing();
    return routing != null || matched.isEmpty() ? routing : matched.getFirst();
  }

  /** 0 where that policy does not queue. */
  static long maxWaitNanos(@Nullable CompiledPolicy deciding) {
    if (deciding == null || deciding.onNoCandidate().action() != Action.Queue) {
      return 0;
    }
    Duration maxWait = deciding.onNoCandidate().maxWait();
    return (maxWait == null ? DEFAULT_MAX_WAIT : maxWait).toNanos();
  }

  private static boolean all(List<Removal> removals, Set<Cause> causes) {
    return removals.stream().allMatch(removal -> causes.contains(removal.cause()));
  }

  private static int seconds(@Nullable Duration duration) {
    return duration == null ? 0 : (int) Math.min(86_400, (duration.toMillis() + 999) / 1000);
  }

  private static String capabilities(String model, List<Removal> removals) {
    Set<String> missing = new LinkedHashSet<>();
    for (Removal removal : removals) {
      if (removal.cause() != Cause.TENANT) {
        missing.add(removal.detail());
      }
    }
    return "Nothing that serves model '"
        + model
        + "' can take this request: "
        + String.join("; ", missing)
        + ".";
  }

  /** Never names a backend that the tenant may not use. */
  private static String message(
      String model,
      List<CompiledPolicy> matched,
      @Nullable CompiledPolicy deciding,
      List<Removal> removals) {
    Set<String> reasons = new LinkedHashSet<>();
    for (Removal removal : removals) {
      switch (removal.cause()) {
        case CONSTRAINT -> reasons.add(constraint(matched, removal));
        case ENDPOINT_FILTER ->
            reasons.add("'" + removal.backend().name() + "' is left out (" + removal.told() + ")");
        case UNAVAILABLE ->
            reasons.add(
                "'" + removal.backend().name() + "' is unavailable (" + removal.told() + ")");
        case DIALECT, CONTEXT_LENGTH, TOOLS, VISION ->
            reasons.add("'" + removal.backend().name() + "' is unfit (" + removal.told() + ")");
        case TENANT -> {}
      }
    }
    if (reasons.isEmpty()) {
      reasons.add("its route has no backend that you may use");
    }
    return "No candidate for model '"
        + model
        + "'"
        + (deciding == null ? "" : " under policy '" + deciding.id().name() + "'")
        + ": "
        + String.join("; ", reasons)
        + ".";
  }

  private static String constraint(List<CompiledPolicy> matched, Removal removal) {
    for (CompiledPolicy policy : matched) {
      if (policy.id().equals(removal.by())) {
        for (CompiledConstraint constraint : policy.constraints()) {
          if (constraint.name().equals(removal.detail())) {
            return constraint.message()
                + " (policy '"
                + policy.id().name()
                + "', constraint '"
                + constraint.name()
                + "')";
          }
        }
      }
    }
    return "constraint '" + removal.detail() + "'";
  }
}
