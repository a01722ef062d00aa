package dev.warmpath.extproc.predict;

/**
 * How much slower one worker is than its kind: 1 is average, 3 takes three times as long.
 *
 * <p>{@code log s += rate * clip(log(observed / expected))}. The clip bounds what one outlier can
 * do (15 %), and a sample that is off by more than a factor of four counts only if the sample
 * before it was off in the same direction: a stall is one sample, a slow worker is all of them.
 * From 1 to 3 takes about 15 requests. Without evidence the factor drifts back to 1, half way in
 * about 140.
 *
 * <p>Not thread-safe: guarded by the router's lock.
 */
final class WorkerSpeed {
  private static final double RATE = 0.2;
  private static final double CLIP = 0.7;
  private static final double SUSPECT = 1.4;
  private static final double DRIFT = 0.995;
  private static final double BOUND = Math.log(20);

  private double logFactor;
  private double previous;

  /** Of {@code logFactor}: asked for several times a prediction, changed once an answer. */
  private double factor = 1;

  double factor() {
    return factor;
  }

  void learn(double observedSeconds, double expectedAtSpeedOne) {
    double error =
        Math.log(Math.max(1e-3, observedSeconds))
            - Math.log(Math.max(1e-3, expectedAtSpeedOne))
            - logFactor;
    boolean suspect = Math.abs(error) > SUSPECT && error * previous <= 0;
    previous = Math.abs(error) > CLIP ? error : 0;
    if (suspect) {
      return;
    }
    double step = RATE * Math.clamp(error, -CLIP, CLIP);
    logFactor = Math.clamp(DRIFT * logFactor + step, -BOUND, BOUND);
    factor = Math.exp(logFactor);
  }

  void reset() {
    logFactor = 0;
    factor = 1;
    previous = 0;
  }
}
