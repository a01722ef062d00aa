package dev.warmpath.simulator.events;

import org.jspecify.annotations.Nullable;

/** One change of a worker's cache. Hashes are unsigned. */
sealed interface CacheEvent {
  /** Consecutive full blocks of one sequence. */
  @SuppressWarnings("ArrayRecordComponent") // Handed over once and never compared.
  record BlockStored(
      long[] hashes,
      @Nullable Long parent,
      int[] tokenIds,
      int blockTokens,
      @Nullable String cacheSalt)
      implements CacheEvent {}

  /** One copy of one block. */
  record BlockRemoved(long hash) implements CacheEvent {}

  /** Everything. */
  record AllBlocksCleared() implements CacheEvent {}

  /** A kind of event that today's readers don't know. */
  record Unknown() implements CacheEvent {}
}
