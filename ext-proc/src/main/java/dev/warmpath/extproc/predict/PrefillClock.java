package dev.warmpath.extproc.predict;

import dev.warmpath.extproc.lease.Lease;
import dev.warmpath.extproc.lease.WorkerLoad;

/**
 * Seconds that one worker has spent on computing prompts, as far as its first tokens tell. It
 * stands still while nothing is queued there, and during a turn that takes longer than its work.
 *
 * <p>Two readings tell how much of the time between them an answer was produced beside prompts.
 *
 * <p>Not thread-safe: guarded by the router's lock.
 */
final class PrefillClock {
  private static final double NANO = 1e-9;

  private final WorkerLoad load;
  private final WorkerSpeed speed;
  private double secondsAtTurn;

  PrefillClock(WorkerLoad load, WorkerSpeed speed) {
    this.load = load;
    this.speed = speed;
  }

  double seconds(long nowNanos) {
    Lease head = load.head();
    if (head == null) {
      return secondsAtTurn;
    }
    double work = speed.factor() * (head.workSeconds() + load.riddenWorkSeconds());
    return secondsAtTurn + Math.clamp((nowNanos - load.turnNanos()) * NANO, 0, work);
  }

  /** The turn of the next prompt has begun when the clock showed that. */
  void turned(double seconds) {
    secondsAtTurn = seconds;
  }
}
