package dev.warmpath.extproc.telemetry;

import dev.warmpath.extproc.inflight.InFlightRequest.Outcome;

/** What the access log reports. Thread-safe. */
public interface AccessLogMetrics {

  /**
   * A request ended.
   *
   * @param matched whether the request was still in flight here
   */
  void entry(Outcome outcome, boolean matched);
}
