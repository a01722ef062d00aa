package dev.warmpath.extproc.route;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.extproc.candidate.ServedPool;
import dev.warmpath.extproc.candidate.ServedWorker;
import dev.warmpath.extproc.candidate.WorkerGauges;
import dev.warmpath.extproc.candidate.WorkerId;
import dev.warmpath.extproc.inflight.InFlightRequest;
import dev.warmpath.extproc.inflight.RequestObserver;
import dev.warmpath.extproc.kvcache.CacheKnowledge;
import dev.warmpath.extproc.lease.LeaseLedger;
import dev.warmpath.extproc.predict.TokenRatio;
import dev.warmpath.extproc.predict.WorkerModel;
import dev.warmpath.extproc.request.PromptFingerprint;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Places prompts on workers, by the configuration in force and what was seen of each worker.
 *
 * <p>The door to what one lock guards: {@link RoutingState} holds it, with the lock; {@link
 * WorkerRegistry} has the workers, and {@link Placer} makes the choice. A request that was placed
 * is a {@link TrackedRequest} from then on.
 *
 * <p>Thread-safe: every method takes the lock itself where it needs it.
 */
public final class PoolRouter {
  /** Vendor SDKs give up after ten minutes; agents and batches may run longer. */
  private static final long LONGEST_STREAM_NANOS = 3_600_000_000_000L;

  final RoutingState state;
  private final Placer placer;
  private final InstantSource wallClock;
  private final LongAdder promptsInTokens = new LongAdder();
  private final LongAdder promptsNotInTokens = new LongAdder();
  private volatile RoutingSnapshot snapshot;
  private volatile UnaryOperator<String> tokenizerProblem = path -> "the processor reads none";

  /**
   * @param indexBytes budget of the prefix index
   * @param nanoClock intervals only; any origin
   * @param wallClock what policies see as now
   * @param random breaks ties
   */
  public PoolRouter(
      long indexBytes, LongSupplier nanoClock, InstantSource wallClock, RandomGenerator random) {
    this.wallClock = wallClock;
    this.state = new RoutingState(indexBytes, nanoClock);
    this.placer = new Placer(state, random);
    this.snapshot =
        RoutingSnapshot.compile(
            RoutingConfiguration.empty(),
            "",
            wallClock,
            id -> {
              throw new IllegalStateException("an empty configuration has no worker " + id);
            });
  }

  /** The configuration in force. */
  public RoutingSnapshot snapshot() {
    return snapshot;
  }

  /**
   * Routes by another configuration from now on. Workers that are in both keep what is known of
   * them and their leases.
   */
  public RoutingSnapshot apply(RoutingConfiguration configuration, String version) {
    state.lock.lock();
    try {
      RoutingSnapshot fresh =
          RoutingSnapshot.compile(configuration, version, wallClock, state.workers::ordinal);
      state.workers.apply(fresh);
      snapshot = fresh;
      tokenizersChanged();
      return fresh;
    } finally {
      state.lock.unlock();
    }
  }

  /** What a scrape of that worker said; ignored for a worker that isn't configured. */
  public void scraped(WorkerId worker, WorkerGauges gauges) {
    state.withSlot(
        worker,
        slot -> {
          slot.model().scraped(gauges);
          reconcile(slot.model());
        });
  }

  /**
   * Ends requests that are older than any stream may be and that their worker does not know any
   * more: their end got lost on the way (restart of Envoy). Age alone ends nothing.
   */
  private void reconcile(WorkerModel model) {
    Integer reported = model.reportedRequests();
    int excess = reported == null ? 0 : model.load().inFlight() - reported;
    long now = state.nanoClock.getAsLong();
    if (excess <= 0 || !model.load().hasOlderThan(now - LONGEST_STREAM_NANOS)) {
      return;
    }
    for (TrackedRequest request : state.inFlight.values()) {
      if (excess > 0 && request.holds(model) && now - request.startNanos() > LONGEST_STREAM_NANOS) {
        request.leaked(now);
        excess--;
      }
    }
  }

  /** Nobody listens at that worker's address. */
  public void refused(WorkerId worker) {
    state.withSlot(worker, slot -> slot.model().refused());
  }

  /** That worker's process was restarted under the same identity: its cache is empty. */
  public void restarted(WorkerId worker) {
    state.withSlot(
        worker,
        slot -> {
          state.index.forget(slot.model().holder());
          slot.model().restarted();
        });
  }

  /** Tokens of a prompt, as far as can be told; the name may be one that nobody serves. */
  public int promptTokens(PromptFingerprint prompt, String model) {
    LearntModel known = state.knownModel(model);
    return prompt.tokens(known == null ? TokenRatio.START : known.tokensPerByte());
  }

  /** The request in flight with that id, or null. */
  public @Nullable InFlightRequest inFlight(String decisionId) {
    return state.inFlight.get(decisionId);
  }

  /** Picks an endpoint and reserves it. */
  public Placement place(Placement.Prompt prompt) {
    return place(prompt, new DecisionTrace());
  }

  Placement place(Placement.Prompt prompt, DecisionTrace trace) {
    state.lock.lock();
    try {
      return placer.place(prompt, trace);
    } finally {
      state.lock.unlock();
    }
  }

  /** Tells {@code observer} about every request that ends from now on. */
  public void observe(RequestObserver observer) {
    state.observe(observer);
  }

  /** Whether what some worker of that pool has in its cache is known exactly. */
  boolean knowsExactly(ServedPool pool) {
    state.lock.lock();
    try {
      for (ServedWorker worker : pool.workers()) {
        WorkerSlot slot = state.workers.slot(worker);
        if (slot != null && slot.knowledge() == CacheKnowledge.EXACT) {
          return true;
        }
      }
      return false;
    } finally {
      state.lock.unlock();
    }
  }

  void tokenised(boolean exactly) {
    (exactly ? promptsInTokens : promptsNotInTokens).increment();
  }

  /** Prompts that were told in tokens exactly, or that could not be. */
  public long prompts(boolean exactly) {
    return (exactly ? promptsInTokens : promptsNotInTokens).sum();
  }

  /**
   * What is known of the pools' tokenizers: why there is none, by its folder; empty where there is.
   * Asked for every worker at every configuration and whenever {@link #tokenizersChanged} says so.
   */
  public void tokenizers(UnaryOperator<String> problem) {
    tokenizerProblem = problem;
    tokenizersChanged();
  }

  /** Some tokenizer has been read. */
  public void tokenizersChanged() {
    state.lock.lock();
    try {
      state.workers.tokenizers(snapshot.pools().values(), tokenizerProblem);
    } finally {
      state.lock.unlock();
    }
  }

  /** Every configured worker, in no order. */
  public List<WorkerStatus> workers() {
    state.lock.lock();
    try {
      return state.workers.statuses();
    } finally {
      state.lock.unlock();
    }
  }

  /** Leases that are held now; back to zero when traffic stops. */
  public long activeLeases() {
    return state.ledger.active();
  }

  public LeaseLedger ledger() {
    return state.ledger;
  }

  /** Bytes of the prefix index. */
  public long indexBytes() {
    state.lock.lock();
    try {
      return state.index.bytes();
    } finally {
      state.lock.unlock();
    }
  }
}
