package dev.warmpath.xds.serve;

import dev.warmpath.xds.telemetry.XdsMetrics;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gateways that were turned away for their certificate or token. All are counted; a reason is
 * logged when it is another than the last, as a gateway comes back every second. Thread-safe.
 */
final class Refusals {
  private static final Logger log = LoggerFactory.getLogger(Refusals.class);

  private final XdsMetrics metrics;
  private volatile String last = "";

  Refusals(XdsMetrics metrics) {
    this.metrics = metrics;
  }

  void certificate(String reason) {
    add("certificate", reason);
  }

  void token(String reason) {
    add("token", reason);
  }

  private void add(String by, String reason) {
    metrics.turnedAway(by);
    if (!reason.equals(last)) {
      last = reason;
      log.warn("a gateway is refused: {}", reason);
    }
  }
}
