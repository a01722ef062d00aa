package dev.warmpath.extproc.predict;

import java.util.Arrays;

/** The last predictions against what came: the live error of a worker or a pool. */
public final class PredictionError {
  private static final int WINDOW = 256;

  private final float[] relative = new float[WINDOW];
  private final boolean[] covered = new boolean[WINDOW];
  private long count;

  /** Adds one pair, in seconds. */
  public synchronized void add(double median, double high, double actual) {
    int at = (int) (count++ % WINDOW);
    relative[at] = (float) (Math.abs(actual - median) / Math.max(1e-3, actual));
    covered[at] = actual <= high;
  }

  public synchronized long count() {
    return count;
  }

  /** Median of |actual - predicted| / actual over the last 256; NaN before the first. */
  public synchronized double medianAbsoluteRatio() {
    int n = (int) Math.min(count, WINDOW);
    if (n == 0) {
      return Double.NaN;
    }
    float[] sorted = Arrays.copyOf(relative, n);
    Arrays.sort(sorted);
    return sorted[n / 2];
  }

  /** Share of actuals at or below the predicted 90 % quantile, over the last 256. */
  public synchronized double coverage() {
    int n = (int) Math.min(count, WINDOW);
    int inside = 0;
    for (int i = 0; i < n; i++) {
      inside += covered[i] ? 1 : 0;
    }
    return n == 0 ? Double.NaN : (double) inside / n;
  }
}
