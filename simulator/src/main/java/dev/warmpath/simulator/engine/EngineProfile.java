package dev.warmpath.simulator.engine;

/**
 * Everything that makes one engine differ from another.
 *
 * @param name name to choose it by
 * @param frontendNanos fixed time of the HTTP frontend before a request reaches the scheduler
 * @param frontendNanosPerToken time of the frontend per prompt token, cached or not
 * @param step step times
 * @param cache block pool
 * @param maxBatchedTokens token budget of a step
 * @param maxRunning most sequences in a batch
 * @param maxModelTokens longest prompt plus answer
 * @param maxQueued most requests that may wait for the scheduler; 0 means no limit
 * @param noise standard deviation of the logarithm of each step's time; 0 means exact
 */
public record EngineProfile(
    String name,
    double frontendNanos,
    double frontendNanosPerToken,
    StepModel step,
    CacheModel cache,
    int maxBatchedTokens,
    int maxRunning,
    int maxModelTokens,
    int maxQueued,
    double noise) {
  public EngineProfile {
    if (maxBatchedTokens < 1 || maxRunning < 1 || maxQueued < 0 || noise < 0) {
      throw new IllegalArgumentException(
          "maxBatchedTokens "
              + maxBatchedTokens
              + " and maxRunning "
              + maxRunning
              + " must be at least 1, maxQueued "
              + maxQueued
              + " and noise "
              + noise
              + " at least 0");
    }
    if (cache.alignChunks() && maxBatchedTokens < cache.blockTokens()) {
      throw new IllegalArgumentException(
          "maxBatchedTokens "
              + maxBatchedTokens
              + " is below the block of "
              + cache.blockTokens()
              + " tokens that chunks are aligned to");
    }
  }

  /** Time of the frontend for a prompt. */
  public long frontendNanosOf(int promptTokens) {
    return Math.round(frontendNanos + frontendNanosPerToken * promptTokens);
  }

  /** The same engine, {@code factor} times as fast. */
  public EngineProfile fasterBy(double factor) {
    return new EngineProfile(
        name,
        frontendNanos / factor,
        frontendNanosPerToken / factor,
        step.dividedBy(factor),
        cache,
        maxBatchedTokens,
        maxRunning,
        maxModelTokens,
        maxQueued,
        noise);
  }

  /** The same engine with another pool. */
  public EngineProfile withCache(CacheModel other) {
    return new EngineProfile(
        name,
        frontendNanos,
        frontendNanosPerToken,
        step,
        other,
        maxBatchedTokens,
        maxRunning,
        maxModelTokens,
        maxQueued,
        noise);
  }

  /** The same engine with a bounded queue. */
  public EngineProfile withMaxQueued(int limit) {
    return new EngineProfile(
        name,
        frontendNanos,
        frontendNanosPerToken,
        step,
        cache,
        maxBatchedTokens,
        maxRunning,
        maxModelTokens,
        limit,
        noise);
  }

  /** The same engine with a bound on the batch. */
  public EngineProfile withMaxRunning(int limit) {
    return new EngineProfile(
        name,
        frontendNanos,
        frontendNanosPerToken,
        step,
        cache,
        maxBatchedTokens,
        limit,
        maxModelTokens,
        maxQueued,
        noise);
  }

  /** The same engine with noisy steps. */
  public EngineProfile withNoise(double logStandardDeviation) {
    return new EngineProfile(
        name,
        frontendNanos,
        frontendNanosPerToken,
        step,
        cache,
        maxBatchedTokens,
        maxRunning,
        maxModelTokens,
        maxQueued,
        logStandardDeviation);
  }
}
