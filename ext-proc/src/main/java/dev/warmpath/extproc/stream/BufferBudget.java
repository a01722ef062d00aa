package dev.warmpath.extproc.stream;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Bytes of request bodies that this process holds or has agreed to receive, with a hard cap: at the
 * cap requests are turned away, so that a burst of large prompts cannot exhaust the heap.
 * Thread-safe.
 */
public final class BufferBudget {
  /**
   * Share that announced but not yet received bodies may take: uploads that never come cannot keep
   * small requests out.
   */
  private static final double ANNOUNCED_SHARE = 0.75;

  private final long capacityBytes;
  private final AtomicLong usedBytes = new AtomicLong();

  public BufferBudget(long capacityBytes) {
    if (capacityBytes <= 0) {
      throw new IllegalArgumentException("capacityBytes: " + capacityBytes + " (expected: > 0)");
    }
    this.capacityBytes = capacityBytes;
  }

  /** Reserves for bytes that are here already. */
  boolean tryReserve(long bytes) {
    return tryReserve(bytes, capacityBytes);
  }

  /** Reserves for a body that was announced by its length. */
  boolean tryReserveAnnounced(long bytes) {
    return tryReserve(bytes, (long) (capacityBytes * ANNOUNCED_SHARE));
  }

  void release(long bytes) {
    usedBytes.addAndGet(-bytes);
  }

  public long usedBytes() {
    return usedBytes.get();
  }

  public long capacityBytes() {
    return capacityBytes;
  }

  private boolean tryReserve(long bytes, long limit) {
    long used;
    do {
      used = usedBytes.get();
      if (bytes > limit - used) {
        return false;
      }
    } while (!usedBytes.compareAndSet(used, used + bytes));
    return true;
  }
}
