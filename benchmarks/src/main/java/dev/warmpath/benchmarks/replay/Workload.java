package dev.warmpath.benchmarks.replay;

/**
 * A source of arrivals. Driven by one thread; all randomness comes from the seed it was made with.
 */
public interface Workload {

  /** Schedules what arrives without waiting for an answer. */
  void start(Schedule schedule);

  /**
   * Called at the end of each request, also a failed one: a closed loop or the next turn may
   * follow.
   */
  default void ended(ReplayRequest request, long nowNanos, Schedule schedule) {}

  /** Where a workload puts its arrivals. */
  interface Schedule {
    /** {@code atNanos} on the virtual clock, which starts at 0; not before now. */
    void at(long atNanos, ReplayRequest request);
  }
}
