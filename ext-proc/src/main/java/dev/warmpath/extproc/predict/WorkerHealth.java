package dev.warmpath.extproc.predict;

/**
 * Whether one worker answers: what failed attempts cost, and whether anybody listens there.
 *
 * <p>Not thread-safe: guarded by the router's lock.
 */
final class WorkerHealth {
  private static final double NANO = 1e-9;

  /** One may meet a process between its stop and its start. */
  private static final int REFUSALS_OF_A_DEAD_ONE = 2;

  private static final double FAULT_SECONDS = 1;
  private static final double MAX_FAULT_SECONDS = 60;
  private static final double FAULT_HALF_LIFE_SECONDS = 5;

  private double faultSeconds;
  private long faultNanos;
  private int refusals;

  /** What the attempts that failed cost now; halves every five seconds. */
  double faultSeconds(long nowNanos) {
    if (faultSeconds == 0) {
      return 0;
    }
    double age = Math.max(0, (nowNanos - faultNanos) * NANO);
    return faultSeconds * Math.pow(0.5, age / FAULT_HALF_LIFE_SECONDS);
  }

  /**
   * An attempt failed. A worker that refuses connections looks idle, and would attract every
   * request; so it costs seconds for a while, more if it goes on.
   */
  void failed(long nowNanos) {
    faultSeconds = Math.min(MAX_FAULT_SECONDS, 2 * faultSeconds(nowNanos) + FAULT_SECONDS);
    faultNanos = nowNanos;
  }

  /** A request was answered: attempts do not fail any more. */
  void answered() {
    faultSeconds = 0;
  }

  /** A request has ended well, or a scrape: somebody listens there. */
  void listens() {
    refusals = 0;
  }

  /** Nobody listened at its address. */
  void refused() {
    refusals++;
  }

  void restarted() {
    refusals = 0;
    faultSeconds = 0;
  }

  /** Nobody listened there, more than once in a row: it can't serve anything. */
  boolean down() {
    return refusals >= REFUSALS_OF_A_DEAD_ONE;
  }
}
