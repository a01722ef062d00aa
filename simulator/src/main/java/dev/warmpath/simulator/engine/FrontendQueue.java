package dev.warmpath.simulator.engine;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Requests that are still in the HTTP frontend, by the time at which they leave it; equal times
 * keep the order of arrival. A binary heap in one array.
 */
final class FrontendQueue {
  private EngineRequest[] heap = new EngineRequest[16];
  private int size;

  int size() {
    return size;
  }

  /** When the next request leaves the frontend, {@link Long#MAX_VALUE} for none. */
  long nextReadyNanos() {
    return size == 0 ? Long.MAX_VALUE : heap[0].readyNanos;
  }

  EngineRequest get(int index) {
    return heap[index];
  }

  void add(EngineRequest request) {
    if (size == heap.length) {
      heap = Arrays.copyOf(heap, size * 2);
    }
    int at = size++;
    while (at > 0 && before(request, heap[(at - 1) / 2])) {
      heap[at] = heap[(at - 1) / 2];
      at = (at - 1) / 2;
    }
    heap[at] = request;
  }

  EngineRequest remove() {
    EngineRequest first = heap[0];
    EngineRequest moved = heap[--size];
    int at = 0;
    while (2 * at + 1 < size) {
      int child = 2 * at + 1;
      if (child + 1 < size && before(heap[child + 1], heap[child])) {
        child++;
      }
      if (before(moved, heap[child])) {
        break;
      }
      heap[at] = heap[child];
      at = child;
    }
    heap[at] = moved;
    release(size);
    return first;
  }

  // Lets go of the reference, which the null-marked array type can't say.
  @SuppressWarnings("NullAway")
  private void release(int index) {
    @Nullable EngineRequest none = null;
    heap[index] = none;
  }

  private static boolean before(EngineRequest a, EngineRequest b) {
    return a.readyNanos != b.readyNanos ? a.readyNanos < b.readyNanos : a.sequence < b.sequence;
  }
}
