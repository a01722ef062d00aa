package dev.warmpath.extproc.lease;

import org.jspecify.annotations.Nullable;

/**
 * The load that one request puts on one worker: reserved, then (after its first token) decoding,
 * then ended. Each transition happens at most once; a repeated call changes nothing.
 *
 * <p>Not thread-safe: guarded, with the {@link WorkerLoad} that it belongs to, by the router's
 * lock.
 */
public final class Lease {
  /** Where a lease stands. */
  public enum State {
    RESERVED,
    DECODING,
    ENDED
  }

  private final int promptTokens;
  private final int cachedTokens;
  private final double workSeconds;
  private final boolean streaming;
  private final long reservedNanos;
  private State state = State.RESERVED;
  final WorkerLoad load;
  @Nullable Lease previous;
  @Nullable Lease next;

  /** Whether the queue was empty when it was reserved. */
  boolean reservedIdle;

  private @Nullable ServiceTime serviceTime;

  Lease(
      WorkerLoad load,
      int promptTokens,
      int cachedTokens,
      double workSeconds,
      boolean streaming,
      long reservedNanos) {
    this.load = load;
    this.promptTokens = promptTokens;
    this.cachedTokens = cachedTokens;
    this.workSeconds = workSeconds;
    this.streaming = streaming;
    this.reservedNanos = reservedNanos;
  }

  public WorkerLoad load() {
    return load;
  }

  public State state() {
    return state;
  }

  public int promptTokens() {
    return promptTokens;
  }

  /** Tokens that the worker was expected to hold at reserve time. */
  public int cachedTokens() {
    return cachedTokens;
  }

  public int uncachedTokens() {
    return promptTokens - cachedTokens;
  }

  /** Prefill work on a worker of speed 1, in seconds. */
  public double workSeconds() {
    return workSeconds;
  }

  /** Whether its first token will be seen; the answer of other requests comes as a whole. */
  public boolean streaming() {
    return streaming;
  }

  public long reservedNanos() {
    return reservedNanos;
  }

  /** What its first token told of the worker's prefill; null before, and where it told nothing. */
  public @Nullable ServiceTime serviceTime() {
    return serviceTime;
  }

  void decoding(@Nullable ServiceTime observed) {
    state = State.DECODING;
    serviceTime = observed;
  }

  void ended() {
    state = State.ENDED;
  }
}
