package dev.warmpath.extproc.route;

import dev.warmpath.crds.v1alpha1.PolicySpec;
import dev.warmpath.extproc.candidate.ServedPool;
import dev.warmpath.extproc.candidate.ServedProvider;
import dev.warmpath.extproc.inflight.InFlightRequest;
import dev.warmpath.extproc.inflight.RequestObserver;
import dev.warmpath.extproc.kvcache.CacheKnowledge;
import dev.warmpath.extproc.lease.Lease;
import dev.warmpath.extproc.predict.Forecast;
import dev.warmpath.extproc.predict.ProviderModel;
import dev.warmpath.extproc.predict.WorkerModel;
import dev.warmpath.extproc.prompt.TokenPrompt;
import dev.warmpath.extproc.request.PromptFingerprint;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A placed request until its end: owns one lease at a time, moves it when Envoy tries another
 * endpoint, and turns what happens into observations.
 *
 * <pre>
 *   reserved --firstToken--> producing --ended--> over
 *      |  ^                                        ^
 *      |  +-- attempted elsewhere (lease moves)    |
 *      +--------------- ended ---------------------+
 * </pre>
 *
 * <p>Every method takes the router's lock; the first terminal call wins and the rest is ignored.
 */
final class TrackedRequest implements InFlightRequest {
  private static final double NANO = 1e-9;

  private static final Placement.Prompt NO_PROMPT =
      new Placement.Prompt(
          "", PromptFingerprint.NONE, false, List.of(), PolicySpec.Choose.Order, 0);

  private final RoutingState state;
  private final String decisionId;
  private PromptFingerprint prompt; // let go at the end, because the decision log outlives it
  private final boolean streaming;
  private final List<Route> routes;
  private final long startNanos;
  private final List<DecisionRecord.Attempt> attempts = new ArrayList<>(1);

  private Placement.Prompt tokens; // let go at the end as well
  private long @Nullable [] expected;
  private Route current;
  private @Nullable Lease lease;
  private @Nullable ProviderModel provider;
  private long attemptNanos;
  private long waitNanos;
  private double predictedSum;
  private double predictedMedian;
  private double predictedHigh;
  private boolean predictedQueued;
  private boolean predictedEarly;
  private int matchedBlocks;
  private long firstTokenNanos;
  private boolean sawFirstToken;
  private @Nullable Usage usage;
  private @Nullable Outcome outcome;
  private long endNanos;

  TrackedRequest(
      RoutingState state,
      Placement.Prompt prompt,
      List<Route> routes,
      DecisionTrace trace,
      long now) {
    this.state = state;
    this.decisionId = prompt.decisionId();
    this.prompt = prompt.fingerprint();
    this.tokens = prompt;
    this.streaming = prompt.streaming();
    this.routes = List.copyOf(routes);
    this.current = routes.getFirst();
    this.startNanos = now;
    trace.tracked(this);
  }

  /**
   * The caller holds the lock.
   *
   * @param first nothing was sent yet, so it can still be sent a little later
   */
  void reserveOn(Route route, long now, boolean first) {
    current = route;
    attemptNanos = now;
    WorkerSlot slot = route.slot();
    if (slot == null) {
      reserveOnProvider(route.target(), now);
      return;
    }
    WorkerModel worker = slot.model();
    String model = route.target().upstreamModel();
    LearntModel learnt = state.model(model);
    double blockTokens = prompt.blockTokens(learnt.tokensPerByte());
    slot.indexBlockTokens(blockTokens);
    state.index.now(CacheEvents.stamp(now));
    state.index.limit(worker.holder(), (int) (worker.cacheTokens() / blockTokens));
    TokenPrompt inTokens = tokens.tokens(route.target().pool());
    Forecast forecast = state.forecast(slot, learnt, prompt, inTokens, now);
    matchedBlocks = forecast.matchedBlocks;
    waitNanos = first ? forecast.waitNanos : 0;
    lease =
        state.ledger.reserve(
            worker.load(),
            prompt.chain(),
            prompt.blocks(),
            forecast.promptTokens,
            forecast.cachedTokens,
            forecast.claimTokens,
            forecast.baseWorkSeconds,
            streaming,
            now,
            first ? forecast.entersNanos : forecast.entersNanos - forecast.waitNanos);
    lease.leaves(now + waitNanos);
    ServedPool pool = route.target().pool();
    worker.placed(
        learnt.arrivals(), pool == null ? 1 : pool.workers().size(), forecast.baseWorkSeconds);
    if (forecast.rides) {
      lease.rides(forecast.ridersInFront);
    }
    long[] exact = inTokens == null ? null : slot.exactChain(inTokens, model);
    expected = exact != null && slot.cache().expect(exact) ? exact : null;
    long evicted = worker.holder().evicted();
    state.index.expect(worker.holder(), learnt.hash(), prompt.chain(), prompt.blocks());
    learnt.reuse().evicted((worker.holder().evicted() - evicted) * blockTokens);
    predictedSum = forecast.ttftSeconds;
    predictedMedian = forecast.medianSeconds;
    predictedHigh = forecast.highSeconds;
    predictedQueued = forecast.queued;
    predictedEarly = forecast.early;
    attempts.add(
        new DecisionRecord.Attempt(
            slot.served().id().name(), slot.served().endpoint(), (now - startNanos) * NANO));
  }

  private void reserveOnProvider(Target target, long now) {
    ServedProvider served = target.provider();
    if (served == null) {
      return;
    }
    ProviderModel model = state.providers.model(target, served);
    model.reserved();
    provider = model;
    predictedSum = model.medianSeconds(now);
    predictedMedian = predictedSum;
    predictedHigh = model.highSeconds(now);
    attempts.add(new DecisionRecord.Attempt(served.id().name(), "", (now - startNanos) * NANO));
  }

  @Override
  public String decisionId() {
    return decisionId;
  }

  @Override
  public void attempted(String upstreamAddress, int attempt) {
    state.lock.lock();
    try {
      if (outcome != null || sawFirstToken) {
        return;
      }
      Route route = routeTo(upstreamAddress);
      if (route == null || route.equals(current)) {
        return;
      }
      long now = state.nanoClock.getAsLong();
      leaveFailed(now);
      reserveOn(route, now, false);
    } finally {
      state.lock.unlock();
    }
  }

  /** The route with that address; an unknown address is the provider's, if there is one. */
  private @Nullable Route routeTo(String upstreamAddress) {
    Route external = null;
    for (Route route : routes) {
      WorkerSlot slot = route.slot();
      if (slot == null) {
        external = external == null ? route : external;
      } else if (slot.served().endpoint().equals(upstreamAddress)) {
        return route;
      }
    }
    return external;
  }

  /** Releases what the failed attempt held. */
  private void leaveFailed(long now) {
    Lease held = lease;
    if (held != null) {
      state.ledger.moved(held, now);
      unexpect(false, now);
      retract();
      workerOf(current).failed(now);
      lease = null;
    }
    ProviderModel external = provider;
    if (external != null) {
      external.released();
      external.failed(now);
      provider = null;
    }
  }

  /** From here on only the worker's own events say what it holds. */
  private void unexpect(boolean answered, long now) {
    long[] chain = expected;
    WorkerSlot slot = current.slot();
    if (chain == null || slot == null) {
      return;
    }
    if (answered) {
      slot.cache().answered(chain, now);
    } else {
      slot.cache().over(chain);
    }
    expected = null;
  }

  private void retract() {
    state.index.retract(
        workerOf(current).holder(),
        learnt().hash(),
        prompt.chain(),
        prompt.blocks(),
        matchedBlocks);
  }

  /** What is known of the model that the current attempt asks for. */
  private LearntModel learnt() {
    return state.model(current.target().upstreamModel());
  }

  private static WorkerModel workerOf(Route route) {
    WorkerSlot slot = route.slot();
    if (slot == null) {
      throw new IllegalStateException("a lease is held on a worker");
    }
    return slot.model();
  }

  @Override
  public void firstToken(long atNanos) {
    state.lock.lock();
    try {
      if (outcome != null || sawFirstToken) {
        return;
      }
      sawFirstToken = true;
      state.index.now(CacheEvents.stamp(atNanos));
      firstTokenNanos = atNanos;
      if (!streaming) {
        return; // the first byte of a whole answer says nothing about its first token
      }
      double actual = Math.max(0, atNanos - attemptNanos) * NANO;
      Lease held = lease;
      if (held != null) {
        WorkerModel worker = workerOf(current);
        worker.firstToken(held, atNanos);
        worker.answered();
        confirm(worker);
        worker.error().add(predictedMedian, predictedHigh, actual);
        worker
            .kind()
            .learnResidual(
                predictedSum,
                predictedMedian,
                predictedHigh,
                predictedQueued,
                predictedEarly,
                actual);
      }
      ProviderModel external = provider;
      if (external != null) {
        external.error().add(predictedMedian, predictedHigh, actual);
        external.observed(actual);
      }
    } finally {
      state.lock.unlock();
    }
  }

  private void confirm(WorkerModel worker) {
    state.index.confirm(worker.holder(), learnt().hash(), prompt.chain(), prompt.blocks());
  }

  @Override
  public void usage(Usage fresh) {
    state.lock.lock();
    try {
      if (outcome != null) {
        return;
      }
      Usage before = usage;
      usage =
          before == null
              ? fresh
              : new Usage(
                  first(fresh.promptTokens(), before.promptTokens()),
                  first(fresh.cachedTokens(), before.cachedTokens()),
                  first(fresh.completionTokens(), before.completionTokens()));
    } finally {
      state.lock.unlock();
    }
  }

  private static @Nullable Integer first(@Nullable Integer a, @Nullable Integer b) {
    return a != null ? a : b;
  }

  @Override
  public void ended(Outcome how, long atNanos) {
    RequestObserver.Summary summary;
    state.lock.lock();
    try {
      if (outcome != null) {
        return;
      }
      outcome = how;
      endNanos = atNanos;
      state.inFlight.remove(decisionId, this);
      Lease held = lease;
      if (held != null) {
        endOnWorker(held, how, atNanos);
      }
      ProviderModel external = provider;
      if (external != null) {
        external.released();
        if (failure(how)) {
          external.failed(atNanos);
        }
      }
      prompt = PromptFingerprint.NONE;
      tokens = NO_PROMPT;
      summary = summary();
    } finally {
      state.lock.unlock();
    }
    state.ended(summary);
  }

  private RequestObserver.Summary summary() {
    return new RequestObserver.Summary(
        decisionId,
        current.target().clusterName(),
        current.target().upstreamModel(),
        current.slot() == null,
        outcome == null ? Outcome.LOST : outcome,
        predictedMedian > 0 ? predictedMedian : Double.NaN,
        sawFirstToken && streaming ? (firstTokenNanos - attemptNanos) * NANO : Double.NaN,
        (endNanos - startNanos) * NANO,
        usage);
  }

  /** Whether its lease is on that worker; the caller holds the lock. */
  boolean holds(WorkerModel worker) {
    Lease held = lease;
    return held != null && held.load() == worker.load();
  }

  long startNanos() {
    return startNanos;
  }

  /** Nobody will report its end any more; the caller holds the lock. */
  void leaked(long now) {
    Lease held = lease;
    if (held != null && outcome == null) {
      state.ledger.leak(held, now);
      ended(Outcome.LOST, now);
    }
  }

  private static boolean followed(Route route) {
    WorkerSlot slot = route.slot();
    return slot != null && slot.knowledge() != CacheKnowledge.APPROXIMATE;
  }

  private static boolean failure(Outcome how) {
    return switch (how) {
      case COMPLETED, CLIENT_GONE, LOST -> false;
      case UPSTREAM_ERROR, UPSTREAM_RESET, NO_UPSTREAM, UPSTREAM_FULL -> true;
    };
  }

  private void endOnWorker(Lease held, Outcome how, long atNanos) {
    WorkerModel worker = workerOf(current);
    boolean answered = how == Outcome.COMPLETED || sawFirstToken;
    state.ledger.end(held, atNanos); // a leaked one has ended already
    unexpect(answered && (how == Outcome.COMPLETED || how == Outcome.CLIENT_GONE), atNanos);
    state.index.now(CacheEvents.stamp(atNanos));
    if (how == Outcome.COMPLETED && !streaming) {
      worker.answered();
      confirm(worker);
    } else if (how == Outcome.COMPLETED && followed(current)) {
      confirm(worker); // engines order blocks by when they were let go
    } else if (!answered) {
      retract();
    }
    switch (how) {
      // An error status (a bad parameter) says nothing about the worker's health.
      case UPSTREAM_RESET, NO_UPSTREAM, UPSTREAM_FULL -> worker.failed(atNanos);
      case COMPLETED -> learn(worker, held, atNanos);
      case CLIENT_GONE, LOST, UPSTREAM_ERROR -> {}
    }
    if (how != Outcome.COMPLETED) {
      worker.spoilt(held);
    }
  }

  private void learn(WorkerModel worker, Lease held, long atNanos) {
    Usage reported = usage;
    Integer promptTokens = reported == null ? null : reported.promptTokens();
    Integer cachedTokens = reported == null ? null : reported.cachedTokens();
    if (promptTokens != null) {
      learnt().ratio().learn(prompt, promptTokens);
    }
    // An absent count means zero only where this kind of worker is known to report it.
    if (cachedTokens == null && promptTokens != null && worker.kind().cache().reported()) {
      cachedTokens = 0;
    }
    if (cachedTokens != null) {
      worker.kind().learnCached(held.cachedTokens(), cachedTokens);
    }
    worker.learn(
        held,
        promptTokens == null ? held.promptTokens() : promptTokens,
        cachedTokens == null ? held.cachedTokens() : cachedTokens);
    Integer completion = reported == null ? null : reported.completionTokens();
    if (sawFirstToken && streaming) {
      worker.decoded(held, atNanos, completion);
    }
    if (completion != null && completion > 0) {
      double perByte = learnt().tokensPerByte();
      long unique = prompt.blocks() == 0 ? startNanos : prompt.chain()[prompt.blocks() - 1];
      state.index.occupy(
          worker.holder(), unique ^ startNanos, (int) (completion / prompt.blockTokens(perByte)));
    }
  }

  /** Of the current attempt; the caller holds the lock. */
  double predictedMedianSeconds() {
    return predictedMedian;
  }

  /** Before it is sent; the caller holds the lock. */
  long waitNanos() {
    return waitNanos;
  }

  /** Of the current attempt; the caller holds the lock. */
  double predictedHighSeconds() {
    return predictedHigh;
  }

  /** What has come of the request so far. */
  record Progress(
      List<DecisionRecord.Attempt> attempts,
      @Nullable Outcome outcome,
      @Nullable Double predictedSeconds,
      @Nullable Double highSeconds,
      @Nullable Double actualSeconds,
      @Nullable Double errorRatio,
      @Nullable Double totalSeconds,
      @Nullable Usage usage) {
    static final Progress NONE = new Progress(List.of(), null, null, null, null, null, null, null);
  }

  Progress progress() {
    state.lock.lock();
    try {
      Double actual = sawFirstToken && streaming ? (firstTokenNanos - attemptNanos) * NANO : null;
      return new Progress(
          List.copyOf(attempts),
          outcome,
          predictedMedian,
          predictedHigh,
          actual,
          actual == null || actual <= 0 ? null : (actual - predictedMedian) / actual,
          outcome == null ? null : (endNanos - startNanos) * NANO,
          usage);
    } finally {
      state.lock.unlock();
    }
  }
}
