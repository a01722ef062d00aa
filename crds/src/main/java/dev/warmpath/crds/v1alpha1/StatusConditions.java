package dev.warmpath.crds.v1alpha1;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Conditions over time: equal in, equal out, so that a writer can see that there is nothing to
 * write.
 */
public final class StatusConditions {
  /** The schema's bound on a message. */
  private static final int MAX_MESSAGE_LENGTH = 32_768;

  private StatusConditions() {}

  /** A condition as it is found, before it has a history. */
  public record Finding(
      String type,
      StatusCondition.Status status,
      @Nullable Long observedGeneration,
      String reason,
      String message) {}

  /**
   * The findings as conditions, in their order. {@code lastTransitionTime} is taken from the
   * condition of the same type in {@code before} as long as the status is the same, and is {@code
   * now} (in seconds) otherwise. Types of {@code before} that were not found again are dropped.
   */
  public static List<StatusCondition> update(
      List<StatusCondition> before, List<Finding> findings, Instant now) {
    List<StatusCondition> after = new ArrayList<>();
    for (Finding finding : findings) {
      String time = now.truncatedTo(ChronoUnit.SECONDS).toString();
      for (StatusCondition old : before) {
        if (old.type().equals(finding.type()) && old.status() == finding.status()) {
          time = old.lastTransitionTime();
        }
      }
      after.add(
          new StatusCondition(
              finding.type(),
              finding.status(),
              finding.observedGeneration(),
              time,
              finding.reason(),
              shorten(finding.message())));
    }
    return List.copyOf(after);
  }

  private static String shorten(String message) {
    return message.length() <= MAX_MESSAGE_LENGTH
        ? message
        : message.substring(0, MAX_MESSAGE_LENGTH - 1) + "…";
  }
}
