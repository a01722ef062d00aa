package dev.warmpath.extproc.predict;

/**
 * How soon a next prompt of one model is to be expected, as a rate.
 *
 * <p>From a moment taken at random, the wait for the next arrival is {@code sum(gap^2) / (2
 * sum(gap))}; its inverse is the rate used here. For independent arrivals that is the ordinary
 * rate. Arrivals in bursts give much less: behind the burst nothing comes for long, so what is put
 * into a queue now delays nobody but the burst itself, which the prediction sees anyway.
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
  private static final int PROMPTS_FOR_EACH = 32;

  /**
   * So many prompts a worker are taken to have gone evenly: the first few of a burst say little.
   */
  private static final double PRIOR_PROMPTS = 8;

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
