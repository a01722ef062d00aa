package dev.warmpath.xds.status;

import dev.warmpath.crds.resource.Problem;
import dev.warmpath.crds.resource.Resource;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One resource's standing.
 *
 * @param generation of what is written
 * @param generationInForce of what is in force; 0 if nothing is
 * @param refusals Envoy's own words, each with its gateway
 * @param facts what {@code kubectl get} shows besides
 */
public record ResourceStatus(
    Resource.Key key,
    long generation,
    long generationInForce,
    List<Condition> conditions,
    List<Problem> problems,
    List<Refusal> refusals,
    Facts facts) {

  /** As in Kubernetes: a type, True, False or Unknown, a CamelCase reason, a sentence. */
  public record Condition(String type, Value status, String reason, String message) {}

  public enum Value {
    True,
    False,
    Unknown
  }

  public record Refusal(String gateway, String reason) {}

  /**
   * Counts of a resource that is in force; null where its kind has no such count.
   *
   * @param workers workers that were found
   * @param ready workers that take new requests
   * @param models names that clients can ask for
   * @param target {@code pool/NAME} or {@code provider/NAME}
   * @param keys API keys that were found
   */
  public record Facts(
      @Nullable Integer workers,
      @Nullable Integer ready,
      @Nullable Integer models,
      @Nullable String target,
      @Nullable Integer keys) {
    static final Facts NONE = new Facts(null, null, null, null, null);

    static Facts ofWorkers(int workers, int ready) {
      return new Facts(workers, ready, null, null, null);
    }
  }

  /** The condition of that type. */
  public Condition condition(String type) {
    return conditions.stream()
        .filter(condition -> condition.type().equals(type))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no condition " + type));
  }
}
