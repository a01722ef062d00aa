package dev.warmpath.extproc.route;

import java.util.ArrayDeque;
import java.util.Queue;

/**
 * A worker reduced to what routing is about: prompts are computed one after the other, answers take
 * a fixed time, cached prefixes cost nothing. Driven by a clock that the test moves.
 */
final class SerialEngine {
  static final long MILLI = 1_000_000L;

  /** A prompt at this worker. */
  static final class Job {
    final long uncachedTokens;
    final long arrivalNanos;
    long firstTokenNanos = Long.MAX_VALUE;

    Job(long uncachedTokens, long arrivalNanos) {
      this.uncachedTokens = uncachedTokens;
      this.arrivalNanos = arrivalNanos;
    }
  }

  private final Queue<Job> queue = new ArrayDeque<>();
  private long freeNanos;
  double nanosPerToken = 400_000;

  /** Takes a prompt; its first token's time is fixed at once, as nothing can overtake it. */
  Job submit(long uncachedTokens, long nowNanos) {
    Job job = new Job(uncachedTokens, nowNanos);
    long start = Math.max(freeNanos, nowNanos + 10 * MILLI);
    job.firstTokenNanos = start + 20 * MILLI + (long) (uncachedTokens * nanosPerToken);
    freeNanos = job.firstTokenNanos;
    queue.add(job);
    return job;
  }

  /** Nothing happens until then. */
  void stallUntil(long nanos) {
    freeNanos = Math.max(freeNanos, nanos);
  }
}
