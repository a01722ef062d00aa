package dev.warmpath.extproc.predict;

import dev.warmpath.extproc.index.PrefixIndex;
import dev.warmpath.extproc.lease.WorkerLoad;
import dev.warmpath.extproc.request.PromptFingerprint;

/**
 * What putting a prompt on one worker costs the prompts that will come, and the answers that are
 * being produced.
 *
 * <pre>
 *   others = 1.5 rate w (q + w / 2) / (1 - load)  those that come here queue behind w seconds of work
 *          + w x prompts that it overtakes
 *          + 0.02 w x answers                     they nearly stand still while a prompt is computed
 *          + 8 P(reuse) work(evicted)             they find less in this worker's cache
 * </pre>
 *
 * <p>Without its factor, the first term is the derivative of the mean wait of a queue with that
 * arrival rate by the work put into it, with the rate and the load that this worker has had of late
 * (one step of policy iteration from the present split). The last is the work of computing again
 * what has to leave the cache.
 *
 * <p>Not thread-safe: guarded by the router's lock.
 */
final class CostToOthers {
  /** The queue formula has its pole at one. */
  private static final double MOST_LOAD = 0.8;

  /**
   * The derivative takes the present split for lasting. Acting on it moves long prompts away from
   * workers that get many short ones, which then get more of them, so that it saves more than it
   * says. Found by replay: 1 leaves medians of mixed lengths higher, 2 delays the longest prompts.
   */
  private static final double QUEUE_WEIGHT = 1.5;

  /**
   * A second in which an answer stands still, in seconds of waiting for a first token. So small, it
   * decides only between queues that are alike. With ten times as much, the few longest prompts of
   * a mixed load wait a tenth longer, and most others less.
   */
  private static final double STALL_WEIGHT = 0.02;

  /**
   * How often a prefix that was thrown out is missed before it would have gone anyway. Without it,
   * a fast worker draws more prefixes than it can hold while slower ones stay empty; from 4 on that
   * gets less, and workloads on like workers do not change beyond their noise.
   */
  private static final double MISSES_PER_EVICTION = 8;

  private static final int MEAN_WORK_PROMPTS = 50;

  private final WorkerLoad load;
  private final PrefixIndex.Holder holder;
  private final CacheSize size;
  private final KindModel kind;
  private final WorkerSpeed speed;
  private final ArrivalRate.Share share = new ArrivalRate.Share();
  private double meanWorkSeconds;
  private long placements;

  CostToOthers(
      WorkerLoad load,
      PrefixIndex.Holder holder,
      CacheSize size,
      KindModel kind,
      WorkerSpeed speed) {
    this.load = load;
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
        QUEUE_WEIGHT
            * arrivalsPerSecond
            * out.workSeconds
            * (out.backlogSeconds + out.workSeconds / 2)
            / (1 - busy);
    double now = out.workSeconds * (out.overtaken + STALL_WEIGHT * load.decoding());
    int missing = prompt.blocks() - out.matchedBlocks;
    double blockTokens = prompt.blockTokens(tokensPerByte);
    double over = (holder.entries() + missing) * blockTokens - size.prefixTokens();
    double tokens = Math.clamp(over, 0, missing * blockTokens);
    double cache =
        MISSES_PER_EVICTION * reuseProbability * slow * kind.cost().workSeconds(tokens, 0);
    out.othersSeconds = queue + now + cache;
  }

  /** A prompt with so much work, at speed 1, was placed here, on one of so many workers. */
  void placed(ArrivalRate arrivals, int workers, double workSeconds) {
    arrivals.placed(share, workers);
    placements++;
    meanWorkSeconds += (workSeconds - meanWorkSeconds) / Math.min(placements, MEAN_WORK_PROMPTS);
  }
}
