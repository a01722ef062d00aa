package dev.warmpath.extproc.stream;

import java.util.ArrayList;
import java.util.List;

/**
 * A request body on its way in, and its share of the {@link BufferBudget}. Guarded by its exchange.
 */
final class Upload {
  /**
   * Bodies below this are accounted when they arrive: the announcement matters only where a few
   * requests can fill the budget.
   */
  static final long ANNOUNCE_FROM_BYTES = 256 * 1024;

  enum Result {
    ACCEPTED,
    BUFFER_FULL,
    TOO_LARGE
  }

  private final BufferBudget budget;
  private final long maxBytes;
  private long reservedBytes;
  private final List<byte[]> chunks = new ArrayList<>(1);
  private int size;
  private int messages;
  private boolean released;

  Upload(BufferBudget budget, long maxBytes) {
    this.budget = budget;
    this.maxBytes = maxBytes;
  }

  /**
   * Called with the declared length before the first byte is asked for. A length above the limit is
   * no reason to refuse yet: a reply while the client still sends is often lost to a connection
   * reset, and Envoy turns such a body away as soon as it has read too much of it.
   *
   * @param contentLength -1 where unknown
   */
  Result announce(long contentLength) {
    if (contentLength >= ANNOUNCE_FROM_BYTES) {
      long announced = Math.min(contentLength, maxBytes);
      if (!budget.tryReserveAnnounced(announced)) {
        return Result.BUFFER_FULL;
      }
      reservedBytes = announced;
    }
    return Result.ACCEPTED;
  }

  /** Takes the array over. */
  Result add(byte[] chunk) {
    long size = (long) this.size + chunk.length;
    if (size > maxBytes) {
      return Result.TOO_LARGE;
    }
    if (size > reservedBytes) {
      if (!budget.tryReserve(size - reservedBytes)) {
        return Result.BUFFER_FULL;
      }
      reservedBytes = size;
    }
    messages++;
    chunks.add(chunk);
    this.size = (int) size;
    return Result.ACCEPTED;
  }

  int size() {
    return size;
  }

  /** The whole body; one message's own array, or a copy that joins several. */
  byte[] body() {
    if (chunks.size() != 1) {
      byte[] joined = new byte[size];
      int position = 0;
      for (byte[] chunk : chunks) {
        System.arraycopy(chunk, 0, joined, position, chunk.length);
        position += chunk.length;
      }
      chunks.clear();
      chunks.add(joined);
    }
    return chunks.getFirst();
  }

  /** Number of body messages so far. */
  int messages() {
    return messages;
  }

  /** Gives the share back and drops the bytes; idempotent. */
  void release() {
    if (!released) {
      released = true;
      budget.release(reservedBytes);
      chunks.clear();
    }
  }
}
