package dev.warmpath.extproc.kvcache;

import dev.warmpath.extproc.candidate.WorkerId;
import java.util.List;

/**
 * Takes what events tell of caches. A worker with data parallelism has one cache for each rank; the
 * calls for one worker come from one thread, those for different workers from several.
 */
public interface EventSink {
  /** Stands for "nobody knows when", for changes that were asked for again. */
  long UNKNOWN_TIME = Long.MIN_VALUE;

  /**
   * The stream of a rank begins, or begins anew.
   *
   * @param ranks how many streams this worker has
   * @param empty its cache is empty, rather than unknown
   */
  void began(WorkerId worker, int rank, int ranks, boolean empty);

  /**
   * Changes, in order.
   *
   * @param atNanos when they arrived, on the injected clock, or {@link #UNKNOWN_TIME}
   */
  void changed(WorkerId worker, int rank, List<CacheChange> changes, long atNanos);

  /** Some changes are lost for good. */
  void lost(WorkerId worker, int rank, String reason);

  /**
   * Whether the streams of this worker can be relied on now.
   *
   * @param reason for people, where they cannot
   */
  void live(WorkerId worker, boolean live, String reason);
}
