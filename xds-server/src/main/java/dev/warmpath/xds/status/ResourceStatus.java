package dev.warmpath.xds.status;

import dev.warmpath.crds.resource.Problem;
import dev.warmpath.crds.resource.Resource;
import java.util.List;

/**
 * One resource's standing.
 *
 * @param generation of what is written
 * @param generationInForce of what is in force; 0 if nothing is
 * @param refusals Envoy's own words, each with its gateway
 */
public record ResourceStatus(
    Resource.Key key,
    long generation,
    long generationInForce,
    List<Condition> conditions,
    List<Problem> problems,
    List<Refusal> refusals) {

  /** As in Kubernetes: a type, True, False or Unknown, a CamelCase reason, a sentence. */
  public record Condition(String type, Value status, String reason, String message) {}

  public enum Value {
    True,
    False,
    Unknown
  }

  public record Refusal(String gateway, String reason) {}
}
