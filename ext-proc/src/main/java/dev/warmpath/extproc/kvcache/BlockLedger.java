package dev.warmpath.extproc.kvcache;

import java.util.Collections;
import java.util.HashSet;
import java.util.Set;

/**
 * What one engine has in its prefix cache, kept from its events. Blocks are counted, because
 * engines store the same content more than once and report every copy's end. Not thread-safe:
 * guarded by the router's lock.
 */
public final class BlockLedger {
  private static final int MAX_ADAPTERS = 1_024;

  /** Beyond it nothing is recorded any more and the ledger counts as incomplete. */
  private final int maxBlocks;

  private final LongCounts named = new LongCounts();
  private BlockTable table = new BlockTable();
  private int blockTokens;
  private long residentTokens;
  private boolean complete;
  private boolean sparse;
  private boolean salted;
  private final Set<Long> adapters = new HashSet<>();
  private long orphans;
  private long unknownRemovals;

  public BlockLedger(int maxBlocks) {
    this.maxBlocks = maxBlocks;
  }

  /** Every change since the cache was empty is in here. */
  public boolean complete() {
    return complete;
  }

  /** Whether a prefix hit needs more than the blocks that are recorded here. */
  public boolean sparse() {
    return sparse;
  }

  /** Whether the engine tells what else goes into a block's identity. */
  public boolean tellsExtras() {
    return salted;
  }

  /** Adapters that blocks were stored for. */
  public Set<Long> adapters() {
    return Collections.unmodifiableSet(adapters);
  }

  /** Tokens of one block; 0 before the first. */
  public int blockTokens() {
    return blockTokens;
  }

  /** Tokens of all blocks that were stored and not removed, copies included. */
  public long residentTokens() {
    return residentTokens;
  }

  /** Distinct blocks. */
  public int size() {
    return table.size();
  }

  /** Stored blocks whose beginning was never told. */
  public long orphans() {
    return orphans;
  }

  /** Removed blocks that were not known to be there. */
  public long unknownRemovals() {
    return unknownRemovals;
  }

  public long bytes() {
    return table.bytes() + named.bytes();
  }

  /**
   * Begins anew.
   *
   * @param empty whether the cache is known to be empty, or holds what was never told
   */
  public void reset(boolean empty) {
    table = new BlockTable();
    named.clear();
    residentTokens = 0;
    complete = empty;
    sparse = false;
  }

  /** Some changes were lost: what is recorded may be gone, and what is not may be there. */
  public void lost() {
    boolean hybrid = sparse;
    reset(false);
    sparse = hybrid;
  }

  public void sparseGroups() {
    sparse = true;
  }

  /**
   * Blocks entered the cache.
   *
   * @param stamp when, on a clock of the caller's
   */
  public void stored(CacheChange.Stored change, int stamp) {
    int size = change.blockTokens();
    if (blockTokens != size) {
      if (blockTokens != 0) {
        lost(); // another engine configuration: nothing of before compares
      }
      blockTokens = size;
    }
    salted |= change.extra().length > 0;
    if (change.adapter() != 0 && adapters.size() < MAX_ADAPTERS) {
      adapters.add(change.adapter());
    }
    boolean told = change.tokens().length == change.hashes().length * size;
    long parent = change.rooted() ? TokenChain.root(change.adapter()) : table.name(change.parent());
    for (int i = 0; i < change.hashes().length; i++) {
      long extra = change.extra().length > i ? change.extra()[i] : 0;
      long name =
          told && parent != 0 ? TokenChain.next(parent, change.tokens(), i * size, size, extra) : 0;
      orphans += name == 0 ? 1 : 0;
      if (table.size() >= maxBlocks) {
        complete = false;
        return;
      }
      long hash = change.hashes()[i];
      long before = table.name(hash);
      table.add(hash, name, stamp);
      residentTokens += size;
      if (before == 0 && name != 0) {
        named.add(name);
      }
      parent = before != 0 ? before : name;
    }
  }

  /** Copies left the cache. Returns the latest stamp among them, or {@code Integer.MIN_VALUE}. */
  public int removed(CacheChange.Removed change) {
    int latest = Integer.MIN_VALUE;
    for (long hash : change.hashes()) {
      if (table.copies(hash) == 0) {
        unknownRemovals++;
        continue;
      }
      long name = table.remove(hash);
      latest = Math.max(latest, table.removedStamp());
      residentTokens -= blockTokens;
      if (name != 0 && table.copies(hash) == 0) {
        named.remove(name);
      }
    }
    return latest;
  }

  /** Blocks of a prompt, from its start, that are there. */
  public int match(long[] chain) {
    int held = 0;
    while (held < chain.length && named.contains(chain[held])) {
      held++;
    }
    return held;
  }

  /** Whether that block is there. */
  public boolean holds(long name) {
    return named.contains(name);
  }
}
