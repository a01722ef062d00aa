package dev.warmpath.extproc.predict;

/**
 * How soon a next prompt of one model is to be expected, as a rate.
 *
 * <p>From a moment taken at random, the wait for the next arrival is {@code sum(gap^2) / (2
 * sum(gap))}; its inverse is the rate used here. For independent arrivals that is the ordinary
 * rate. Arrivals in bursts give much less: behind the burst nothing comes for long, so what is put
 * into a queue now delays nobody but the burst itself, which the prediction sees anyway.
 *
 * <p>Where busy times last, the next seconds are like the last ones, and that rate says too little
 * in the midst of them. So the rate of the last seconds counts as well, by as much as the counts of
 * successive windows have gone together: the autocorrelation at lag one, which is zero for
 * independent arrivals and below zero for bursts out of silence.
 *
 * <pre>
 *   rate = (1 - r) x 2 sum(gap) / sum(gap^2) + r x recent
 * </pre>
 *
 * <p>Where they go is remembered as well: a worker that gets every second prompt has half of the
 * rate, and one that gets none has nobody to wait behind what is put there.
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

  /** Prompts for each worker by which its share is known. */
  private static final int PROMPTS_FOR_EACH = 16;

  /**
   * So many prompts a worker are taken to have gone evenly: the first few of a burst say little.
   */
  private static final double PRIOR_PROMPTS = 8;

  /** Time constant of the rate of the last seconds. */
  private static final double RECENT_SECONDS = 8;

  private static final long WINDOW_NANOS = 5_000_000_000L;

  /** About two hundred windows of memory, a quarter of an hour. */
  private static final double WINDOW_FORGETTING = 0.995;

  /** So many windows must have been seen for the correlation to count half. */
  private static final double PRIOR_WINDOWS = 10;

  private static final int MOST_EMPTY_WINDOWS = (int) (LONGEST_GAP_SECONDS * 1e9 / WINDOW_NANOS);

  /** What one worker has got of a model's prompts. */
  static final class Share {
    private double prompts;
    private long at;
  }

  private double placedPrompts;
  private long placements;
  private double gapSeconds = FIRST_GAP_SECONDS;
  private double gapSquares = FIRST_GAP_SECONDS * FIRST_GAP_SECONDS;
  private long lastNanos;
  private boolean started;
  private double recentPerSecond;
  private long windowEndNanos;
  private int windowPrompts;
  private int promptsBefore = -1;

  /** Of pairs of windows that follow each other: how many, and sums over them. */
  private double pairs;

  private double firsts;
  private double firstSquares;
  private double products;

  /** Changes with an arrival, and is asked for once for each worker. */
  private double perSecond = 2 / FIRST_GAP_SECONDS;

  /** A prompt has come. Rates are asked for after that. */
  public void arrived(long nowNanos) {
    if (started) {
      double gap = Math.clamp((nowNanos - lastNanos) * 1e-9, 0, LONGEST_GAP_SECONDS);
      gapSeconds = FORGETTING * gapSeconds + gap;
      gapSquares = FORGETTING * gapSquares + gap * gap;
      recentPerSecond = recentPerSecond * Math.exp(-gap / RECENT_SECONDS) + 1 / RECENT_SECONDS;
      closeWindows(nowNanos);
    } else {
      windowEndNanos = nowNanos + WINDOW_NANOS;
    }
    windowPrompts++;
    started = true;
    lastNanos = nowNanos;
    perSecond = mixed();
  }

  private void closeWindows(long nowNanos) {
    for (int i = 0; i <= MOST_EMPTY_WINDOWS && nowNanos >= windowEndNanos; i++) {
      if (promptsBefore >= 0) {
        pairs = WINDOW_FORGETTING * pairs + 1;
        firsts = WINDOW_FORGETTING * firsts + promptsBefore;
        firstSquares = WINDOW_FORGETTING * firstSquares + (double) promptsBefore * promptsBefore;
        products = WINDOW_FORGETTING * products + (double) promptsBefore * windowPrompts;
      }
      promptsBefore = windowPrompts;
      windowPrompts = 0;
      windowEndNanos += WINDOW_NANOS;
    }
    if (nowNanos >= windowEndNanos) {
      windowEndNanos = nowNanos + WINDOW_NANOS;
    }
  }

  /** How much of what one window has above the mean is found again in the next, from 0 to 1. */
  double lasting() {
    if (pairs < 1) {
      return 0;
    }
    double mean = firsts / pairs;
    double variance = firstSquares / pairs - mean * mean;
    if (variance <= 0) {
      return 0;
    }
    double correlation = (products / pairs - mean * mean) / variance;
    return Math.clamp(correlation, 0, 1) * pairs / (pairs + PRIOR_WINDOWS);
  }

  private double mixed() {
    double lasting = lasting();
    return (1 - lasting) * 2 * gapSeconds / gapSquares + lasting * recentPerSecond;
  }

  public double perSecond() {
    return perSecond;
  }

  /** A prompt was placed on the worker with that share, which is one of so many. */
  void placed(Share share, int workers) {
    double forgetting = forgetting(workers);
    placements++;
    share.prompts = remembered(share, forgetting) + 1;
    share.at = placements;
    placedPrompts = forgetting * placedPrompts + 1;
  }

  /** The rate at which prompts come to that worker. Before anything is known, all get as many. */
  double perSecond(Share share, int workers) {
    double part =
        (remembered(share, forgetting(workers)) + PRIOR_PROMPTS)
            / (placedPrompts + PRIOR_PROMPTS * Math.max(1, workers));
    return part * perSecond();
  }

  private double remembered(Share share, double forgetting) {
    return share.prompts * Math.pow(forgetting, (double) (placements - share.at));
  }

  private static double forgetting(int workers) {
    return 1 - 1.0 / (PROMPTS_FOR_EACH * Math.max(1, workers));
  }
}
