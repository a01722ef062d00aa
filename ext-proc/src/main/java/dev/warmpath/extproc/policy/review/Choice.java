package dev.warmpath.extproc.policy.review;

import dev.warmpath.extproc.policy.BackendTarget;
import dev.warmpath.extproc.policy.ClusterState;
import dev.warmpath.extproc.policy.PolicyPlan;
import dev.warmpath.extproc.policy.RequestFacts;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Which backend the chooser takes, by the predictions of a sample state. */
final class Choice {
  private Choice() {}

  /** Null where nothing can be chosen. */
  static @Nullable String of(PolicyPlan plan, RequestFacts request, ClusterState state) {
    if (!(plan instanceof PolicyPlan.Candidates candidates)) {
      return null;
    }
    List<PolicyPlan.Candidate> first = candidates.tiers().getFirst().candidates();
    long fastest = Long.MAX_VALUE;
    for (PolicyPlan.Candidate candidate : first) {
      fastest = Math.min(fastest, ttftNanos(candidate, state));
    }
    PolicyPlan.Candidate best = null;
    for (PolicyPlan.Candidate candidate : first) {
      boolean better =
          best == null
              || switch (candidates.choose()) {
                case Order -> false;
                case PredictedTTFT -> ttftNanos(candidate, state) < ttftNanos(best, state);
                case Cheapest ->
                    isCheaper(
                        candidate, best, request, state, fastest, candidates.ttftSlackNanos());
              };
      best = better ? candidate : best;
    }
    return best == null ? null : best.backend().name();
  }

  private static boolean isCheaper(
      PolicyPlan.Candidate candidate,
      PolicyPlan.Candidate best,
      RequestFacts request,
      ClusterState state,
      long fastest,
      long slack) {
    boolean inTime = ttftNanos(candidate, state) - fastest <= slack;
    boolean bestInTime = ttftNanos(best, state) - fastest <= slack;
    if (inTime != bestInTime) {
      return inTime;
    }
    return inTime
        ? price(candidate.backend(), request) < price(best.backend(), request)
        : ttftNanos(candidate, state) < ttftNanos(best, state);
  }

  private static double price(BackendTarget backend, RequestFacts request) {
    var pricing = backend.pricing();
    return pricing == null
        ? Double.MAX_VALUE
        : pricing.inputPerMillion().doubleValue() * request.promptTokens();
  }

  private static long ttftNanos(PolicyPlan.Candidate candidate, ClusterState state) {
    String cluster = candidate.backend().clusterName();
    if (candidate.backend().external()) {
      return state.provider(cluster).predictedTtftNanos();
    }
    ClusterState.PoolState pool = state.pool(cluster);
    long best = Long.MAX_VALUE;
    for (int i = candidate.endpoints().next(0); i >= 0; i = candidate.endpoints().next(i + 1)) {
      long nanos = pool.predictedTtftNanos(i);
      best = Math.min(best, nanos < 0 ? Long.MAX_VALUE : nanos);
    }
    return best;
  }
}
