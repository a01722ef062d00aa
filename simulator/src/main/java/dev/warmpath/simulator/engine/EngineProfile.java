package dev.warmpath.simulator.engine;

import java.util.function.Consumer;

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
    return with(draft -> {
      draft.frontendNanos = frontendNanos / factor;
      draft.frontendNanosPerToken = frontendNanosPerToken / factor;
      draft.step = step.dividedBy(factor);
    });
  }

  /** The same engine with another pool. */
  public EngineProfile withCache(CacheModel other) {
    return with(draft -> draft.cache = other);
  }

  /** The same engine with a bounded queue. */
  public EngineProfile withMaxQueued(int limit) {
    return with(draft -> draft.maxQueued = limit);
  }

  /** The same engine with a bound on the batch. */
  public EngineProfile withMaxRunning(int limit) {
    return with(draft -> draft.maxRunning = limit);
  }

  /** The same engine with noisy steps. */
  public EngineProfile withNoise(double logStandardDeviation) {
    return with(draft -> draft.noise = logStandardDeviation);
  }

  private EngineProfile with(Consumer<Draft> change) {
    Draft draft = new Draft(this);
    change.accept(draft);
    return draft.build();
  }

  /** One mutable copy, so that each {@code with} names only what it changes. */
  private static final class Draft {
    private final String name;
    private double frontendNanos;
    private double frontendNanosPerToken;
    private StepModel step;
    private CacheModel cache;
    private final int maxBatchedTokens;
    private int maxRunning;
    private final int maxModelTokens;
    private int maxQueued;
    private double noise;

    Draft(EngineProfile from) {
      name = from.name;
      frontendNanos = from.frontendNanos;
      frontendNanosPerToken = from.frontendNanosPerToken;
      step = from.step;
      cache = from.cache;
      maxBatchedTokens = from.maxBatchedTokens;
      maxRunning = from.maxRunning;
      maxModelTokens = from.maxModelTokens;
      maxQueued = from.maxQueued;
      noise = from.noise;
    }

    EngineProfile build() {
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
          noise);
    }
  }
}
