package dev.warmpath.extproc.kvcache;

/** One change of a worker's cache, as its engine told it. */
public sealed interface CacheChange {

  /**
   * Consecutive full blocks of one sequence, in graphics memory and of a full-attention group.
   *
   * @param hashes the engine's name of each block; opaque
   * @param rooted the first block begins a sequence; else {@code parent} precedes it
   * @param tokens ids of all blocks, or empty where the engine does not tell
   * @param blockTokens tokens of one block
   * @param adapter hash of the LoRA adapter's name, 0 for none
   * @param extra for each block a hash of what else goes into its identity (salt, images), 0 for
   *     nothing; empty where no block has any
   */
  @SuppressWarnings("ArrayRecordComponent") // Handed over once and never compared.
  record Stored(
      long[] hashes,
      boolean rooted,
      long parent,
      int[] tokens,
      int blockTokens,
      long adapter,
      long[] extra)
      implements CacheChange {}

  /** One copy of each of these blocks. */
  @SuppressWarnings("ArrayRecordComponent") // Handed over once and never compared.
  record Removed(long[] hashes) implements CacheChange {}

  /** Everything. */
  record Cleared() implements CacheChange {}

  /** The model has layers whose caches are not a contiguous prefix: a prefix hit needs more. */
  record Sparse() implements CacheChange {}
}
