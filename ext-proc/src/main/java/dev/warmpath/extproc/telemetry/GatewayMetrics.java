package dev.warmpath.extproc.telemetry;

import dev.warmpath.extproc.inflight.InFlightRequest.Outcome;
import java.util.concurrent.atomic.LongAdder;

/** Meters of the whole processor. */
public final class GatewayMetrics
    implements StreamMetrics, AccessLogMetrics, ConfigMetrics, ScrapeMetrics {
  private final LongAdder decisions = new LongAdder();

  @Override
  public void decided(String kind, long elapsedNanos) {
    decisions.increment();
  }

  @Override
  public void deferred() {}

  @Override
  public void bufferFull() {}

  @Override
  public void overloaded() {}

  @Override
  public void failed() {}

  @Override
  public void entry(Outcome outcome, boolean matched) {}

  @Override
  public void applied() {}

  @Override
  public void refused() {}

  @Override
  public void notSaved() {}

  @Override
  public void connected(boolean connected) {}

  @Override
  public void scraped(boolean read, long elapsedNanos) {}

  @Override
  public void restarted() {}
}
