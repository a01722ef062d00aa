package dev.warmpath.extproc.index;

import java.util.Arrays;

/**
 * Which prompt blocks each worker probably holds.
 *
 * <p>One entry for each (block, holder), found through an open-addressing table by a hash of both,
 * so that "does worker w hold block i" is one probe. What a worker holds is prefix-closed: entries
 * of a holder form one list in order of use, a prompt enters it tail first, and eviction takes the
 * least recently used entry, which is the deepest block of the oldest prompt, as engines do it. So
 * the longest match is found by a search over the depth, not by a walk.
 *
 * <p>Memory: 21 bytes for an entry and at most 16 for its table slots (load 0.25 to 0.5), in flat
 * arrays that grow by doubling up to a fixed budget; beyond it, each insert takes the oldest entry
 * of whichever of a few holders has most, so that a worker that joins late gets its share.
 *
 * <p>Forgetting a holder takes no time: its seed changes, so that its old entries are never found,
 * and they are freed one by one when others need room.
 *
 * <p>Not thread-safe: guarded by the router's lock.
 */
public final class PrefixIndex {
  /** Bytes of an entry with its share of the table at the highest load. */
  public static final int BYTES_PER_ENTRY = Long.BYTES + 3 * Integer.BYTES + 1 + 2 * Integer.BYTES;

  private static final int NONE = -1;
  private static final int FIRST_CAPACITY = 1 << 12;
  private static final byte CONFIRMED = 1;
  private static final int VICTIMS_ASKED = 4;

  /** One worker in one epoch. */
  public static final class Holder {
    private long seed;
    private int newest = NONE;
    private int oldest = NONE;
    private int entries;
    private int limit;
    private long evicted;
    private int position = NONE;

    private Holder(long seed, int limit) {
      this.seed = seed;
      this.limit = limit;
    }

    /** Blocks that this worker is thought to hold. */
    public int entries() {
      return entries;
    }

    /** Blocks that have had to make room for others so far. */
    public long evicted() {
      return evicted;
    }

    /** Blocks that it can hold. */
    public int limit() {
      return limit;
    }
  }

  private final int maxEntries;
  private long seeds;
  private int[] table;
  private long[] keys;
  private int[] newer; // towards the most recently used; also the link of free and forgotten lists
  private int[] older;
  private byte[] flags;
  private int[] stamps; // when it was last used
  private int stamp = Integer.MIN_VALUE;
  private int used;
  private int free = NONE;
  private int forgotten = NONE;
  private int forgottenEntries;
  private int liveEntries;

  /** Holders that have entries, in no order. */
  private Holder[] filled = new Holder[16];

  private int filledCount;
  private int nextVictim;

  /**
   * @param byteBudget upper bound of the memory for entries and table
   */
  public PrefixIndex(long byteBudget) {
    long entries = byteBudget / (BYTES_PER_ENTRY + 2L * Integer.BYTES);
    maxEntries = (int) Math.max(1_024, Math.min(entries, 1 << 28));
    int capacity = Math.min(FIRST_CAPACITY, maxEntries);
    keys = new long[capacity];
    newer = new int[capacity];
    older = new int[capacity];
    flags = new byte[capacity];
    stamps = new int[capacity];
    table = new int[tableSize(capacity)];
  }

  private static int tableSize(int entries) {
    return Integer.highestOneBit(Math.max(2, entries - 1)) << 2;
  }

  /**
   * A new worker that holds nothing.
   *
   * @param limit blocks that it can hold
   */
  public Holder newHolder(int limit) {
    return new Holder(nextSeed(), Math.max(1, limit));
  }

  private long nextSeed() {
    return mix(++seeds * 0x9E3779B97F4A7C15L);
  }

  /** What is used from now on is marked with this time, on a clock of the caller's. */
  public void now(int time) {
    stamp = time;
  }

  /** What was last used before that time is not there any more. */
  public void dropUsedBefore(Holder holder, int time) {
    while (holder.oldest != NONE && stamps[holder.oldest] < time) {
      evictOldest(holder);
    }
  }

  /** Changes what a worker can hold; evicts at once if that is less than it has. */
  public void limit(Holder holder, int limit) {
    holder.limit = Math.max(1, limit);
    while (holder.entries > holder.limit) {
      evictOldest(holder);
    }
  }

  /** Everything that this worker holds is gone. */
  public void forget(Holder holder) {
    holder.seed = nextSeed();
    if (holder.entries == 0) {
      return;
    }
    // The list runs from the oldest along "newer" to the newest; hang the forgotten ones behind it.
    newer[holder.newest] = forgotten;
    forgotten = holder.oldest;
    forgottenEntries += holder.entries;
    liveEntries -= holder.entries;
    holder.newest = NONE;
    holder.oldest = NONE;
    holder.entries = 0;
    emptied(holder);
  }

  private void counted(Holder holder) {
    liveEntries++;
    if (holder.entries++ == 0) {
      if (filledCount == filled.length) {
        filled = Arrays.copyOf(filled, 2 * filledCount);
      }
      holder.position = filledCount;
      filled[filledCount++] = holder;
    }
  }

  private void emptied(Holder holder) {
    Holder last = filled[--filledCount];
    filled[holder.position] = last;
    last.position = holder.position;
    holder.position = NONE;
  }

  /**
   * Blocks of a prompt, from its start, that the worker holds.
   *
   * @param model hash of the model name: two models never share
   */
  public int match(Holder holder, long model, long[] chain, int blocks) {
    long salt = holder.seed ^ model;
    if (holder.entries == 0 || blocks == 0 || find(key(chain[0], salt)) == NONE) {
      return 0;
    }
    // Gallop, then halve: log2 of the match, whatever the length of the prompt.
    int held = 1;
    int step = 1;
    int missing = blocks + 1;
    while (held + step <= blocks) {
      if (find(key(chain[held + step - 1], salt)) == NONE) {
        missing = held + step;
        break;
      }
      held += step;
      step <<= 1;
    }
    int high = Math.min(missing, blocks + 1);
    while (high - held > 1) {
      int middle = (held + high) >>> 1;
      if (find(key(chain[middle - 1], salt)) == NONE) {
        high = middle;
      } else {
        held = middle;
      }
    }
    return held;
  }

  /**
   * The worker is about to hold these blocks: known ones become the most recently used, others are
   * added as expected.
   */
  public void expect(Holder holder, long model, long[] chain, int blocks) {
    write(holder, model, chain, blocks, (byte) 0);
  }

  /** The worker has computed these blocks. */
  public void confirm(Holder holder, long model, long[] chain, int blocks) {
    write(holder, model, chain, blocks, CONFIRMED);
  }

  private void write(Holder holder, long model, long[] chain, int blocks, byte flag) {
    long salt = holder.seed ^ model;
    // What does not fit would be evicted first, so it never enters.
    int count = Math.min(blocks, holder.limit);
    for (int i = count - 1; i >= 0; i--) {
      long key = key(chain[i], salt);
      int entry = find(key);
      if (entry == NONE) {
        entry = allocate(holder);
        keys[entry] = key;
        flags[entry] = flag;
        addToTable(key, entry);
        linkNewest(holder, entry);
        counted(holder);
      } else {
        flags[entry] |= flag;
        stamps[entry] = stamp;
        if (holder.newest != entry) {
          unlink(holder, entry);
          linkNewest(holder, entry);
        }
      }
    }
    while (holder.entries > holder.limit) {
      evictOldest(holder);
    }
  }

  /**
   * The worker has not computed these blocks after all: those behind the first {@code keep} that
   * are only expected go.
   */
  public void retract(Holder holder, long model, long[] chain, int blocks, int keep) {
    long salt = holder.seed ^ model;
    for (int i = blocks - 1; i >= keep; i--) {
      int entry = find(key(chain[i], salt));
      if (entry == NONE) {
        continue;
      }
      if (flags[entry] == CONFIRMED) {
        return; // what is in front of a confirmed block is there, too
      }
      remove(holder, entry);
    }
  }

  /** The worker does not hold these blocks, whatever was thought: those behind {@code keep} go. */
  public void drop(Holder holder, long model, long[] chain, int blocks, int keep) {
    long salt = holder.seed ^ model;
    for (int i = blocks - 1; i >= keep; i--) {
      int entry = find(key(chain[i], salt));
      if (entry != NONE) {
        remove(holder, entry);
      }
    }
  }

  /** Blocks that belong to no known prompt (answers) push others out. */
  public void occupy(Holder holder, long unique, int blocks) {
    for (int i = 0; i < Math.min(blocks, holder.limit); i++) {
      long key = key(unique + i, holder.seed);
      if (find(key) == NONE) {
        int entry = allocate(holder);
        keys[entry] = key;
        flags[entry] = CONFIRMED;
        addToTable(key, entry);
        linkNewest(holder, entry);
        counted(holder);
      }
    }
    while (holder.entries > holder.limit) {
      evictOldest(holder);
    }
  }

  /** Entries that can be found. */
  public int liveEntries() {
    return liveEntries;
  }

  /** Entries of forgotten workers that are not freed yet. */
  public int forgottenEntries() {
    return forgottenEntries;
  }

  /** Bytes of all arrays. */
  public long bytes() {
    return (long) keys.length * (Long.BYTES + 3 * Integer.BYTES + 1)
        + (long) table.length * Integer.BYTES;
  }

  private static long key(long block, long salt) {
    long key = mix(block ^ salt);
    return key == 0 ? 1 : key;
  }

  private static long mix(long value) {
    long h = value;
    h = (h ^ (h >>> 32)) * 0xD6E8FEB86659FD93L;
    h = (h ^ (h >>> 32)) * 0xD6E8FEB86659FD93L;
    return h ^ (h >>> 32);
  }

  private int find(long key) {
    int mask = table.length - 1;
    int slot = (int) key & mask;
    while (true) {
      int entry = table[slot] - 1;
      if (entry < 0 || keys[entry] == key) {
        return entry;
      }
      slot = (slot + 1) & mask;
    }
  }

  private void addToTable(long key, int entry) {
    int mask = table.length - 1;
    int slot = (int) key & mask;
    while (table[slot] != 0) {
      slot = (slot + 1) & mask;
    }
    table[slot] = entry + 1;
  }

  /** Backward-shift deletion: no tombstones, so probes never get longer with age. */
  private void removeFromTable(long key) {
    int mask = table.length - 1;
    int slot = (int) key & mask;
    while (keys[table[slot] - 1] != key) {
      slot = (slot + 1) & mask;
    }
    int hole = slot;
    int probe = (slot + 1) & mask;
    while (table[probe] != 0) {
      int home = (int) keys[table[probe] - 1] & mask;
      if (((probe - home) & mask) >= ((probe - hole) & mask)) {
        table[hole] = table[probe];
        hole = probe;
      }
      probe = (probe + 1) & mask;
    }
    table[hole] = 0;
  }

  private int allocate(Holder holder) {
    if (free == NONE && used == keys.length) {
      reclaim(holder);
    }
    if (free != NONE) {
      int entry = free;
      free = newer[entry];
      return entry;
    }
    return used++;
  }

  /** Makes room: from forgotten workers first, then by growing, then from the holder itself. */
  private void reclaim(Holder holder) {
    if (forgotten != NONE) {
      int entry = forgotten;
      forgotten = newer[entry];
      forgottenEntries--;
      removeFromTable(keys[entry]);
      release(entry);
    } else if (keys.length < maxEntries) {
      grow();
    } else {
      evictOldest(victim(holder));
    }
  }

  /** Who has most among the one that inserts and the next few in turn. */
  private Holder victim(Holder holder) {
    Holder most = holder;
    for (int i = 0; i < VICTIMS_ASKED; i++) {
      nextVictim = nextVictim + 1 < filledCount ? nextVictim + 1 : 0;
      if (filled[nextVictim].entries > most.entries) {
        most = filled[nextVictim];
      }
    }
    return most;
  }

  private void grow() {
    int capacity = (int) Math.min(maxEntries, keys.length * 2L);
    keys = Arrays.copyOf(keys, capacity);
    newer = Arrays.copyOf(newer, capacity);
    older = Arrays.copyOf(older, capacity);
    flags = Arrays.copyOf(flags, capacity);
    stamps = Arrays.copyOf(stamps, capacity);
    int size = tableSize(capacity);
    if (size != table.length) {
      int[] old = table;
      table = new int[size];
      for (int slot : old) {
        if (slot != 0) {
          addToTable(keys[slot - 1], slot - 1);
        }
      }
    }
  }

  private void release(int entry) {
    keys[entry] = 0;
    newer[entry] = free;
    free = entry;
  }

  private void evictOldest(Holder holder) {
    remove(holder, holder.oldest);
    holder.evicted++;
  }

  private void remove(Holder holder, int entry) {
    unlink(holder, entry);
    removeFromTable(keys[entry]);
    release(entry);
    liveEntries--;
    if (--holder.entries == 0) {
      emptied(holder);
    }
  }

  private void linkNewest(Holder holder, int entry) {
    stamps[entry] = stamp;
    newer[entry] = NONE;
    older[entry] = holder.newest;
    if (holder.newest == NONE) {
      holder.oldest = entry;
    } else {
      newer[holder.newest] = entry;
    }
    holder.newest = entry;
  }

  private void unlink(Holder holder, int entry) {
    int towardsNew = newer[entry];
    int towardsOld = older[entry];
    if (towardsNew == NONE) {
      holder.newest = towardsOld;
    } else {
      older[towardsNew] = towardsOld;
    }
    if (towardsOld == NONE) {
      holder.oldest = towardsNew;
    } else {
      newer[towardsOld] = towardsNew;
    }
  }
}
