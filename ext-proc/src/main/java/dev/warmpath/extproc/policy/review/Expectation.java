package dev.warmpath.extproc.policy.review;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.extproc.policy.PolicyPlan;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

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
   * What came of an expectation.
   *
   * @param holds whether it is as expected
   * @param got what is there
   */
  public record Result(Expectation expectation, boolean holds, String got) {
    /** {@code passed backend=qwen-local}; a failure says what is there instead. */
    public String line() {
      return holds
          ? "passed    " + expectation + gotMore()
          : "FAILED    expected " + expectation + ", got " + got;
    }

    private String gotMore() {
      return got.equals(expectation.value()) ? "" : ", got " + got;
    }
  }

  /**
   * Reads {@code backend=qwen-local}.
   *
   * @throws IllegalArgumentException for another form, and for a value that nothing ever has
   */
  public static Expectation parse(String text) {
    int equals = text.indexOf('=');
    for (Subject subject : Subject.values()) {
      if (equals > 0
          && subject.name().equalsIgnoreCase(text.substring(0, equals))
          && equals < text.length() - 1) {
        return checked(new Expectation(subject, text.substring(equals + 1)));
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

  private static Expectation checked(Expectation expectation) {
    String value = expectation.value();
    switch (expectation.subject()) {
      case STATUS -> {
        if (!value.matches("[1-5][0-9]{2}")) {
          throw new IllegalArgumentException(
              "'"
                  + expectation
                  + "' is no expectation: a status is a number such as 200 or 503 (that a request"
                  + " waits is queued=true)");
        }
      }
      case QUEUED -> {
        if (!value.equals("true") && !value.equals("false")) {
          throw new IllegalArgumentException(
              "'" + expectation + "' is no expectation: write queued=true or queued=false");
        }
      }
      case BACKEND, NEVER, POLICY -> {}
    }
    return expectation;
  }

  /** Whether it holds for that request, and what is there. */
  public Result of(ReviewedRequest reviewed) {
    return switch (subject) {
      case BACKEND -> same(reviewed.chosen() == null ? "none" : reviewed.chosen());
      case NEVER -> new Result(this, !contains(reviewed.plan(), value), reviewed.outcome());
      case STATUS -> same(status(reviewed.plan()));
      case POLICY -> same(policy(reviewed.plan()));
      case QUEUED -> same(Boolean.toString(isQueued(reviewed.plan())));
    };
  }

  private Result same(String got) {
    return new Result(this, got.equals(value), got);
  }

  @Override
  public String toString() {
    return subject.name().toLowerCase(Locale.ROOT) + "=" + value;
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
