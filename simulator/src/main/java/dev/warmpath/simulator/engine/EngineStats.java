package dev.warmpath.simulator.engine;

/**
 * What an engine counts, and the gauges as its metrics page would show them: refreshed after a
 * step, not when something changes, so a request that arrives during a long step is invisible until
 * the step ends.
 */
public final class EngineStats {
  long steps;
  long promptTokens;
  long cachedTokens;
  long prefillTokens;
  long generatedTokens;
  long finished;
  long aborted;
  long rejected;
  long preemptions;

  int shownRunning;
  int shownWaiting;
  double shownUsedRatio;

  EngineStats() {}

  public long steps() {
    return steps;
  }

  /** Prompt tokens of all requests that were scheduled. */
  public long promptTokens() {
    return promptTokens;
  }

  /** Those of them that were found in the cache. */
  public long cachedTokens() {
    return cachedTokens;
  }

  /** Tokens that were computed in prefill chunks, recomputation after preemption included. */
  public long prefillTokens() {
    return prefillTokens;
  }

  public long generatedTokens() {
    return generatedTokens;
  }

  public long finished() {
    return finished;
  }

  public long aborted() {
    return aborted;
  }

  public long rejected() {
    return rejected;
  }

  public long preemptions() {
    return preemptions;
  }

  public int shownRunning() {
    return shownRunning;
  }

  public int shownWaiting() {
    return shownWaiting;
  }

  /** Share of the pool that live requests hold, 0 to 1. */
  public double shownUsedRatio() {
    return shownUsedRatio;
  }
}
