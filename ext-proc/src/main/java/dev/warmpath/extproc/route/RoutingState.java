package dev.warmpath.extproc.route;

import dev.warmpath.extproc.candidate.WorkerId;
import dev.warmpath.extproc.index.PrefixIndex;
import dev.warmpath.extproc.inflight.RequestObserver;
import dev.warmpath.extproc.lease.LeaseLedger;
import dev.warmpath.extproc.predict.Forecast;
import dev.warmpath.extproc.predict.WorkerModel;
import dev.warmpath.extproc.prompt.TokenPrompt;
import dev.warmpath.extproc.request.PromptFingerprint;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What the router knows and holds, and the one lock that guards all of it: workers and providers,
 * what is learnt of them and of models, the prefix index, leases and requests in flight.
 *
 * <p>The lock is held for a few microseconds for a handful of workers, never over I/O, and makes
 * pick and reserve one step: of a burst, each request sees the load of those before it. Several
 * locks would not help much, because pools share workers and policies compare pools. Whoever reads
 * or changes anything here holds it, unless a member says otherwise; elsewhere it is called the
 * router's lock.
 */
final class RoutingState {
  final ReentrantLock lock = new ReentrantLock();

  /** Needs no lock. */
  final LongSupplier nanoClock;

  final PrefixIndex index;
  final WorkerRegistry workers;
  final ProviderRegistry providers = new ProviderRegistry();

  /** Its counters may be read without the lock. */
  final LeaseLedger ledger = new LeaseLedger();

  /** By decision id; may be read without the lock. */
  final ConcurrentHashMap<String, TrackedRequest> inFlight = new ConcurrentHashMap<>();

  private final ConcurrentHashMap<String, LearntModel> models = new ConcurrentHashMap<>();
  private final Forecast forecast = new Forecast();
  private volatile RequestObserver observer = summary -> {};

  /**
   * @param indexBytes budget of the prefix index
   * @param nanoClock intervals only; any origin
   */
  RoutingState(long indexBytes, LongSupplier nanoClock) {
    this.index = new PrefixIndex(indexBytes);
    this.nanoClock = nanoClock;
    this.workers = new WorkerRegistry(index);
  }

  /** What is learnt of the model with that upstream name. */
  LearntModel model(String upstreamModel) {
    LearntModel known = models.get(upstreamModel);
    if (known == null) {
      known = new LearntModel(upstreamModel, index);
      models.put(upstreamModel, known);
    }
    return known;
  }

  /** Null for a name that nothing was placed under yet. Needs no lock. */
  @Nullable LearntModel knownModel(String upstreamModel) {
    return models.get(upstreamModel);
  }

  /**
   * Predicts one worker for one prompt. The result is filled anew by the next call.
   *
   * @param tokens null where the prompt is not told in tokens
   */
  Forecast forecast(
      WorkerSlot slot,
      LearntModel model,
      PromptFingerprint prompt,
      @Nullable TokenPrompt tokens,
      long now) {
    WorkerModel worker = slot.model();
    int matched = index.match(worker.holder(), model.hash(), prompt.chain(), prompt.blocks());
    int cached = tokens == null ? -1 : slot.exactlyCached(tokens, model.name(), now);
    if (tokens == null || cached < 0) {
      worker.forecast(prompt, matched, model.tokensPerByte(), now, forecast);
    } else {
      worker.forecast(prompt, matched, tokens.length(), cached, now, forecast);
    }
    return forecast;
  }

  /** Takes the lock; does nothing where that worker is not configured. */
  void withSlot(WorkerId id, Consumer<WorkerSlot> action) {
    lock.lock();
    try {
      WorkerSlot slot = workers.slot(id);
      if (slot != null) {
        action.accept(slot);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Needs no lock. */
  void observe(RequestObserver told) {
    observer = told;
  }

  /** The caller does not hold the lock. */
  void ended(RequestObserver.Summary summary) {
    observer.ended(summary);
  }
}
