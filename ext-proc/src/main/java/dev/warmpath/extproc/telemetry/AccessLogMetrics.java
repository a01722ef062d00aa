package dev.warmpath.extproc.telemetry;

import dev.warmpath.extproc.inflight.InFlightRequest.Outcome;
import org.jspecify.annotations.Nullable;

/** What the access log reports. Thread-safe. */
public interface AccessLogMetrics {

  /**
   * A request ended.
   *
   * @param outcome null where the gateway answered by itself
   * @param inFlight whether the request was still in flight here
   */
  void entry(@Nullable Outcome outcome, boolean inFlight);
}
