package dev.warmpath.extproc.lease;

import org.jspecify.annotations.Nullable;

/**
 * What this gateway has sent to one worker and not got back: a FIFO of prompts that wait for their
 * first token, and the requests that produce tokens.
 *
 * <p>Engines prefill in order of arrival, so the FIFO is also the worker's queue as far as it comes
 * from here: when one prompt's first token is seen, the next one's turn has begun.
 *
 * <p>Not thread-safe: guarded by the router's lock.
 */
public final class WorkerLoad {
  private @Nullable Lease head;
  private @Nullable Lease tail;
  private int queued;
  private int decoding;
  private double queuedWorkSeconds;
  private long heldTokens;

  /** When the head's turn began. */
  private long turnNanos;

  /** The turn's start is known: the predecessor's first token was seen, or there was none. */
  private boolean turnKnown = true;

  private int peakInFlight;

  /** Puts a request on this worker. */
  public Lease reserve(
      int promptTokens, int cachedTokens, double workSeconds, boolean streaming, long nowNanos) {
    Lease lease = new Lease(this, promptTokens, cachedTokens, workSeconds, streaming, nowNanos);
    lease.reservedIdle = head == null;
    if (head == null) {
      head = lease;
      turnNanos = nowNanos;
      turnKnown = true;
    } else {
      lease.previous = tail;
      assertTail().next = lease;
    }
    tail = lease;
    queued++;
    queuedWorkSeconds += workSeconds;
    heldTokens += lease.uncachedTokens();
    peakInFlight = Math.max(peakInFlight, queued + decoding);
    return lease;
  }

  private Lease assertTail() {
    Lease last = tail;
    if (last == null) {
      throw new IllegalStateException("a queue with a head has a tail");
    }
    return last;
  }

  /** The request produces tokens from now on. Returns false if it did already, or has ended. */
  public boolean firstToken(Lease lease, long atNanos) {
    if (lease.state() != Lease.State.RESERVED) {
      return false;
    }
    boolean wasHead = lease == head;
    ServiceTime observed = null;
    if (wasHead && lease.streaming()) {
      boolean idle = lease.reservedIdle;
      double seconds = (atNanos - Math.max(turnNanos, lease.reservedNanos())) * 1e-9;
      observed = new ServiceTime(Math.max(0, seconds), idle, decoding, turnKnown);
    }
    // A later prompt's token means that those in front have been served, seen or not.
    unlink(lease);
    turnNanos = atNanos;
    turnKnown = wasHead && lease.streaming();
    decoding++;
    lease.decoding(observed);
    return true;
  }

  /** Releases the request. Returns false if that has happened before. */
  public boolean end(Lease lease, long atNanos) {
    switch (lease.state()) {
      case RESERVED -> {
        boolean wasHead = lease == head;
        unlink(lease);
        if (wasHead) {
          turnNanos = atNanos;
          turnKnown = false; // it may have been computed in part
        }
      }
      case DECODING -> decoding--;
      case ENDED -> {
        return false;
      }
    }
    heldTokens -= lease.uncachedTokens();
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
    queuedWorkSeconds = queued == 0 ? 0 : queuedWorkSeconds - lease.workSeconds();
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

  /** When the head's turn began. */
  public long turnNanos() {
    return turnNanos;
  }

  /** Prompt tokens that these requests added to the worker's cache and keep in use. */
  public long heldTokens() {
    return heldTokens;
  }

  /** Most requests in flight since the last call; what a scrape in between may have seen. */
  public int takePeakInFlight() {
    int peak = peakInFlight;
    peakInFlight = inFlight();
    return peak;
  }
}
