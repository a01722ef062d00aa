package dev.warmpath.extproc.lease;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts every lease of the process, so that a leak shows as a number: {@link #active} goes back to
 * zero when traffic stops.
 *
 * <p>Guarded by the router's lock; the counters may be read without it.
 */
public final class LeaseLedger {
  private final AtomicLong reserved = new AtomicLong();
  private final AtomicLong active = new AtomicLong();
  private final AtomicLong moved = new AtomicLong();
  private final AtomicLong leaked = new AtomicLong();
  private final AtomicLong promptTokens = new AtomicLong();

  /** Reserves on a worker. */
  public Lease reserve(
      WorkerLoad load,
      long[] chain,
      int blocks,
      int promptTokens,
      int cachedTokens,
      double claimTokens,
      double workSeconds,
      boolean streaming,
      long nowNanos,
      long entersNanos) {
    reserved.incrementAndGet();
    active.incrementAndGet();
    this.promptTokens.addAndGet(promptTokens);
    return load.reserve(
        chain,
        blocks,
        promptTokens,
        cachedTokens,
        claimTokens,
        workSeconds,
        streaming,
        nowNanos,
        entersNanos);
  }

  /** A request goes to another worker than it was reserved on; the old lease ends. */
  public void moved(Lease from, long nowNanos) {
    if (end(from, nowNanos)) {
      moved.incrementAndGet();
    }
  }

  /** Ends a lease. Returns false if it has ended before. */
  public boolean end(Lease lease, long nowNanos) {
    if (!lease.load().end(lease, nowNanos)) {
      return false;
    }
    active.decrementAndGet();
    promptTokens.addAndGet(-lease.promptTokens());
    return true;
  }

  /** Ends a lease whose end was never reported and which its worker does not know any more. */
  public boolean leak(Lease lease, long nowNanos) {
    if (!end(lease, nowNanos)) {
      return false;
    }
    leaked.incrementAndGet();
    return true;
  }

  public long active() {
    return active.get();
  }

  /** Prompt tokens, cached ones included, of all leases that are held now. */
  public long promptTokens() {
    return promptTokens.get();
  }

  public long reserved() {
    return reserved.get();
  }

  public long moved() {
    return moved.get();
  }

  public long leaked() {
    return leaked.get();
  }
}
