package dev.warmpath.benchmarks.replay;

/**
 * A routing rule under test. It sees what a gateway sees: its own requests and their first and last
 * tokens, and the number of cached tokens that the worker reports at the end; never the engine's
 * inside (only {@code oracle} does). Driven by one thread on the virtual clock.
 */
interface Algorithm {

  /**
   * Picks one of the workers that are up; workers are numbered from 0 and numbers are not reused.
   */
  int choose(ReplayRequest request, long nowNanos, int[] workersUp);

  /** First body byte. */
  default void firstToken(ReplayRequest request, int worker, long nowNanos) {}

  /** The end, with usage as the worker reports it. {@code failed} requests have no usage. */
  default void ended(
      ReplayRequest request, int worker, long nowNanos, int cachedTokens, boolean failed) {}

  /** The set of workers changed. */
  default void fleetChanged(int[] workersUp, long nowNanos) {}

  /**
   * A worker restarted in place: its cache is empty. Real gateways see this from the worker's
   * metrics.
   */
  default void restarted(int worker, long nowNanos) {}

  /** Called once a virtual second with what a scrape of the worker's metrics shows. */
  default void scraped(
      int worker, int running, int waiting, double kvCacheUsedRatio, long nowNanos) {}

  /**
   * Prediction of the request that {@link #choose} placed last, or null if the rule predicts
   * nothing.
   */
  default @org.jspecify.annotations.Nullable Forecast lastForecast() {
    return null;
  }

  /** How much later the request that {@link #choose} placed last leaves for its worker. */
  default long lastWaitNanos() {
    return 0;
  }

  /** Predicted time to first token. */
  record Forecast(double medianSeconds, double q90Seconds) {}
}
