package dev.warmpath.extproc.policy;

import dev.warmpath.crds.v1alpha1.PolicySpec;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** What policies allow for one request. */
public sealed interface PolicyPlan {

  PolicyTrace trace();

  /**
   * Where the request may go. Every constraint has been applied to every tier: an attempt, retry or
   * fallback that stays inside {@code tiers} keeps all of them, and one that leaves it breaks a
   * policy. A request that was queued is planned anew on release.
   *
   * @param tiers at least one; each has at least one candidate now; the first decides, the others
   *     are fallbacks in order
   * @param choose how to choose inside a tier
   * @param ttftSlackNanos for {@code Cheapest}: how much slower than the fastest is acceptable
   * @param saturatedMaxWaitNanos how long the deciding policy lets a request wait where every
   *     candidate has its limit of work; 0 for not at all
   */
  record Candidates(
      List<Tier> tiers,
      PolicySpec.Choose choose,
      long ttftSlackNanos,
      long saturatedMaxWaitNanos,
      PolicyTrace trace)
      implements PolicyPlan {
    public Candidates {
      tiers = List.copyOf(tiers);
    }
  }

  /**
   * Candidates of equal standing.
   *
   * @param index position in the route that was written, counted from 0
   */
  record Tier(int index, List<Candidate> candidates) {
    public Tier {
      candidates = List.copyOf(candidates);
    }
  }

  /**
   * One backend that may be used.
   *
   * @param endpoints indices into the pool's state; empty for a provider
   */
  record Candidate(BackendTarget backend, EndpointSet endpoints) {}

  /** No backend serves that name for this tenant: 404, whatever the reason. */
  record UnknownModel(PolicyTrace trace) implements PolicyPlan {}

  /**
   * Backends exist, and each is excluded, unfit or without an available endpoint.
   *
   * @param action what the deciding policy wants, or a plain 503 of the default route
   * @param code {@code policy_excluded}, {@code capability_missing} or {@code no_capacity}
   * @param message for the client; names the policy and constraint that cut the last candidate
   * @param status of a rejection
   * @param retryAfterSeconds 0 for none
   * @param maxWaitNanos of a queued request
   */
  record NoCandidate(
      PolicySpec.OnNoCandidate.Action action,
      String code,
      String message,
      int status,
      int retryAfterSeconds,
      long maxWaitNanos,
      PolicyTrace trace)
      implements PolicyPlan {}

  /**
   * A policy that could matter can't be evaluated at all: 503.
   *
   * @param message for the client; names the policy
   */
  record FailClosed(String message, PolicyTrace trace) implements PolicyPlan {}

  /**
   * A label is on its way (webhook). Plan again when {@code ready} completes; it always completes,
   * normally, within the classifier's deadline.
   */
  record AwaitLabels(CompletionStage<?> ready, long maxWaitNanos, PolicyTrace trace)
      implements PolicyPlan {}
}
