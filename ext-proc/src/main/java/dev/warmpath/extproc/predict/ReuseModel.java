package dev.warmpath.extproc.predict;

import dev.warmpath.extproc.index.PrefixIndex;

/**
 * How likely it is that what a cache throws out is asked for again, for one model.
 *
 * <p>A shadow of the index remembers twice what all workers hold. A prompt whose prefix is in the
 * shadow but on no worker is a regret: its blocks were thrown out and are wanted. Regretted tokens
 * by evicted tokens, both forgotten slowly, is the probability. It is near one where a working set
 * is a little too large, and near zero where prompts never come back.
 *
 * <p>Not thread-safe: guarded by the router's lock.
 */
public final class ReuseModel {
  private static final int LEAST_SHADOW_BLOCKS = 8_192;
  private static final double SHADOW = 2;

  /** About two hundred prompts of memory. */
  private static final double FORGETTING = 0.995;

  /** Two prompts of 16k tokens must be thrown out and missed before that counts half. */
  private static final double PRIOR_EVICTED = 32_000;

  private final PrefixIndex index;
  private final PrefixIndex.Holder shadow;
  private double regrettedTokens;
  private double evictedTokens;

  public ReuseModel(PrefixIndex index) {
    this.index = index;
    this.shadow = index.newHolder(LEAST_SHADOW_BLOCKS);
  }

  /** A prompt has come, of which the best worker holds {@code heldBlocks}. */
  public void asked(long model, long[] chain, int blocks, int heldBlocks, double blockTokens) {
    int known = index.match(shadow, model, chain, blocks);
    regrettedTokens = FORGETTING * regrettedTokens + Math.max(0, known - heldBlocks) * blockTokens;
    evictedTokens *= FORGETTING;
    int held = index.liveEntries() - shadow.entries();
    index.limit(shadow, (int) Math.max(LEAST_SHADOW_BLOCKS, SHADOW * held));
    index.expect(shadow, model, chain, blocks);
  }

  /** Tokens were thrown out of a worker's cache to make room. */
  public void evicted(double tokens) {
    evictedTokens += tokens;
  }

  public double probability() {
    double p = regrettedTokens / (evictedTokens + PRIOR_EVICTED);
    return Math.min(1, p);
  }
}
