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

  private final long[] chain;
  private final int blocks;
  private final int promptTokens;
  private final int cachedTokens;
  private final double claimTokens;
  private final double workSeconds;
  private final boolean streaming;
  private final long reservedNanos;
  private final long entersNanos;
  private State state = State.RESERVED;
  final WorkerLoad load;
  @Nullable Lease previous;
  @Nullable Lease next;

  /** Whether the queue was empty when it was reserved. */
  boolean reservedIdle;

  private long leavesNanos;
  private boolean riding;
  private int ridersInFront;
  private @Nullable Turn turn;
  private boolean firstOfTurn;
  private long firstTokenNanos;
  private double prefillSeconds;

  Lease(
      WorkerLoad load,
      long[] chain,
      int blocks,
      int promptTokens,
      int cachedTokens,
      double claimTokens,
      double workSeconds,
      boolean streaming,
      long reservedNanos,
      long entersNanos) {
    this.load = load;
    this.chain = chain;
    this.blocks = blocks;
    this.promptTokens = promptTokens;
    this.cachedTokens = cachedTokens;
    this.claimTokens = claimTokens;
    this.workSeconds = workSeconds;
    this.streaming = streaming;
    this.reservedNanos = reservedNanos;
    this.entersNanos = entersNanos;
    this.leavesNanos = reservedNanos;
  }

  public WorkerLoad load() {
    return load;
  }

  /** Whether its prompt begins with these blocks. */
  public boolean shares(long[] other, int count) {
    return count <= blocks && (count == 0 || chain[count - 1] == other[count - 1]);
  }

  /** Seconds of its own work that compute what the other prompt begins with, too. */
  double secondsFor(long[] other, int count) {
    int shared = 0;
    int different = Math.min(count, blocks) + 1;
    while (different - shared > 1) {
      int middle = (shared + different) >>> 1;
      if (shares(other, middle)) {
        shared = middle;
      } else {
        different = middle;
      }
    }
    double computed = shared * ((double) promptTokens / Math.max(1, blocks)) - cachedTokens;
    int uncached = uncachedTokens();
    return computed <= 0 || uncached <= 0 ? 0 : workSeconds * Math.min(1, computed / uncached);
  }

  /** Whether it was expected to use what that one computes. */
  public boolean sharesMoreThan(Lease computing) {
    // Blocks of both are of one size, so the share of tokens is the share of blocks.
    int expected = (int) Math.ceil((double) blocks * cachedTokens / Math.max(1, promptTokens));
    return computing.cachedTokens < cachedTokens
        && expected > 0
        && computing.shares(chain, Math.min(blocks, expected));
  }

  /** When its first token was seen; 0 before. */
  public long firstTokenNanos() {
    return firstTokenNanos;
  }

  /** What its worker's clock of prompt computing showed at its first token. */
  public double prefillSeconds() {
    return prefillSeconds;
  }

  /** Its worker's clock of prompt computing shows this at its first token. */
  public void prefillSeconds(double clock) {
    prefillSeconds = clock;
  }

  /** The next lease in the same list: of the queue, or of those that decode; null at the end. */
  public @Nullable Lease next() {
    return next;
  }

  /** The lease in front of it in the same list, or null. */
  public @Nullable Lease previous() {
    return previous;
  }

  /** It is sent to the worker at that time, and not at once. */
  public void leaves(long atNanos) {
    leavesNanos = atNanos;
  }

  /** When it is sent to the worker. */
  long leavesNanos() {
    return leavesNanos;
  }

  /** It is expected to be computed beside a longer prompt in front of it, after some others. */
  public void rides(int othersBefore) {
    riding = true;
    ridersInFront = othersBefore;
  }

  /** Prompts that were to be computed so before it. */
  public int ridersInFront() {
    return ridersInFront;
  }

  /** Whether it is expected to be computed beside a longer prompt in front of it. */
  public boolean riding() {
    return riding;
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

  /** Tokens of the worker's cache that were free before it and are not while it runs. */
  public double claimTokens() {
    return claimTokens;
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

  /** When it gets into the engine's queue: its front end has read the prompt by then. */
  public long entersNanos() {
    return entersNanos;
  }

  /** The turn in which it was computed; null before its first token, and where that is not seen. */
  public @Nullable Turn turn() {
    return turn;
  }

  /** Whether its turn began with it. */
  public boolean firstOfTurn() {
    return firstOfTurn;
  }

  void decoding(@Nullable Turn computedIn, boolean first, long atNanos) {
    state = State.DECODING;
    firstTokenNanos = atNanos;
    turn = computedIn;
    firstOfTurn = first;
  }

  void ended() {
    state = State.ENDED;
  }
}
