package dev.warmpath.extproc.predict;

/**
 * How soon a next prompt of one model is to be expected, as a rate.
 *
 * <p>From a moment taken at random, the wait for the next arrival is {@code sum(gap^2) / (2
 * sum(gap))}; its inverse is the rate used here. For independent arrivals that is the ordinary
 * rate. Arrivals in bursts give much less: behind the burst nothing comes for long, so what is put
 * into a queue now delays nobody but the burst itself, which the prediction sees anyway.
 *
 * <p>Not thread-safe: guarded by the router's lock.
 */
public final class ArrivalRate {
  /** About a hundred prompts of memory. */
  private static final double FORGETTING = 0.99;

  /** A night without traffic says no more than a minute without. */
  private static final double LONGEST_GAP_SECONDS = 60;

  /**
   * Before anything is known: one gap of this length. The first prompts of a burst are close to
   * each other and say nothing of what comes after it.
   */
  private static final double FIRST_GAP_SECONDS = 10;

  private double gapSeconds = FIRST_GAP_SECONDS;
  private double gapSquares = FIRST_GAP_SECONDS * FIRST_GAP_SECONDS;
  private long lastNanos;
  private boolean started;

  public void arrived(long nowNanos) {
    if (started) {
      double gap = Math.clamp((nowNanos - lastNanos) * 1e-9, 0, LONGEST_GAP_SECONDS);
      gapSeconds = FORGETTING * gapSeconds + gap;
      gapSquares = FORGETTING * gapSquares + gap * gap;
    }
    started = true;
    lastNanos = nowNanos;
  }

  public double perSecond() {
    return 2 * gapSeconds / gapSquares;
  }
}
