package dev.warmpath.extproc.predict;

/**
 * How far predictions are off, as the median and the 90 % quantile of actual / predicted, by size
 * of the prediction (one band for each power of two) and by whether the prompt had to queue.
 *
 * <p>Quantiles are tracked one sample at a time: up by {@code q * step} when the actual is above,
 * down by {@code (1 - q) * step} when it is below, which settles where the share above is 1 - q and
 * follows drift. A new band takes its start from the pool-wide estimate.
 *
 * <p>Not thread-safe: guarded by the router's lock.
 */
final class ResidualQuantiles {
  private static final int BANDS = 12;
  private static final double SMALLEST_SECONDS = 1.0 / 32;
  private static final double STEP = 0.05;

  private final double[] logMedian = new double[2 * BANDS + 1];
  private final double[] logHigh = new double[2 * BANDS + 1];
  private final long[] samples = new long[2 * BANDS + 1];

  ResidualQuantiles() {
    java.util.Arrays.fill(logHigh, Math.log(1.5));
  }

  private static int band(double seconds, boolean queued) {
    int power = Math.getExponent(seconds / SMALLEST_SECONDS);
    return Math.clamp(power, 0, BANDS - 1) + (queued ? BANDS : 0);
  }

  private int estimate(double seconds, boolean queued) {
    int band = band(seconds, queued);
    return samples[band] < 10 ? 2 * BANDS : band;
  }

  double median(double seconds, boolean queued) {
    return seconds * Math.exp(logMedian[estimate(seconds, queued)]);
  }

  double high(double seconds, boolean queued) {
    int at = estimate(seconds, queued);
    return seconds * Math.exp(Math.max(logHigh[at], logMedian[at]));
  }

  void learn(double predictedSeconds, boolean queued, double actualSeconds) {
    double error =
        Math.log(Math.max(1e-3, actualSeconds)) - Math.log(Math.max(1e-3, predictedSeconds));
    int band = band(predictedSeconds, queued);
    if (samples[band] == 0) {
      logMedian[band] = logMedian[2 * BANDS];
      logHigh[band] = logHigh[2 * BANDS];
    }
    track(band, error);
    track(2 * BANDS, error);
  }

  private void track(int at, double error) {
    long n = ++samples[at];
    double step = STEP * (1 + 10.0 / (n + 5)); // fast at first
    logMedian[at] += step * (error > logMedian[at] ? 0.5 : -0.5);
    logHigh[at] += step * (error > logHigh[at] ? 0.9 : -0.1);
  }
}
