package dev.warmpath.xds.kubernetes;

import dev.warmpath.crds.v1alpha1.StatusCondition;
import dev.warmpath.xds.status.ResourceStatus;
import dev.warmpath.xds.status.ResourceStatus.Condition;
import dev.warmpath.xds.status.ResourceStatus.Value;
import dev.warmpath.xds.status.StatusReport;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Something of a resource that an operator must notice, told as a Kubernetes Event: that it went
 * wrong, and that it is right again.
 *
 * @param reason CamelCase; the condition's reason, or its type when it holds again
 */
record Notice(boolean isWarning, String reason, String message) {

  /** What is new against the conditions that the object has. Nothing new, no notice. */
  static List<Notice> of(List<StatusCondition> before, ResourceStatus now) {
    List<Notice> notices = new ArrayList<>();
    for (Condition condition : now.conditions()) {
      StatusCondition old = find(before, condition.type());
      if (isBad(condition.type(), condition.status().name(), condition.reason())) {
        boolean isTold =
            old != null
                && wasBad(old)
                && old.reason().equals(condition.reason())
                && Long.valueOf(now.generation()).equals(old.observedGeneration());
        if (!isTold) {
          notices.add(new Notice(true, condition.reason(), condition.message()));
        }
      } else if (old != null && wasBad(old) && condition.status() == Value.True) {
        notices.add(new Notice(false, condition.type(), "solved: was " + old.reason()));
      }
    }
    return notices;
  }

  private static boolean wasBad(StatusCondition old) {
    return isBad(old.type(), old.status().name(), old.reason());
  }

  /** What passes by itself, or follows from another condition, is not told. */
  private static boolean isBad(String type, String status, String reason) {
    return status.equals(Value.False.name())
        && switch (type) {
          case StatusReport.PROGRAMMED -> reason.equals(StatusReport.REFUSED);
          case StatusReport.READY -> reason.equals(StatusReport.NO_READY_WORKERS);
          default -> true;
        };
  }

  private static @Nullable StatusCondition find(List<StatusCondition> conditions, String type) {
    for (StatusCondition condition : conditions) {
      if (condition.type().equals(type)) {
        return condition;
      }
    }
    return null;
  }
}
