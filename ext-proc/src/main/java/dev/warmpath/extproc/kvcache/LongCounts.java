package dev.warmpath.extproc.kvcache;

/**
 * How often each name is there: open addressing on flat arrays, 12 bytes a slot, filled to at most
 * a half. Names are hashes already and are not 0. Not thread-safe.
 */
final class LongCounts {
  private static final int FIRST = 1 << 10;

  private long[] keys = new long[FIRST];
  private int[] counts = new int[FIRST];
  private int size;

  int size() {
    return size;
  }

  long bytes() {
    return (long) keys.length * (Long.BYTES + Integer.BYTES);
  }

  boolean contains(long key) {
    return keys[slot(key)] != 0;
  }

  void add(long key) {
    int slot = slot(key);
    if (keys[slot] == 0) {
      if (2 * (size + 1) > keys.length) {
        grow();
        slot = slot(key);
      }
      keys[slot] = key;
      size++;
    }
    counts[slot]++;
  }

  /** Takes one away; the last one takes the name with it. */
  void remove(long key) {
    int slot = slot(key);
    if (keys[slot] == 0 || --counts[slot] > 0) {
      return;
    }
    size--;
    // Backward-shift deletion: no tombstones, so probes never get longer with age.
    int mask = keys.length - 1;
    int hole = slot;
    for (int probe = (slot + 1) & mask; keys[probe] != 0; probe = (probe + 1) & mask) {
      int home = (int) keys[probe] & mask;
      if (((probe - home) & mask) >= ((probe - hole) & mask)) {
        keys[hole] = keys[probe];
        counts[hole] = counts[probe];
        hole = probe;
      }
    }
    keys[hole] = 0;
    counts[hole] = 0;
    if (size == 0 && keys.length > FIRST) {
      clear(); // a burst is over, and its memory is given back
    }
  }

  void clear() {
    keys = new long[FIRST];
    counts = new int[FIRST];
    size = 0;
  }

  private int slot(long key) {
    int mask = keys.length - 1;
    int slot = (int) key & mask;
    while (keys[slot] != 0 && keys[slot] != key) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  private void grow() {
    long[] oldKeys = keys;
    int[] oldCounts = counts;
    keys = new long[2 * oldKeys.length];
    counts = new int[keys.length];
    for (int i = 0; i < oldKeys.length; i++) {
      if (oldKeys[i] != 0) {
        int slot = slot(oldKeys[i]);
        keys[slot] = oldKeys[i];
        counts[slot] = oldCounts[i];
      }
    }
  }
}
