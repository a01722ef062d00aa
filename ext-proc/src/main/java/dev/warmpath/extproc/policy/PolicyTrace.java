package dev.warmpath.extproc.policy;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.extproc.label.Label;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Why a plan is as it is, for the decision record. Holds names and numbers, never prompt text.
 *
 * @param matched enforced policies that matched, in order of precedence
 * @param decidedBy the policy whose route was taken; null for the default route
 * @param removals what was cut, and by whom
 * @param labels every label that was evaluated
 * @param failures expressions that failed, each of which narrowed
 * @param shadows what each matching shadow policy would have changed
 */
public record PolicyTrace(
    List<RoutingConfiguration.Id> matched,
    RoutingConfiguration.@Nullable Id decidedBy,
    List<Removal> removals,
    Map<String, Label> labels,
    List<Failure> failures,
    List<Shadow> shadows) {
  public static final PolicyTrace EMPTY =
      new PolicyTrace(List.of(), null, List.of(), Map.of(), List.of(), List.of());

  public PolicyTrace {
    matched = List.copyOf(matched);
    removals = List.copyOf(removals);
    labels = Map.copyOf(labels);
    failures = List.copyOf(failures);
    shadows = List.copyOf(shadows);
  }

  /**
   * One backend that is not a candidate.
   *
   * @param tier position in the route
   * @param by policy of a constraint or endpoint filter, else null
   * @param detail name of the constraint, the filter's text, or what is missing: for the operator
   * @param told the same for whoever asked: counts and names of backends, never of workers, and
   *     nothing of what the operator wrote
   */
  public record Removal(
      RoutingConfiguration.Id backend,
      int tier,
      Cause cause,
      RoutingConfiguration.@Nullable Id by,
      String detail,
      String told) {}

  public enum Cause {
    TENANT,
    DIALECT,
    CONTEXT_LENGTH,
    TOOLS,
    VISION,
    CONSTRAINT,
    ENDPOINT_FILTER,
    UNAVAILABLE
  }

  /**
   * One expression that failed.
   *
   * @param site {@code match}, {@code when}, {@code exclude} or {@code endpoints}
   */
  public record Failure(RoutingConfiguration.Id policy, String site, String message) {}

  /**
   * What a policy in shadow mode would have done.
   *
   * @param outcome what would have happened, in words
   */
  public record Shadow(RoutingConfiguration.Id policy, boolean changed, String outcome) {}
}
