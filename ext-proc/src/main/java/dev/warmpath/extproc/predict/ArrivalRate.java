package dev.warmpath.extproc.predict;

/**
 * Prompts per second of one model, averaged over about a minute.
 *
 * <p>Not thread-safe: guarded by the router's lock.
 */
public final class ArrivalRate {
  private static final double MEMORY_SECONDS = 60;

  private double count;
  private double weightSeconds;
  private long lastNanos;

  public void arrived(long nowNanos) {
    decay(nowNanos);
    count++;
  }

  private void decay(long nowNanos) {
    double seconds = lastNanos == 0 ? 0 : Math.max(0, nowNanos - lastNanos) * 1e-9;
    double keep = Math.exp(-seconds / MEMORY_SECONDS);
    count *= keep;
    weightSeconds = weightSeconds * keep + MEMORY_SECONDS * (1 - keep);
    lastNanos = nowNanos;
  }

  /** Zero before anything can be said. */
  public double perSecond() {
    return weightSeconds < 1 ? 0 : count / weightSeconds;
  }
}
