package dev.warmpath.simulator.engine;

import java.util.Arrays;

/**
 * A fixed number of cache blocks with reference counts. Blocks that nobody uses stay findable by
 * their hash and form a queue, oldest first, from which new blocks are taken; taking one forgets
 * its hash.
 *
 * <p>The same hash may be stored in several blocks, as engines do not merge copies. Flat arrays and
 * an open-addressing index: no allocation after construction. Not thread-safe.
 */
final class BlockPool {
  private static final int NONE = -1;

  private final int size;
  private final int[] references;
  private final long[] hashes;
  private final boolean[] hashed;
  private final boolean[] silent;

  // The queue of unused blocks, as a ring through the sentinel `size`.
  private final int[] next;
  private final int[] previous;
  private int free;

  // Hash -> most recent block with it; older copies hang on olderCopy.
  private final int[] table;
  private final int mask;
  private final int[] olderCopy;

  private CacheListener listener;

  BlockPool(int size, CacheListener listener) {
    this.size = size;
    this.listener = listener;
    references = new int[size];
    hashes = new long[size];
    hashed = new boolean[size];
    silent = new boolean[size];
    next = new int[size + 1];
    previous = new int[size + 1];
    olderCopy = new int[size];
    int slots = Integer.highestOneBit(Math.max(4, size) * 2 - 1) << 1;
    table = new int[slots];
    mask = slots - 1;
    clear();
  }

  void listener(CacheListener other) {
    listener = other;
  }

  /** Forgets everything, as a restart does. */
  void clear() {
    Arrays.fill(references, 0);
    Arrays.fill(hashed, false);
    Arrays.fill(table, NONE);
    Arrays.fill(olderCopy, NONE);
    for (int i = 0; i <= size; i++) {
      next[i] = i == size ? 0 : i + 1;
      previous[i] = i == 0 ? size : i - 1;
    }
    free = size;
  }

  int size() {
    return size;
  }

  /** Blocks that nobody uses, findable or not. */
  int free() {
    return free;
  }

  /** A block with this hash, or -1. */
  int find(long hash) {
    return table[slotOf(hash)];
  }

  int references(int block) {
    return references[block];
  }

  boolean unused(int block) {
    return references[block] == 0;
  }

  /** Uses a findable block once more. */
  void use(int block) {
    if (references[block]++ == 0) {
      unlink(block);
    }
  }

  /** Takes the block that was unused longest; what it held is forgotten. There must be one. */
  int take() {
    int block = next[size];
    if (block == size) {
      throw new IllegalStateException("no free block of " + size);
    }
    unlink(block);
    if (hashed[block]) {
      forget(block);
      if (!silent[block]) {
        listener.onRemoved(hashes[block]);
      }
    }
    references[block] = 1;
    return block;
  }

  /** Makes a used block findable. */
  void store(int block, long hash) {
    silent[block] = false;
    index(block, hash);
  }

  /** The same for a block whose removal nobody needs to hear of. */
  void storeSilently(int block, long hash) {
    silent[block] = true;
    index(block, hash);
  }

  private void index(int block, long hash) {
    hashes[block] = hash;
    hashed[block] = true;
    int slot = slotOf(hash);
    olderCopy[block] = table[slot];
    table[slot] = block;
  }

  /** Gives a block back; it joins the end of the queue when nobody else uses it. */
  void release(int block) {
    if (--references[block] == 0) {
      int last = previous[size];
      next[last] = block;
      previous[block] = last;
      next[block] = size;
      previous[size] = block;
      free++;
    }
  }

  private void unlink(int block) {
    next[previous[block]] = next[block];
    previous[next[block]] = previous[block];
    free--;
  }

  private void forget(int block) {
    hashed[block] = false;
    int slot = slotOf(hashes[block]);
    if (table[slot] == block) {
      if (olderCopy[block] != NONE) {
        table[slot] = olderCopy[block];
      } else {
        removeSlot(slot);
      }
    } else {
      int newer = table[slot];
      while (olderCopy[newer] != block) {
        newer = olderCopy[newer];
      }
      olderCopy[newer] = olderCopy[block];
    }
    olderCopy[block] = NONE;
  }

  /** The slot that holds this hash, or the empty one where it would go. */
  private int slotOf(long hash) {
    int slot = home(hash);
    while (table[slot] != NONE && hashes[table[slot]] != hash) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  private int home(long hash) {
    return (int) (hash ^ (hash >>> 32)) & mask;
  }

  /** Empties a slot and moves later entries of the same run back, so that no search ends early. */
  private void removeSlot(int emptied) {
    int hole = emptied;
    int slot = hole;
    while (true) {
      table[hole] = NONE;
      int home;
      do {
        slot = (slot + 1) & mask;
        if (table[slot] == NONE) {
          return;
        }
        home = home(hashes[table[slot]]);
      } while (hole <= slot ? hole < home && home <= slot : hole < home || home <= slot);
      table[hole] = table[slot];
      hole = slot;
    }
  }
}
