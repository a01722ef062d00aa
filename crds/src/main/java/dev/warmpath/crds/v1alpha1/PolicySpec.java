package dev.warmpath.crds.v1alpha1;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Rules over tenant, requested model, labels and cluster state: constraints first, then ordered
 * candidates.
 */
public record PolicySpec(
    int priority,
    Mode mode,
    Match match,
    List<Constraint> constraints,
    @Nullable Route route,
    OnNoCandidate onNoCandidate) {

  public enum Mode {
    Enforce,
    Shadow
  }

  /** Every part given must hold; none given matches every request. */
  public record Match(
      List<String> models,
      @Nullable TenantMatch tenants,
      List<LabelMatch> labels,
      @Nullable String condition) {}

  public record TenantMatch(List<String> names, Map<String, String> labels) {}

  public record LabelMatch(String key, List<String> in) {}

  /** Cuts the candidate set, for the choice and every retry and fallback after it. */
  public record Constraint(String name, String when, String exclude, String message) {}

  public record Route(List<Tier> tiers, Choose choose, Duration ttftSlack) {}

  public record Tier(BackendSelector backends, @Nullable String endpoints) {}

  /** Backends by name, by label, or both (then both must hold). */
  public record BackendSelector(List<String> names, Map<String, String> labels) {}

  public enum Choose {
    PredictedTTFT,
    Cheapest,
    Order
  }

  public record OnNoCandidate(
      Action action, int status, @Nullable Duration retryAfter, @Nullable Duration maxWait) {
    public enum Action {
      Reject,
      Queue
    }
  }
}
