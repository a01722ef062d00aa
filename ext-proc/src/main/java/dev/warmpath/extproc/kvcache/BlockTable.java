package dev.warmpath.extproc.kvcache;

/**
 * The blocks of one engine, by the engine's names: how many copies, the gateway's name for the same
 * content, and when it was stored. 24 bytes a slot, filled to at most a half. Not thread-safe.
 */
final class BlockTable {
  private static final int FIRST = 1 << 10;

  /** Stands for an engine's name that happens to be 0. */
  private static final long ZERO = 0x9E3779B97F4A7C15L;

  private long[] keys = new long[FIRST];
  private long[] names = new long[FIRST];
  private int[] copies = new int[FIRST];
  private int[] stamps = new int[FIRST];
  private int size;
  private int removedStamp;

  int size() {
    return size;
  }

  long bytes() {
    return (long) keys.length * (2 * Long.BYTES + 2 * Integer.BYTES);
  }

  /** The gateway's name of that block, 0 where it is unknown. */
  long name(long hash) {
    int slot = slot(key(hash));
    return keys[slot] == 0 ? 0 : names[slot];
  }

  /** One more copy. A known name of a block that is there already stays. */
  void add(long hash, long name, int stamp) {
    long key = key(hash);
    int slot = slot(key);
    if (keys[slot] == 0) {
      if (2 * (size + 1) > keys.length) {
        grow();
        slot = slot(key);
      }
      keys[slot] = key;
      names[slot] = 0;
      size++;
    }
    names[slot] = names[slot] == 0 ? name : names[slot];
    copies[slot]++;
    stamps[slot] = stamp;
  }

  /** Copies of that block; 0 where it is unknown. */
  int copies(long hash) {
    int slot = slot(key(hash));
    return keys[slot] == 0 ? 0 : copies[slot];
  }

  /** Takes one copy away and returns the block's name; call only where there is a copy. */
  long remove(long hash) {
    int slot = slot(key(hash));
    long name = names[slot];
    removedStamp = stamps[slot];
    if (--copies[slot] > 0) {
      return name;
    }
    size--;
    int mask = keys.length - 1;
    int hole = slot;
    for (int probe = (slot + 1) & mask; keys[probe] != 0; probe = (probe + 1) & mask) {
      int home = home(keys[probe], mask);
      if (((probe - home) & mask) >= ((probe - hole) & mask)) {
        move(probe, hole);
        hole = probe;
      }
    }
    keys[hole] = 0;
    copies[hole] = 0;
    return name;
  }

  /** When the block of the last removal was stored. */
  int removedStamp() {
    return removedStamp;
  }

  private void move(int from, int to) {
    keys[to] = keys[from];
    names[to] = names[from];
    copies[to] = copies[from];
    stamps[to] = stamps[from];
  }

  private static long key(long hash) {
    return hash == 0 ? ZERO : hash;
  }

  private int slot(long key) {
    int mask = keys.length - 1;
    int slot = home(key, mask);
    while (keys[slot] != 0 && keys[slot] != key) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  private static int home(long key, int mask) {
    return (int) (key ^ (key >>> 32)) & mask;
  }

  private void grow() {
    long[] oldKeys = keys;
    keys = new long[2 * oldKeys.length];
    long[] oldNames = names;
    int[] oldCopies = copies;
    int[] oldStamps = stamps;
    names = new long[keys.length];
    copies = new int[keys.length];
    stamps = new int[keys.length];
    for (int i = 0; i < oldKeys.length; i++) {
      if (oldKeys[i] != 0) {
        int slot = slot(oldKeys[i]);
        keys[slot] = oldKeys[i];
        names[slot] = oldNames[i];
        copies[slot] = oldCopies[i];
        stamps[slot] = oldStamps[i];
      }
    }
  }
}
