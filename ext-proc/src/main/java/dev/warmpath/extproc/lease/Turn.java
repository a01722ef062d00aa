package dev.warmpath.extproc.lease;

/**
 * How long a worker needed for one prompt, or for several whose first tokens came out of the same
 * steps. Starts when it was the first prompt's turn and lasts until the last one's first token.
 *
 * <p>Token counts are added when each request ends, because only then does the upstream report
 * them; the turn is complete when all of its requests have ended.
 *
 * <p>Not thread-safe: guarded by the router's lock.
 */
public final class Turn {
  private final boolean idle;
  private final int decoding;
  private boolean clean;
  private boolean closed = true;
  private double seconds;
  private int members = 1;
  private int ended;
  private double uncachedTokens;
  private double squaredTokens;
  private double firstPromptTokens;

  Turn(double seconds, boolean idle, int decoding, boolean clean) {
    this.seconds = seconds;
    this.idle = idle;
    this.decoding = decoding;
    this.clean = clean;
  }

  /** A turn that goes on, with one prompt that was computed beside its first. */
  static Turn shared(boolean idle, int decoding, boolean clean) {
    Turn turn = new Turn(0, idle, decoding, clean);
    turn.closed = false;
    return turn;
  }

  /** The prompt whose turn it was has its first token. */
  void close(double allSeconds) {
    seconds = allSeconds;
    members++;
    closed = true;
  }

  void join(double moreSeconds) {
    seconds += moreSeconds;
    members++;
  }

  /**
   * One of its requests has ended with these counts. Returns true if it was the last one and the
   * turn can be learnt from.
   */
  public boolean ended(int promptTokens, int cachedTokens, boolean first) {
    double p = promptTokens;
    double c = cachedTokens;
    uncachedTokens += p - c;
    squaredTokens += p * p - c * c;
    if (first) {
      firstPromptTokens = p;
    }
    ended++;
    return complete();
  }

  /** One of its requests has ended, and nobody knows what it was. */
  public void spoilt() {
    clean = false;
    ended++;
  }

  private boolean complete() {
    return clean && closed && ended == members;
  }

  public double seconds() {
    return seconds;
  }

  /** The first prompt's turn came at once, so the engine's front end is part of the time. */
  public boolean idle() {
    return idle;
  }

  /** Requests that were producing tokens meanwhile. */
  public int decoding() {
    return decoding;
  }

  public double uncachedTokens() {
    return uncachedTokens;
  }

  /** Sum of (prompt squared - cached squared). */
  public double squaredTokens() {
    return squaredTokens;
  }

  public double firstPromptTokens() {
    return firstPromptTokens;
  }
}
