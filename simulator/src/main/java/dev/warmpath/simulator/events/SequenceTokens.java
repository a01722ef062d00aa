package dev.warmpath.simulator.events;

import org.jspecify.annotations.Nullable;

/**
 * What events tell of a sequence beyond its hashes; attachments of engine requests implement it.
 */
public interface SequenceTokens {
  /** Token ids of prompt and answer. */
  int[] tokenIds();

  /** The salt of the cache, or null. */
  @Nullable String cacheSalt();
}
