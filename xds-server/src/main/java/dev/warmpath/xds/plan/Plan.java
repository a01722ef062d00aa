package dev.warmpath.xds.plan;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.resource.Problem;
import dev.warmpath.crds.resource.Resource;
import dev.warmpath.xds.model.GatewayModel;
import java.util.List;
import java.util.Map;

/**
 * The outcome of planning.
 *
 * @param states every resource that is written, good or not
 */
public record Plan(
    GatewayModel model,
    RoutingConfiguration routing,
    List<Problem> problems,
    Map<Resource.Key, State> states) {
  public Plan {
    problems = List.copyOf(problems);
    states = Map.copyOf(states);
  }

  /**
   * Where a resource stands.
   *
   * @param generation of what is written
   * @param generationInForce of what is in force; 0 if nothing is
   */
  public record State(long generation, long generationInForce, Acceptance acceptance) {}

  /** What became of the version that is written. */
  public enum Acceptance {
    /** In force. */
    ACCEPTED,
    /** Not accepted; an earlier version is in force. */
    LAST_GOOD,
    /** Not accepted, and there is no earlier version. */
    REFUSED
  }
}
