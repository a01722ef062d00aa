package dev.warmpath.extproc.predict;

import dev.warmpath.extproc.candidate.WorkerGauges;
import org.jspecify.annotations.Nullable;

/**
 * What one engine said of itself in the last scrape, and how much of it is foreign: beyond what
 * this gateway had sent there. Null where it does not say or nothing is known yet.
 *
 * <p>Not thread-safe: guarded by the router's lock.
 */
final class EngineReport {
  private static final double NANO = 1e-9;

  /** Foreign load seen in a scrape counts half after this time. */
  private static final double FOREIGN_HALF_LIFE_SECONDS = 5;

  private @Nullable WorkerGauges gauges;
  private double ownTokens;
  private int foreignQueued;
  private int foreignRunning;

  /**
   * A scrape has come.
   *
   * @param ownInFlight most requests of this gateway that it can have seen
   * @param ownTokens that our decoding requests have added to what the worker keeps in use
   */
  void scraped(WorkerGauges fresh, int ownInFlight, double ownTokens) {
    Integer running = fresh.running();
    Integer waiting = fresh.waiting();
    int total = (running == null ? 0 : running) + (waiting == null ? 0 : waiting);
    int foreign = Math.max(0, total - ownInFlight);
    foreignQueued = Math.min(foreign, waiting == null ? 0 : waiting);
    foreignRunning = foreign - foreignQueued;
    gauges = fresh;
    this.ownTokens = ownTokens;
  }

  /** It was of a process that is no more. */
  void forget() {
    gauges = null;
    foreignQueued = 0;
    foreignRunning = 0;
  }

  /** The last scrape, or null. */
  @Nullable WorkerGauges gauges() {
    return gauges;
  }

  /** Size of the KV cache. */
  @Nullable Long kvCacheTokens() {
    WorkerGauges last = gauges;
    return last == null ? null : last.kvCacheTokens();
  }

  /** Tokens of one cache block. */
  @Nullable Integer blockTokens() {
    WorkerGauges last = gauges;
    return last == null ? null : last.blockTokens();
  }

  /** Share of the KV cache that running requests hold, 0 to 1. */
  @Nullable Double kvCacheUsedRatio() {
    WorkerGauges last = gauges;
    return last == null ? null : last.kvCacheUsedRatio();
  }

  /** Requests in the engine, ours and others'. */
  @Nullable Integer requests() {
    WorkerGauges last = gauges;
    if (last == null || last.running() == null || last.waiting() == null) {
      return null;
    }
    return last.running() + last.waiting();
  }

  /** Tokens that our decoding requests had added to what the worker kept in use at the scrape. */
  double ownTokens() {
    return ownTokens;
  }

  /** Prompts of others that wait. */
  int foreignQueued() {
    return foreignQueued;
  }

  /** Requests of others that produce tokens. */
  int foreignRunning() {
    return foreignRunning;
  }

  /**
   * Seconds for which prompts of others keep the engine from this one.
   *
   * @param slow by what work at speed 1 is multiplied here and now
   * @param meanWorkSeconds of a prompt of unknown size, at speed 1
   */
  double foreignSeconds(double slow, double meanWorkSeconds, long nowNanos) {
    WorkerGauges last = gauges;
    if (last == null || foreignQueued == 0) {
      return 0;
    }
    double age = Math.max(0, (nowNanos - last.atNanos()) * NANO);
    double share = Math.pow(0.5, age / FOREIGN_HALF_LIFE_SECONDS);
    return share * foreignQueued * slow * meanWorkSeconds;
  }
}
