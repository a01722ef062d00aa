package dev.warmpath.simulator.engine;

/** What a block pool tells about its contents, in the order in which it happens. */
public interface CacheListener {
  /**
   * Blocks {@code fromBlock} (inclusive) to {@code toBlock} (exclusive) of the request's chain can
   * be found from now on.
   */
  void onStored(EngineRequest request, int fromBlock, int toBlock);

  /** One copy of the block with this chained hash is gone. */
  void onRemoved(long hash);

  /** Everything was dropped on request, while nothing was in use. */
  default void onCleared() {}

  /** The batch is over: what was told since the last call belongs together. */
  void onStepEnd(long atNanos);

  /** Hears nothing. */
  CacheListener NONE =
      new CacheListener() {
        @Override
        public void onStored(EngineRequest request, int fromBlock, int toBlock) {}

        @Override
        public void onRemoved(long hash) {}

        @Override
        public void onStepEnd(long atNanos) {}
      };
}
