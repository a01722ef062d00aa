package dev.warmpath.extproc.predict;

import dev.warmpath.extproc.index.PrefixIndex;
import dev.warmpath.extproc.request.PromptFingerprint;

/**
 * What putting a prompt on one worker costs the prompts that will come.
 *
 * <pre>
 *   others = rate w (q + w / 2) / (1 - load)      those that come here queue behind w seconds of work
 *          + w x prompts that it overtakes
 *          + 6 P(reuse) work(evicted)             they find less in this worker's cache
 * </pre>
 *
 * <p>The first term is the derivative of the mean wait of a queue with that arrival rate by the
 * work put into it, with the rate and the load that this worker has had of late (one step of policy
 * iteration from the present split). The last is the work of computing again what has to leave the
 * cache.
 *
 * <p>Not thread-safe: guarded by the router's lock.
 */
final class CostToOthers {
  /** The queue formula has its pole at one. */
  private static final double MOST_LOAD = 0.8;

  /**
   * How often a prefix that was thrown out is missed before it would have gone anyway. Without it,
   * a fast worker draws more prefixes than it can hold while slower ones stay empty; with 4 to 8
   * that ends, and workloads on like workers do not change beyond their noise.
   */
  private static final double MISSES_PER_EVICTION = 6;

  private static final int MEAN_WORK_PROMPTS = 50;

  private final PrefixIndex.Holder holder;
  private final CacheSize size;
  private final KindModel kind;
  private final WorkerSpeed speed;
  private final ArrivalRate.Share share = new ArrivalRate.Share();
  private double meanWorkSeconds;
  private long placements;

  CostToOthers(PrefixIndex.Holder holder, CacheSize size, KindModel kind, WorkerSpeed speed) {
    this.holder = holder;
    this.size = size;
    this.kind = kind;
    this.speed = speed;
  }

  /**
   * Fills it in.
   *
   * @param out predicted for that prompt here
   * @param arrivals of the model, at so many {@code workers}
   * @param reuseProbability of what a cache throws out
   */
  void forecast(
      PromptFingerprint prompt,
      double tokensPerByte,
      ArrivalRate arrivals,
      int workers,
      double reuseProbability,
      Forecast out) {
    double slow = speed.factor();
    double arrivalsPerSecond = arrivals.perSecond(share, workers);
    double meanWork = placements == 0 ? kind.meanWorkSeconds() : meanWorkSeconds;
    double busy = Math.min(MOST_LOAD, arrivalsPerSecond * meanWork * slow);
    double queue =
        arrivalsPerSecond
                * out.workSeconds
                * (out.backlogSeconds + out.workSeconds / 2)
                / (1 - busy)
            + out.workSeconds * out.overtaken;
    int missing = prompt.blocks() - out.matchedBlocks;
    double blockTokens = prompt.blockTokens(tokensPerByte);
    double over = (holder.entries() + missing) * blockTokens - size.prefixTokens();
    double tokens = Math.clamp(over, 0, missing * blockTokens);
    double cache =
        MISSES_PER_EVICTION * reuseProbability * slow * kind.cost().workSeconds(tokens, 0);
    out.othersSeconds = queue + cache;
  }

  /** A prompt with so much work, at speed 1, was placed here, on one of so many workers. */
  void placed(ArrivalRate arrivals, int workers, double workSeconds) {
    arrivals.placed(share, workers);
    placements++;
    meanWorkSeconds += (workSeconds - meanWorkSeconds) / Math.min(placements, MEAN_WORK_PROMPTS);
  }
}
