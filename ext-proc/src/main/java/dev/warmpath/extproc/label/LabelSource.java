package dev.warmpath.extproc.label;

import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Labels of one request by key; a label is computed when it is asked for, once. */
@FunctionalInterface
public interface LabelSource {
  /** No classifier at all: every label is unknown. */
  LabelSource NONE = key -> Label.unknown(Label.Source.NONE, "no classifier gives it", 0);

  /** Never null and never throws; a key that nobody knows is unknown. */
  Label label(String key);

  /**
   * Labels that were asked for and are still on their way, for which {@link #label} says unknown so
   * far; null if there are none.
   */
  default @Nullable Pending pending() {
    return null;
  }

  /**
   * Labels on their way.
   *
   * @param ready completes normally, within {@code maxWaitNanos}
   */
  record Pending(CompletionStage<?> ready, long maxWaitNanos) {}
}
