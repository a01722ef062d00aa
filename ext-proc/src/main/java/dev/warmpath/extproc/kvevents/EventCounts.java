package dev.warmpath.extproc.kvevents;

import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** Counts of everything that event streams bring, the useless included. Thread-safe. */
public final class EventCounts {
  /** What is counted; the name in lower case is the value of the metric's label. */
  public enum Event {
    /** Batches by what became of them. */
    APPLIED,
    DUPLICATE,
    UNDECODABLE,
    DISCARDED,
    /** Messages without the frames of a batch. */
    MALFORMED,
    /** Blocks. */
    STORED,
    REMOVED,
    /** Clears of a whole cache. */
    CLEARED,
    /** What a batch held that was passed over. */
    UNKNOWN_EVENT,
    UNKNOWN_FIELD,
    OTHER_MEDIUM,
    OTHER_GROUP,
    /** Streams. */
    GAP,
    RESTART,
    REPLAY,
    REPLAY_FAILED,
    RECONNECT,
    LOST;

    /** Value of the label. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private final Map<Event, LongAdder> counts = new EnumMap<>(Event.class);

  public EventCounts() {
    for (Event event : Event.values()) {
      counts.put(event, new LongAdder());
    }
  }

  void add(Event event) {
    add(event, 1);
  }

  void add(Event event, long count) {
    LongAdder adder = counts.get(event);
    if (adder != null) {
      adder.add(count);
    }
  }

  /** How often that has happened. */
  public long of(Event event) {
    LongAdder adder = counts.get(event);
    return adder == null ? 0 : adder.sum();
  }
}
