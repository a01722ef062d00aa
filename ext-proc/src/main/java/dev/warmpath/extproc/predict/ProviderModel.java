package dev.warmpath.extproc.predict;

/**
 * Time to first token of one provider's model: tracked quantiles of what was observed, and a
 * penalty after failures that halves every ten seconds.
 *
 * <p>Not thread-safe: guarded by the router's lock.
 */
public final class ProviderModel {
  private static final double STEP = 0.1;
  private static final double PENALTY_SECONDS = 2;
  private static final double MAX_PENALTY_SECONDS = 60;
  private static final double PENALTY_HALF_LIFE_NANOS = 10e9;

  private final PredictionError error = new PredictionError();
  private double logMedian;
  private double logHigh;
  private long samples;
  private double penaltySeconds;
  private long penaltyNanos;
  private int inFlight;

  public ProviderModel(double expectedTtftSeconds) {
    logMedian = Math.log(Math.max(1e-3, expectedTtftSeconds));
    logHigh = logMedian + Math.log(2);
  }

  public PredictionError error() {
    return error;
  }

  public double medianSeconds(long nowNanos) {
    return Math.exp(logMedian) + penalty(nowNanos);
  }

  public double highSeconds(long nowNanos) {
    return Math.exp(Math.max(logMedian, logHigh)) + penalty(nowNanos);
  }

  private double penalty(long nowNanos) {
    return penaltySeconds
        * Math.pow(0.5, Math.max(0, nowNanos - penaltyNanos) / PENALTY_HALF_LIFE_NANOS);
  }

  public int inFlight() {
    return inFlight;
  }

  public void reserved() {
    inFlight++;
  }

  public void released() {
    inFlight--;
  }

  public void observed(double ttftSeconds) {
    samples++;
    double error = Math.log(Math.max(1e-3, ttftSeconds));
    double step = STEP * (1 + 5.0 / (samples + 4));
    logMedian += step * (error > logMedian ? 0.5 : -0.5);
    logHigh += step * (error > logHigh ? 0.9 : -0.1);
  }

  /** An attempt failed: the next ones go elsewhere for a while, longer if failures repeat. */
  public void failed(long nowNanos) {
    penaltySeconds = Math.min(MAX_PENALTY_SECONDS, 2 * penalty(nowNanos) + PENALTY_SECONDS);
    penaltyNanos = nowNanos;
  }
}
