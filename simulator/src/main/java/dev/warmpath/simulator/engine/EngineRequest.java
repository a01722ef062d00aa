package dev.warmpath.simulator.engine;

import org.jspecify.annotations.Nullable;

/**
 * One sequence on its way through an engine. Owned by the engine from {@link Engine#submit} on; the
 * times may be read when their events were told. Not for use by several threads.
 */
public final class EngineRequest {
  /** Where a request is. */
  public enum State {
    NEW,
    FRONTEND,
    WAITING,
    RUNNING,
    FINISHED,
    ABORTED,
    REJECTED,
    LOST
  }

  private static final int[] NO_BLOCKS = {};

  final long[] chain;
  final int promptTokens;
  final int outputTokens;
  private final @Nullable Object attachment;

  State state = State.NEW;
  long sequence;
  long arrivalNanos;
  long readyNanos;
  long scheduledNanos;
  long firstTokenNanos;
  long finishNanos;
  int cachedTokens;
  int preemptions;

  int generated;
  int computed;
  int planned;
  int sealedBlocks;
  int junctionTokens;
  boolean abortRequested;
  int[] blocks = NO_BLOCKS;
  int ownedBlocks;
  int[] stateBlocks = NO_BLOCKS;

  /**
   * A new request.
   *
   * @param chain chained hashes of the full blocks of prompt and answer, see {@link BlockChain};
   *     blocks beyond its end are never found by others
   * @param attachment whatever the caller wants to find again in the events
   */
  public EngineRequest(
      long[] chain, int promptTokens, int outputTokens, @Nullable Object attachment) {
    if (promptTokens < 1 || outputTokens < 1) {
      throw new IllegalArgumentException(
          "promptTokens "
              + promptTokens
              + " and outputTokens "
              + outputTokens
              + " must be at least 1");
    }
    this.chain = chain;
    this.promptTokens = promptTokens;
    this.outputTokens = outputTokens;
    this.attachment = attachment;
  }

  /** Tokens whose value is known: the prompt and what was generated so far. */
  int known() {
    return promptTokens + generated;
  }

  public State state() {
    return state;
  }

  public @Nullable Object attachment() {
    return attachment;
  }

  public long[] chain() {
    return chain;
  }

  public int promptTokens() {
    return promptTokens;
  }

  public int outputTokens() {
    return outputTokens;
  }

  /** Tokens that were given out. */
  public int generatedTokens() {
    return generated;
  }

  /** Prompt tokens that were found in the cache when the request was scheduled first. */
  public int cachedTokens() {
    return cachedTokens;
  }

  public int preemptions() {
    return preemptions;
  }

  public long arrivalNanos() {
    return arrivalNanos;
  }

  /** When the frontend handed the request to the scheduler. */
  public long readyNanos() {
    return readyNanos;
  }

  /** When the request was in a batch for the first time. */
  public long scheduledNanos() {
    return scheduledNanos;
  }

  public long firstTokenNanos() {
    return firstTokenNanos;
  }

  public long finishNanos() {
    return finishNanos;
  }
}
