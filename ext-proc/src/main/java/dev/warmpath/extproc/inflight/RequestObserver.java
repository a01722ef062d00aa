package dev.warmpath.extproc.inflight;

import dev.warmpath.extproc.inflight.InFlightRequest.Outcome;
import dev.warmpath.extproc.inflight.InFlightRequest.Usage;
import org.jspecify.annotations.Nullable;

/** Told once about every routed request that has ended. Quick, and thread-safe. */
@FunctionalInterface
public interface RequestObserver {
  void ended(Summary summary);

  /**
   * What came of a request.
   *
   * @param cluster Envoy cluster of the last attempt
   * @param external a provider served it
   * @param predictedSeconds median prediction of the last attempt; NaN where there is none
   * @param ttftSeconds from the last attempt to the first token; NaN where it was not seen
   * @param usage null where the upstream reported none
   */
  record Summary(
      String decisionId,
      String cluster,
      String upstreamModel,
      boolean external,
      Outcome outcome,
      double predictedSeconds,
      double ttftSeconds,
      double totalSeconds,
      @Nullable Usage usage) {}
}
