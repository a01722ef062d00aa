package dev.warmpath.extproc.route;

import dev.warmpath.crds.v1alpha1.PoolSpec;
import dev.warmpath.extproc.candidate.ServedPool;
import dev.warmpath.extproc.candidate.ServedWorker;
import dev.warmpath.extproc.candidate.WorkerId;
import dev.warmpath.extproc.index.PrefixIndex;
import dev.warmpath.extproc.predict.KindModel;
import dev.warmpath.extproc.predict.WorkerModel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The configured workers. Each identity has a number, its ordinal, by which a {@link ServedWorker}
 * finds its {@link WorkerSlot} without a look-up by name. A number is given to another worker once
 * its own is not configured any more, so a slot that is found by an older configuration may be
 * somebody else's: {@link #slot(ServedWorker)} compares.
 *
 * <p>Not thread-safe: guarded by the router's lock.
 */
final class WorkerRegistry {
  private final PrefixIndex index;
  private final Map<WorkerId, Integer> ordinals = new HashMap<>();
  private final List<@Nullable WorkerSlot> slots = new ArrayList<>();
  private final Map<String, KindModel> kinds = new HashMap<>();

  WorkerRegistry(PrefixIndex index) {
    this.index = index;
  }

  /** The number of that worker, for a snapshot that is being compiled. */
  int ordinal(WorkerId id) {
    return ordinals.computeIfAbsent(id, any -> freeOrdinal());
  }

  private int freeOrdinal() {
    for (int i = 0; i < slots.size(); i++) {
      if (slots.get(i) == null && !ordinals.containsValue(i)) {
        return i;
      }
    }
    slots.add(null);
    return slots.size() - 1;
  }

  /**
   * These are the workers from now on. Those that were there before keep what is known of them and
   * their leases.
   */
  void apply(RoutingSnapshot fresh) {
    Map<WorkerId, String> modelOf = new HashMap<>();
    for (ServedPool pool : fresh.pools().values()) {
      pool.workers().forEach(worker -> modelOf.putIfAbsent(worker.id(), pool.model()));
    }
    Set<WorkerId> configured = new HashSet<>();
    for (ServedWorker worker : fresh.workers()) {
      configured.add(worker.id());
      WorkerSlot slot = slots.get(worker.ordinal());
      if (slot == null) {
        slots.set(
            worker.ordinal(),
            new WorkerSlot(worker, newModel(worker, modelOf.getOrDefault(worker.id(), ""))));
      } else {
        slot.configured(worker);
      }
    }
    ordinals.entrySet().removeIf(entry -> retire(entry.getValue(), configured));
  }

  private WorkerModel newModel(ServedWorker worker, String model) {
    KindModel kind =
        kinds.computeIfAbsent(
            model + '\n' + worker.hardware(), key -> new KindModel(worker.profile()));
    return new WorkerModel(kind, index.newHolder(1), worker.profile().kvCacheTokens());
  }

  /** Forgets a worker that is not configured any more; its running requests end on their own. */
  private boolean retire(int ordinal, Set<WorkerId> configured) {
    WorkerSlot slot = slots.get(ordinal);
    if (slot == null || configured.contains(slot.served().id())) {
      return false;
    }
    slot.gone();
    index.forget(slot.model().holder());
    slots.set(ordinal, null);
    return true;
  }

  /** Null where the worker is not the one any more that the snapshot meant. */
  @Nullable WorkerSlot slot(ServedWorker worker) {
    WorkerSlot slot = worker.ordinal() < slots.size() ? slots.get(worker.ordinal()) : null;
    return slot != null && slot.serves(worker) ? slot : null;
  }

  /** Null where that worker is not configured. */
  @Nullable WorkerSlot slot(WorkerId id) {
    Integer ordinal = ordinals.get(id);
    return ordinal == null ? null : slots.get(ordinal);
  }

  /** By number, null where that is nobody's; numbers are below {@link #size}. */
  @Nullable WorkerSlot slot(int ordinal) {
    return slots.get(ordinal);
  }

  int size() {
    return slots.size();
  }

  /** Asks for every worker of these pools why its tokenizer can't be used; empty where it can. */
  void tokenizers(Iterable<ServedPool> pools, UnaryOperator<String> problem) {
    for (ServedPool pool : pools) {
      PoolSpec.Tokenizer tokenizer = pool.spec().tokenizer();
      for (ServedWorker worker : pool.workers()) {
        WorkerSlot slot = slot(worker);
        if (slot != null && tokenizer != null) {
          slot.tokenizer(problem.apply(tokenizer.path()));
        }
      }
    }
  }

  /** Every configured worker, in no order. */
  List<WorkerStatus> statuses() {
    List<WorkerStatus> all = new ArrayList<>(slots.size());
    for (WorkerSlot slot : slots) {
      if (slot != null) {
        all.add(slot.status());
      }
    }
    return all;
  }
}
