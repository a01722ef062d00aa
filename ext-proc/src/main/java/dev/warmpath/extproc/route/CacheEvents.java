package dev.warmpath.extproc.route;

import dev.warmpath.extproc.candidate.WorkerId;
import dev.warmpath.extproc.kvcache.BlockLedger;
import dev.warmpath.extproc.kvcache.CacheChange;
import dev.warmpath.extproc.kvcache.EventSink;
import dev.warmpath.extproc.kvcache.WorkerCache;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes what engines tell of their caches into the router's knowledge.
 *
 * <p>Without a tokenizer events still correct what is inferred: a clear empties it, the fill at
 * which an engine begins to throw out is the size of its cache, and a block that went tells how old
 * everything else is that went before it: engines throw out what was let go first, so whatever was
 * last used before that block was even stored, and is not in use, is gone too.
 *
 * <p>Thread-safe: takes the router's lock, for a bounded number of blocks at a time.
 */
public final class CacheEvents implements EventSink {
  private static final Logger LOG = LoggerFactory.getLogger(CacheEvents.class);

  private static final int CHANGES_AT_A_TIME = 64;
  private static final long STAMP_NANOS = 100_000_000L;

  /** Events arrive later than what they tell of. */
  private static final int ARRIVAL_STAMPS = 5;

  private final RoutingState state;

  public CacheEvents(PoolRouter router) {
    this.state = router.state;
  }

  /** A time as the index marks it: tenths of a second, which last for six years. */
  static int stamp(long nanos) {
    return (int) (nanos / STAMP_NANOS);
  }

  @Override
  public void began(WorkerId worker, int rank, int ranks, boolean empty) {
    state.withSlot(
        worker,
        slot -> {
          slot.cache().began(rank, ranks, empty);
          if (empty && slot.cache().residentTokens() == 0) {
            state.index.forget(slot.model().holder());
          }
        });
  }

  @Override
  public void lost(WorkerId worker, int rank, String reason) {
    LOG.warn("cache events of worker {}, rank {}: {}", worker, rank, reason);
    state.withSlot(worker, slot -> slot.cache().lost(rank, reason));
  }

  @Override
  public void live(WorkerId worker, boolean live, String reason) {
    if (!live) {
      LOG.warn("cache events of worker {}: {}", worker, reason);
    }
    state.withSlot(
        worker,
        slot -> {
          slot.cache().live(live, reason);
          slot.model().observedCacheTokens(slot.cache().capacityTokens());
        });
  }

  @Override
  public void changed(WorkerId worker, int rank, List<CacheChange> changes, long atNanos) {
    int stamp = atNanos == UNKNOWN_TIME ? Integer.MIN_VALUE : stamp(atNanos);
    for (int from = 0; from < changes.size(); from += CHANGES_AT_A_TIME) {
      List<CacheChange> some =
          changes.subList(from, Math.min(changes.size(), from + CHANGES_AT_A_TIME));
      state.withSlot(worker, slot -> apply(slot, rank, some, stamp));
    }
  }

  private void apply(WorkerSlot slot, int rank, List<CacheChange> changes, int stamp) {
    WorkerCache cache = slot.cache();
    BlockLedger ledger = cache.ledger(rank);
    int gone = Integer.MIN_VALUE;
    boolean removed = false;
    for (CacheChange change : changes) {
      switch (change) {
        case CacheChange.Stored stored -> ledger.stored(stored, stamp);
        case CacheChange.Removed some -> {
          if (!removed) {
            removed = true;
            cache.full();
          }
          gone = Math.max(gone, ledger.removed(some));
        }
        case CacheChange.Cleared cleared -> {
          cache.cleared(rank);
          state.index.forget(slot.model().holder());
        }
        case CacheChange.Sparse sparse -> ledger.sparseGroups();
      }
    }
    if (removed) {
      madeRoom(slot, gone);
    }
  }

  /** The cache was full; blocks stored at {@code gone} and earlier were thrown out. */
  private void madeRoom(WorkerSlot slot, int gone) {
    slot.model().observedCacheTokens(slot.cache().capacityTokens());
    if (slot.indexBlockTokens() > 0) {
      state.index.limit(
          slot.model().holder(), (int) (slot.model().cacheTokens() / slot.indexBlockTokens()));
    }
    if (gone != Integer.MIN_VALUE) {
      long oldest = slot.model().load().oldestReservedNanos();
      int unused = oldest == Long.MAX_VALUE ? gone : Math.min(gone, stamp(oldest));
      state.index.dropUsedBefore(slot.model().holder(), unused - ARRIVAL_STAMPS);
    }
  }
}
