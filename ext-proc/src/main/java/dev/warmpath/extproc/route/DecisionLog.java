package dev.warmpath.extproc.route;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The last decisions, in a ring of fixed size. A record is rendered when it is asked for, so that
 * the request path stores a reference and no text.
 *
 * <p>Thread-safe.
 */
public final class DecisionLog {
  private record Entry(String id, Supplier<DecisionRecord> record) {}

  private final @Nullable Entry[] ring;
  private final ConcurrentHashMap<String, Entry> byId;
  private long next;

  public DecisionLog(int size) {
    ring = new Entry[Math.max(1, size)];
    byId = new ConcurrentHashMap<>(ring.length * 2);
  }

  void add(String id, Supplier<DecisionRecord> record) {
    Entry entry = new Entry(id, record);
    Entry oldest;
    synchronized (ring) {
      int at = (int) (next++ % ring.length);
      oldest = ring[at];
      ring[at] = entry;
    }
    byId.put(id, entry);
    if (oldest != null) {
      byId.remove(oldest.id(), oldest);
    }
  }

  /** The decision with that id, or null if there was none or it is too long ago. */
  public @Nullable DecisionRecord find(String id) {
    Entry entry = byId.get(id);
    return entry == null ? null : entry.record().get();
  }

  /** The last decisions, newest first. */
  public List<DecisionRecord> last(int count) {
    List<Entry> entries = new ArrayList<>();
    synchronized (ring) {
      for (long i = next - 1; i >= 0 && i > next - 1 - ring.length && entries.size() < count; i--) {
        Entry entry = ring[(int) (i % ring.length)];
        if (entry != null) {
          entries.add(entry);
        }
      }
    }
    return entries.stream().map(entry -> entry.record().get()).toList();
  }
}
