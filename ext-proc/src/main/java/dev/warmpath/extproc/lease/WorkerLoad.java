package dev.warmpath.extproc.lease;

import org.jspecify.annotations.Nullable;

/**
 * What this gateway has sent to one worker and not got back: a FIFO of prompts that wait for their
 * first token, and the requests that produce tokens.
 *
 * <p>Engines prefill in the order in which their front end has read the prompts, so that of two
 * that arrive together the shorter goes first. In that order the FIFO is also the worker's queue as
 * far as it comes from here: when one prompt's first token is seen, the next one's turn has begun.
 *
 * <p>Not thread-safe: guarded by the router's lock.
 */
public final class WorkerLoad {
  private static final double NANO = 1e-9;

  /** Events of one step reach the gateway within this time. */
  private static final double SAME_STEP_SECONDS = 0.003;

  /** A prompt can't be computed in this share of its time. */
  private static final double SAME_STEP_SHARE = 0.4;

  /** Two prompts with less work in common may reach the engine in any order. */
  private static final double LEAST_COMMON_SECONDS = 0.1;

  /**
   * Two prompts that leave at the same moment reach the engine in any order. A quarter of the
   * common work apart they keep theirs, and the second one still has to wait in the engine.
   */
  private static final double APART_SHARE = 0.25;

  private static final long MOST_APART_NANOS = 100_000_000L;

  /** The router's lock is held; of a larger burst the oldest ones are on their way already. */
  private static final int MOST_LOOKED_AT = 64;

  private static final double OVERDUE_RATIO = 4;
  private static final double OVERDUE_SECONDS = 1;

  private @Nullable Lease head;
  private @Nullable Lease tail;
  private int queued;
  private int decoding;
  private double queuedWorkSeconds;
  private double queuedTokens;
  private double runningTokens;
  private @Nullable Lease oldestDecoding;
  private @Nullable Lease newestDecoding;

  /** When the head's turn began. */
  private long turnNanos;

  /** The turn's start is known: the predecessor's first token was seen, or there was none. */
  private boolean turnKnown = true;

  /** The turn of the last first token, which the next one may join. */
  private @Nullable Turn openTurn;

  /** The head's turn, if others have been computed in it already. */
  private @Nullable Turn sharedTurn;

  private double riddenWorkSeconds;
  private int peakInFlight;

  /**
   * Puts a request on this worker.
   *
   * @param entersNanos when it gets into the engine's queue
   */
  public Lease reserve(
      long[] chain,
      int blocks,
      int promptTokens,
      int cachedTokens,
      double claimTokens,
      double workSeconds,
      boolean streaming,
      long nowNanos,
      long entersNanos) {
    Lease lease =
        new Lease(
            this,
            chain,
            blocks,
            promptTokens,
            cachedTokens,
            claimTokens,
            workSeconds,
            streaming,
            nowNanos,
            entersNanos);
    if (head == null) {
      turnBegins(nowNanos, true);
    }
    link(lease);
    queued++;
    queuedWorkSeconds += workSeconds;
    queuedTokens += lease.claimTokens();
    peakInFlight = Math.max(peakInFlight, queued + decoding);
    return lease;
  }

  /** Behind the last one that gets into the engine's queue no later. */
  private void link(Lease lease) {
    Lease before = tail;
    while (before != null && before.entersNanos() > lease.entersNanos()) {
      before = before.previous;
    }
    Lease after = before == null ? head : before.next;
    lease.previous = before;
    lease.next = after;
    lease.reservedIdle = before == null;
    if (before == null) {
      head = lease;
    } else {
      before.next = lease;
    }
    if (after == null) {
      tail = lease;
    } else {
      after.previous = lease;
      after.reservedIdle = false;
    }
  }

  /**
   * From when on this prompt can be sent so that the engine gets it behind the prompts that were
   * sent here a moment ago and compute what it begins with; at once where there are none.
   *
   * <p>A prompt that comes while another one waits for that does not go before it, if its own work
   * is four times its wait or more. The worker is busy meanwhile, so it loses nothing; the other
   * one would lose all of that work, and of a burst that of each long prompt in it.
   *
   * @param workSeconds of this prompt, at speed 1
   * @param slow own time of this worker over that of its kind
   */
  public long behindNanos(
      long[] chain, int blocks, double workSeconds, double slow, long nowNanos) {
    long behind = nowNanos;
    long patienceNanos = apartNanos(slow * workSeconds);
    int looked = 0;
    for (Lease lease = tail;
        lease != null
            && looked < MOST_LOOKED_AT
            && nowNanos - lease.entersNanos() <= MOST_APART_NANOS;
        lease = lease.previous) {
      looked++;
      long leavesNanos = lease.leavesNanos();
      if (nowNanos - leavesNanos > MOST_APART_NANOS) {
        continue;
      }
      double commonSeconds = slow * lease.secondsFor(chain, blocks);
      if (commonSeconds >= LEAST_COMMON_SECONDS) {
        behind = Math.max(behind, leavesNanos + apartNanos(commonSeconds));
      } else if (leavesNanos - nowNanos <= patienceNanos) {
        behind = Math.max(behind, leavesNanos);
      }
    }
    return behind;
  }

  private static long apartNanos(double workSeconds) {
    return (long) Math.min(MOST_APART_NANOS, APART_SHARE * workSeconds / NANO);
  }

  /** The last prompt of the queue, or null. */
  public @Nullable Lease tail() {
    return tail;
  }

  /** The request produces tokens from now on. Returns false if it did already, or has ended. */
  public boolean firstToken(Lease lease, long atNanos) {
    if (lease.state() != Lease.State.RESERVED) {
      return false;
    }
    Lease first = head;
    if (first != null && first != lease && rides(first, lease, atNanos)) {
      return rode(first, lease, atNanos);
    }
    boolean wasHead = lease == first;
    boolean seen = wasHead && lease.streaming();
    Turn turn = openTurn;
    Turn shared = sharedTurn;
    double gapSeconds = Math.max(0, atNanos - Math.max(turnNanos, lease.reservedNanos())) * NANO;
    boolean joins =
        seen && turnKnown && turn != null && shared == null && sameSteps(lease, gapSeconds);
    if (seen && shared != null) {
      turn = shared;
      turn.close(gapSeconds);
    } else if (joins && turn != null) {
      turn.join(gapSeconds);
    } else if (seen) {
      turn = new Turn(gapSeconds, lease.reservedIdle, decoding, turnKnown);
    } else {
      turn = null;
    }
    // A later prompt's token means that those in front have been served, seen or not.
    unlink(lease);
    openTurn = turn;
    turnBegins(atNanos, seen);
    produces(lease, turn, !joins, atNanos);
    return true;
  }

  private void turnBegins(long atNanos, boolean known) {
    turnNanos = atNanos;
    turnKnown = known;
    sharedTurn = null;
    riddenWorkSeconds = 0;
  }

  private void produces(Lease lease, @Nullable Turn turn, boolean firstOfTurn, long atNanos) {
    decoding++;
    lease.decoding(turn, firstOfTurn, atNanos);
    linkDecoding(lease);
    runningTokens += lease.claimTokens();
  }

  /**
   * Whether the head goes on being computed although a later prompt's token has come: the engine
   * had room for that prompt in the head's steps. A head that is long overdue has been served
   * unseen, or is lost.
   */
  private boolean rides(Lease first, Lease lease, long atNanos) {
    double dueSeconds = first.workSeconds() + riddenWorkSeconds;
    return first.streaming()
        && lease.streaming()
        && (atNanos - turnNanos) * NANO < OVERDUE_RATIO * dueSeconds + OVERDUE_SECONDS;
  }

  /** The head's turn goes on, and what rode in it is part of what it took. */
  private boolean rode(Lease first, Lease lease, long atNanos) {
    Turn turn = sharedTurn;
    if (turn == null) {
      turn = Turn.shared(first.reservedIdle, decoding, turnKnown);
      sharedTurn = turn;
    } else {
      turn.join(0);
    }
    unlink(lease);
    riddenWorkSeconds += lease.workSeconds();
    produces(lease, turn, false, atNanos);
    return true;
  }

  /** A first token so soon after another one must have come out of the same steps. */
  private static boolean sameSteps(Lease lease, double gapSeconds) {
    return !lease.reservedIdle
        && (gapSeconds < SAME_STEP_SECONDS || gapSeconds < SAME_STEP_SHARE * lease.workSeconds());
  }

  /** Releases the request. Returns false if that has happened before. */
  public boolean end(Lease lease, long atNanos) {
    switch (lease.state()) {
      case RESERVED -> {
        boolean wasHead = lease == head;
        unlink(lease);
        if (wasHead) {
          turnBegins(atNanos, false); // it may have been computed in part
        }
      }
      case DECODING -> {
        decoding--;
        unlinkDecoding(lease);
        runningTokens = decoding == 0 ? 0 : runningTokens - lease.claimTokens();
        if (lease.turn() == openTurn) {
          openTurn = null; // its counts are about to be added
        }
      }
      case ENDED -> {
        return false;
      }
    }
    lease.ended();
    return true;
  }

  private void unlink(Lease lease) {
    Lease before = lease.previous;
    Lease after = lease.next;
    if (before == null) {
      head = after;
    } else {
      before.next = after;
    }
    if (after == null) {
      tail = before;
    } else {
      after.previous = before;
    }
    lease.previous = null;
    lease.next = null;
    queued--;
    queuedTokens = queued == 0 ? 0 : queuedTokens - lease.claimTokens();
    queuedWorkSeconds = queued == 0 ? 0 : queuedWorkSeconds - lease.workSeconds();
  }

  private void linkDecoding(Lease lease) {
    Lease newest = newestDecoding;
    lease.previous = newest;
    if (newest == null) {
      oldestDecoding = lease;
    } else {
      newest.next = lease;
    }
    newestDecoding = lease;
  }

  private void unlinkDecoding(Lease lease) {
    Lease before = lease.previous;
    Lease after = lease.next;
    if (before == null) {
      oldestDecoding = after;
    } else {
      before.next = after;
    }
    if (after == null) {
      newestDecoding = before;
    } else {
      after.previous = before;
    }
    lease.previous = null;
    lease.next = null;
  }

  /** When the oldest request that runs here was reserved; {@code Long.MAX_VALUE} without any. */
  public long oldestReservedNanos() {
    long oldest = Long.MAX_VALUE;
    for (Lease lease = head; lease != null; lease = lease.next) {
      oldest = Math.min(oldest, lease.reservedNanos());
    }
    for (Lease lease = oldestDecoding; lease != null; lease = lease.next) {
      oldest = Math.min(oldest, lease.reservedNanos());
    }
    return oldest;
  }

  /** Prompts without a first token. */
  public int queued() {
    return queued;
  }

  /** Requests that produce tokens. */
  public int decoding() {
    return decoding;
  }

  /** Everything reserved here and not ended. */
  public int inFlight() {
    return queued + decoding;
  }

  /** Prefill work of all queued prompts, at speed 1; the head's progress is not subtracted. */
  public double queuedWorkSeconds() {
    return queuedWorkSeconds;
  }

  /** The prompt whose turn it is, or null. */
  public @Nullable Lease head() {
    return head;
  }

  /** Work, at speed 1, of later prompts that were computed during the head's turn. */
  public double riddenWorkSeconds() {
    return riddenWorkSeconds;
  }

  /** When the head's turn began. */
  public long turnNanos() {
    return turnNanos;
  }

  /** Tokens that queued requests will add to what the worker keeps in use. */
  public double queuedTokens() {
    return queuedTokens;
  }

  /** Tokens that decoding requests added to what the worker keeps in use. */
  public double runningTokens() {
    return runningTokens;
  }

  /** The request that has produced tokens for the longest time, or null. */
  public @Nullable Lease oldestDecoding() {
    return oldestDecoding;
  }

  /** Whether the request that waits or decodes longest was reserved before that time. */
  public boolean hasOlderThan(long nanos) {
    Lease waiting = head;
    Lease oldest = oldestDecoding;
    return (waiting != null && waiting.reservedNanos() < nanos)
        || (oldest != null && oldest.reservedNanos() < nanos);
  }

  /** Most requests in flight since the last call; what a scrape in between may have seen. */
  public int takePeakInFlight() {
    int peak = peakInFlight;
    peakInFlight = inFlight();
    return peak;
  }
}
