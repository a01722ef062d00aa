package dev.warmpath.simulator.engine;

/**
 * The block pool of an engine.
 *
 * @param blockTokens tokens per block
 * @param blocks blocks in the pool
 * @param alignChunks prefill chunks end on block boundaries, as engines with recurrent layers do;
 *     the last boundary of a prompt then always ends a chunk
 * @param stateBlocks blocks that one checkpoint of recurrent state costs; 0 means that a stored
 *     prefix can be used wherever its blocks are stored. With a value above 0 a prefix is usable
 *     only up to a stored checkpoint, and checkpoints exist at the last boundary of a prompt and
 *     where a second request was seen to part from a first
 * @param enabled whether prefixes are kept at all
 */
public record CacheModel(
    int blockTokens, int blocks, boolean alignChunks, int stateBlocks, boolean enabled) {
  public CacheModel {
    if (blockTokens < 1 || blocks < 1 || stateBlocks < 0) {
      throw new IllegalArgumentException(
          "blockTokens "
              + blockTokens
              + " and blocks "
              + blocks
              + " must be at least 1, stateBlocks "
              + stateBlocks
              + " at least 0");
    }
  }

  /** How many tokens the pool holds. */
  public long capacityTokens() {
    return (long) blocks * blockTokens;
  }

  /** The same pool with room for that many tokens, in whole blocks. */
  public CacheModel withCapacityTokens(long tokens) {
    return new CacheModel(
        blockTokens, Math.toIntExact(tokens / blockTokens), alignChunks, stateBlocks, enabled);
  }
}
