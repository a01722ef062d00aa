package dev.warmpath.extproc.predict;

import java.util.Arrays;

/**
 * How far predictions are off, as the median and the 90 % quantile of actual / predicted, by size
 * of the prediction (one band for each power of two) and by whether the prompt had to queue.
 *
 * <p>A band holds the last n ≤ 48 logarithms of actual / predicted in order. If the next one is as
 * likely to take any place among them, it lies at or below the value at place {@code q (n + 1)}
 * (between two places linearly) with probability q, whatever their distribution and scale: errors
 * of 0.1 % give a 90 % quantile 0.1 % away, and one stall is one value at the end.
 *
 * <p>Errors that drift are not like that: the next one tends to the end to which they drift. So the
 * level q of the high quantile is itself adjusted, up by {@code 0.9 g} for each time that was above
 * what had been predicted as high and down by {@code 0.1 g} for each other, within 0.85 and 0.99.
 *
 * <p>What was predicted before the first few first tokens came is not counted: it tells how wrong
 * the prior was, and not how wrong the model is that has learnt since. A band with few samples
 * takes those of all bands.
 *
 * <p>An update moves at most 48 values in each of two arrays and allocates nothing.
 *
 * <p>Not thread-safe: guarded by the router's lock.
 */
final class ResidualQuantiles {
  private static final int BANDS = 12;
  private static final double SMALLEST_SECONDS = 1.0 / 32;

  /** First tokens before which predictions are not counted. */
  private static final int EARLY = 8;

  /** Samples of a band without which it takes those of all. */
  private static final int ENOUGH = 10;

  /** Actual / predicted that is taken for the 90 % quantile before anything is known. */
  private static final double UNKNOWN = Math.log(1.5);

  /** So that of equal times none is above their own quantile by a rounding error. */
  private static final double ROUNDING = 1e-6;

  private final Window[] windows = new Window[2 * BANDS];
  private final Window all = new Window();
  private long firstTokens;

  ResidualQuantiles() {
    Arrays.setAll(windows, i -> new Window());
  }

  private Window window(double seconds, boolean queued) {
    int power = Math.getExponent(seconds / SMALLEST_SECONDS);
    return windows[Math.clamp(power, 0, BANDS - 1) + (queued ? BANDS : 0)];
  }

  private Window estimate(double seconds, boolean queued) {
    Window window = window(seconds, queued);
    return window.size < ENOUGH ? all : window;
  }

  /** Whether so little has been seen that what is predicted now is not to be learnt from. */
  boolean early() {
    return firstTokens < EARLY;
  }

  double median(double seconds, boolean queued) {
    return seconds * Math.exp(estimate(seconds, queued).quantile(0.5));
  }

  double high(double seconds, boolean queued) {
    Window window = estimate(seconds, queued);
    return seconds * Math.exp(ROUNDING + window.high());
  }

  /**
   * A first token has come.
   *
   * @param predictedSeconds the sum of the terms
   * @param highSeconds what {@link #high} said of it
   * @param early what {@link #early} said when it was predicted
   */
  void learn(
      double predictedSeconds,
      double highSeconds,
      boolean queued,
      boolean early,
      double actualSeconds) {
    firstTokens++;
    if (early) {
      return;
    }
    double error =
        Math.log(Math.max(1e-3, actualSeconds)) - Math.log(Math.max(1e-3, predictedSeconds));
    boolean above = actualSeconds > highSeconds;
    window(predictedSeconds, queued).add(error, above);
    all.add(error, above);
  }

  /** The last errors, by age and by size. */
  private static final class Window {
    private static final int MOST = 48;
    private static final double STEP = 0.01;
    private static final double LEAST_LEVEL = 0.85;
    private static final double MOST_LEVEL = 0.99;

    private final float[] byAge = new float[MOST];
    private final float[] bySize = new float[MOST];
    private int size;
    private int next;
    private double level = 0.9;

    void add(double error, boolean above) {
      level = Math.clamp(level + STEP * (above ? 0.9 : -0.1), LEAST_LEVEL, MOST_LEVEL);
      float added = (float) error;
      if (size == MOST) {
        int at = Arrays.binarySearch(bySize, 0, size, byAge[next]);
        System.arraycopy(bySize, at + 1, bySize, at, size - at - 1);
        size--;
      }
      int found = Arrays.binarySearch(bySize, 0, size, added);
      int at = found < 0 ? -found - 1 : found;
      System.arraycopy(bySize, at, bySize, at + 1, size - at);
      bySize[at] = added;
      byAge[next] = added;
      next = (next + 1) % MOST;
      size++;
    }

    /** The value at place {@code q (size + 1)}; 0 of none. */
    double quantile(double q) {
      if (size == 0) {
        return 0;
      }
      double place = Math.clamp(q * (size + 1) - 1, 0, size - 1.0);
      int below = (int) place;
      double low = bySize[below];
      return below == size - 1 ? low : low + (place - below) * (bySize[below + 1] - low);
    }

    double high() {
      if (size < ENOUGH) {
        return size == 0 ? UNKNOWN : Math.max(UNKNOWN, bySize[size - 1]);
      }
      return quantile(level);
    }
  }
}
