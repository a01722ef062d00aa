package dev.warmpath.extproc.policy.review;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.extproc.policy.PolicyPlan;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What a test expects of a reviewed request, written {@code subject=value}.
 *
 * @param subject what is looked at
 */
public record Expectation(Subject subject, String value) {
  /** What can be expected. */
  public enum Subject {
    /** The backend that is tried first. */
    BACKEND,
    /** A backend that is in no tier, so that no retry reaches it. */
    NEVER,
    /** The HTTP status of the refusal. */
    STATUS,
    /** The policy whose route decides; {@code default} for none. */
    POLICY,
    /** {@code true}: it waits. */
    QUEUED
  }

  /**
   * Reads {@code backend=qwen-local}.
   *
   * @throws IllegalArgumentException for another form
   */
  public static Expectation parse(String text) {
    int equals = text.indexOf('=');
    for (Subject subject : Subject.values()) {
      if (equals > 0
          && subject.name().equalsIgnoreCase(text.substring(0, equals))
          && equals < text.length() - 1) {
        return new Expectation(subject, text.substring(equals + 1));
      }
    }
    throw new IllegalArgumentException(
        "'"
            + text
            + "' is no expectation: write one of "
            + Arrays.stream(Subject.values())
                .map(subject -> subject.name().toLowerCase(Locale.ROOT) + "=…")
                .collect(Collectors.joining(", ")));
  }

  /** Null if it holds, else what is instead. */
  public @Nullable String mismatch(ReviewedRequest reviewed) {
    String actual =
        switch (subject) {
          case BACKEND -> reviewed.chosen() == null ? "none" : reviewed.chosen();
          case NEVER -> contains(reviewed.plan(), value) ? "in the plan" : value;
          case STATUS -> status(reviewed.plan());
          case POLICY -> policy(reviewed.plan());
          case QUEUED -> Boolean.toString(isQueued(reviewed.plan()));
        };
    return actual.equals(value)
        ? null
        : "expected " + subject.name().toLowerCase(Locale.ROOT) + "=" + value + ", got " + actual;
  }

  private static boolean contains(PolicyPlan plan, String backend) {
    return plan instanceof PolicyPlan.Candidates candidates
        && candidates.tiers().stream()
            .flatMap(tier -> tier.candidates().stream())
            .anyMatch(candidate -> candidate.backend().name().equals(backend));
  }

  private static String status(PolicyPlan plan) {
    return switch (plan) {
      case PolicyPlan.Candidates candidates -> "200";
      case PolicyPlan.UnknownModel unknown -> "404";
      case PolicyPlan.FailClosed closed -> "503";
      case PolicyPlan.NoCandidate none -> isQueued(none) ? "queued" : "" + none.status();
      case PolicyPlan.AwaitLabels waiting -> "waits";
    };
  }

  private static boolean isQueued(PolicyPlan plan) {
    return plan instanceof PolicyPlan.NoCandidate none
        && none.action() == dev.warmpath.crds.v1alpha1.PolicySpec.OnNoCandidate.Action.Queue;
  }

  private static String policy(PolicyPlan plan) {
    RoutingConfiguration.Id decidedBy = plan.trace().decidedBy();
    return decidedBy == null ? "default" : decidedBy.name();
  }
}
