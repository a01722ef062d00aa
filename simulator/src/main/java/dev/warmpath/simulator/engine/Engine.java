package dev.warmpath.simulator.engine;

import java.util.ArrayDeque;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One inference engine in simulated time.
 *
 * <p>A request spends its frontend time, waits in one first-come-first-served queue and joins the
 * batch. A step takes the running sequences in order (one token for a decoder, the rest of the
 * budget for a prefill), then the waiting ones with what is left of the budget; prefills are
 * therefore in effect serial. When the pool runs out, the sequence that joined last gives its
 * blocks back and is computed again later.
 *
 * <p>Steps in which nothing changes but the contexts are taken together as one <em>run</em> in
 * closed form, so the cost of a simulation is per change of the batch and not per token; a request
 * that arrives during a run ends it at the next step boundary. Token times are the same as if each
 * step were simulated. With token events every step is its own run.
 *
 * <p>Times are nanoseconds of whatever clock the caller keeps and never go back. Drive it by {@link
 * #nextEventNanos()} and {@link #advanceTo(long)}. Not thread-safe.
 */
public final class Engine {
  /** What happened to a request at the door. */
  public enum Admission {
    ACCEPTED,
    /** The queue was seen full. */
    QUEUE_FULL,
    /** The sequence can't fit into the pool or the model. */
    TOO_LONG
  }

  /** Noise of decode steps changes only every so many steps, so that runs stay long. */
  private static final int DECODE_NOISE_STEPS = 16;

  private final EngineProfile profile;
  private final StepModel model;
  private final Noise noise;
  private final EngineListener listener;
  private final boolean tokenEvents;
  private CacheListener cacheListener;
  private final EngineStats stats = new EngineStats();

  final RequestCache cache;
  final FrontendQueue frontend = new FrontendQueue();
  final ArrayDeque<EngineRequest> waiting = new ArrayDeque<>();
  EngineRequest[] running = new EngineRequest[16];
  int runningCount;

  // The run in progress.
  boolean stepping;
  long runStartNanos;
  long runEndNanos;
  private long runSteps;
  int runDecoders;
  private int runPrefillTokens;
  private long runContext;
  private double runFactor = 1;
  private long runNanos;

  private long stalledUntilNanos = Long.MIN_VALUE;
  private double slowFactor = 1;
  private boolean metricsFrozen;
  private long arrivals;
  private int epoch;

  /** An engine without token events and without noise seed. */
  public Engine(EngineProfile profile, EngineListener listener) {
    this(profile, 0, listener, CacheListener.NONE, false);
  }

  public Engine(
      EngineProfile profile,
      long seed,
      EngineListener listener,
      CacheListener cacheListener,
      boolean tokenEvents) {
    this.profile = profile;
    this.listener = listener;
    this.cacheListener = cacheListener;
    this.tokenEvents = tokenEvents;
    model = profile.step();
    noise = new Noise(seed, profile.noise());
    cache = new RequestCache(profile.cache(), cacheListener);
  }

  public EngineProfile profile() {
    return profile;
  }

  public EngineStats stats() {
    return stats;
  }

  /** Counts restarts. */
  public int epoch() {
    return epoch;
  }

  /** Tells someone else about the pool from now on. */
  public void cacheListener(CacheListener other) {
    cacheListener = other;
    cache.listener(other);
  }

  /** Takes a request from the network. Its first event comes later, from {@link #advanceTo}. */
  public Admission submit(EngineRequest request, long atNanos) {
    if (request.state != EngineRequest.State.NEW) {
      throw new IllegalArgumentException("request is " + request.state + ", not NEW");
    }
    int tokens = request.promptTokens + request.outputTokens;
    if (tokens > profile.maxModelTokens() || !cache.canEverHold(tokens)) {
      request.state = EngineRequest.State.REJECTED;
      return Admission.TOO_LONG;
    }
    // At the door the frontend knows only what the last step reported; the scheduler looks again.
    if (profile.maxQueued() > 0 && stats.shownWaiting >= profile.maxQueued()) {
      request.state = EngineRequest.State.REJECTED;
      stats.rejected++;
      return Admission.QUEUE_FULL;
    }
    request.state = EngineRequest.State.FRONTEND;
    request.sequence = arrivals++;
    request.arrivalNanos = atNanos;
    request.readyNanos = atNanos + profile.frontendNanosOf(request.promptTokens);
    frontend.add(request);
    return Admission.ACCEPTED;
  }

  /**
   * Drops a request wherever it is. A running one leaves the batch when the step in progress ends.
   */
  public void abort(EngineRequest request, long atNanos) {
    switch (request.state) {
      case FRONTEND -> {
        request.state = EngineRequest.State.ABORTED;
        stats.aborted++;
      }
      case WAITING -> {
        boolean wasHead = waiting.peekFirst() == request;
        waiting.remove(request);
        request.state = EngineRequest.State.ABORTED;
        stats.aborted++;
        if (wasHead) {
          endRunBy(atNanos);
        }
      }
      case RUNNING -> {
        request.abortRequested = true;
        endRunBy(atNanos);
      }
      default -> {}
    }
  }

  /** When something happens next; {@link Long#MAX_VALUE} for an idle engine. */
  public long nextEventNanos() {
    return Math.min(frontend.nextReadyNanos(), stepping ? runEndNanos : Long.MAX_VALUE);
  }

  /** Lets everything happen that is due by {@code untilNanos}. */
  public void advanceTo(long untilNanos) {
    while (true) {
      long ready = frontend.nextReadyNanos();
      long end = stepping ? runEndNanos : Long.MAX_VALUE;
      long next = Math.min(ready, end);
      if (next > untilNanos || next == Long.MAX_VALUE) {
        return;
      }
      if (ready <= end) {
        enqueue(frontend.remove(), ready);
      } else {
        endStep(end);
        schedule(end);
      }
    }
  }

  /** Every later step takes this many times as long. */
  public void slowDown(double factor, long atNanos) {
    if (!(factor > 0)) {
      throw new IllegalArgumentException("slow factor must be above 0, not " + factor);
    }
    slowFactor = factor;
    endRunBy(atNanos);
  }

  /** No step starts before this time; {@link Long#MAX_VALUE} is never. */
  public void stallUntil(long untilNanos, long atNanos) {
    boolean earlier = untilNanos < stalledUntilNanos;
    stalledUntilNanos = untilNanos;
    if (stepping && runStartNanos > atNanos && earlier) {
      // The next run was waiting for the stall to end.
      runStartNanos = Math.max(atNanos, untilNanos);
      runEndNanos = saturatingAdd(runStartNanos, runNanos);
    } else {
      endRunBy(atNanos);
    }
  }

  /** Stops refreshing the gauges, or goes on. */
  public void freezeMetrics(boolean frozen) {
    metricsFrozen = frozen;
    if (!frozen) {
      show();
    }
  }

  /** The process dies and comes back with an empty cache; every request is lost. */
  public void restart(long atNanos) {
    EngineRequest[] lost = new EngineRequest[frontend.size() + waiting.size() + runningCount];
    int count = 0;
    for (int i = 0; i < runningCount; i++) {
      lost[count++] = running[i];
    }
    for (EngineRequest request : waiting) {
      lost[count++] = request;
    }
    while (frontend.size() > 0) {
      lost[count++] = frontend.remove();
    }
    for (int i = 0; i < runningCount; i++) {
      cache.release(running[i]);
    }
    clearRunning(0);
    waiting.clear();
    stepping = false;
    cache.pool.clear();
    stalledUntilNanos = Long.MIN_VALUE;
    epoch++;
    show();
    for (int i = 0; i < count; i++) {
      if (lost[i].state != EngineRequest.State.ABORTED) {
        lost[i].state = EngineRequest.State.LOST;
        listener.onLost(lost[i], atNanos);
      }
    }
  }

  /** Drops every stored block, if no request uses any; says whether it did. */
  public boolean clearCache() {
    if (usedRatio() > 0) {
      return false;
    }
    cache.pool.clear();
    cacheListener.onCleared();
    return true;
  }

  /** Requests that hold a place in the batch. */
  public int runningRequests() {
    return runningCount;
  }

  /** Requests that wait for a place. */
  public int waitingRequests() {
    return waiting.size();
  }

  /** Requests of any state that the engine still works on. */
  public int liveRequests() {
    return runningCount + waiting.size() + frontend.size();
  }

  /** Share of the pool that live requests hold right now. */
  public double usedRatio() {
    return 1 - (double) cache.pool.free() / cache.pool.size();
  }

  private void enqueue(EngineRequest request, long atNanos) {
    if (request.state == EngineRequest.State.ABORTED) {
      return;
    }
    if (profile.maxQueued() > 0 && waiting.size() >= profile.maxQueued()) {
      request.state = EngineRequest.State.REJECTED;
      stats.rejected++;
      listener.onRejected(request, atNanos);
      return;
    }
    boolean head = waiting.isEmpty();
    request.state = EngineRequest.State.WAITING;
    waiting.addLast(request);
    if (!stepping) {
      schedule(atNanos);
    } else if (head) {
      endRunBy(atNanos);
    }
  }

  /** Plans the next run. */
  private void schedule(long atNanos) {
    int budget = profile.maxBatchedTokens();
    int decoders = 0;
    int prefillTokens = 0;
    double attention = 0;
    long context = 0;
    long steps = tokenEvents ? 1 : Long.MAX_VALUE;
    boolean preempted = false;

    for (int i = 0; i < runningCount; i++) {
      EngineRequest request = running[i];
      int tokens = chunk(request.computed, request.known(), request.junctionTokens, budget);
      request.planned = tokens;
      if (tokens == 0) {
        continue;
      }
      boolean fits = cache.grow(request, request.computed + tokens);
      while (!fits) {
        preempted = true;
        EngineRequest victim = running[runningCount - 1];
        preempt(victim);
        if (victim == request) {
          break;
        }
        fits = cache.grow(request, request.computed + tokens);
      }
      if (!fits) {
        break;
      }
      budget -= tokens;
      context += request.computed;
      if (decodes(request)) {
        decoders++;
        steps = Math.min(steps, request.outputTokens - request.generated);
        steps = Math.min(steps, cache.roomTokens(request));
      } else {
        prefillTokens += tokens;
        attention += model.attentionNanos(request.computed, tokens);
        cache.seal(request, request.computed + tokens);
      }
    }

    while (!preempted && runningCount < profile.maxRunning()) {
      EngineRequest request = waiting.peekFirst();
      if (request == null || !mayStart(request, budget)) {
        break;
      }
      int usable = cache.usableBlocks(request.chain, request.known());
      int computed = usable * profile.cache().blockTokens();
      int tokens = chunk(computed, request.known(), 0, budget);
      if (tokens == 0
          || tooSmallToStart(tokens, request.known() - computed)
          || !cache.admit(request, usable, computed + tokens)) {
        break;
      }
      waiting.removeFirst();
      join(request, atNanos);
      // A junction found on admission may end the chunk earlier.
      tokens = chunk(computed, request.known(), request.junctionTokens, budget);
      request.planned = tokens;
      budget -= tokens;
      context += computed;
      prefillTokens += tokens;
      attention += model.attentionNanos(computed, tokens);
      cache.seal(request, computed + tokens);
    }

    if (decoders == 0 && prefillTokens == 0) {
      stepping = false;
      show();
      return;
    }
    startRun(atNanos, steps, decoders, prefillTokens, attention, context, preempted);
  }

  private void startRun(
      long atNanos,
      long mostSteps,
      int decoders,
      int prefillTokens,
      double attention,
      long context,
      boolean preempted) {
    stepping = true;
    runStartNanos = Math.max(atNanos, stalledUntilNanos);
    runDecoders = decoders;
    runPrefillTokens = prefillTokens;
    runContext = context;
    double nanos;
    if (prefillTokens > 0) {
      runSteps = 1;
      runFactor = slowFactor * noise.factor(stats.steps);
      nanos = runFactor * model.prefillStepNanos(prefillTokens, attention, context);
    } else {
      runSteps = preempted ? 1 : mostSteps;
      if (!noise.exact()) {
        runSteps = Math.min(runSteps, DECODE_NOISE_STEPS - stats.steps % DECODE_NOISE_STEPS);
      }
      runFactor = slowFactor * noise.factor(-1 - stats.steps / DECODE_NOISE_STEPS);
      nanos = decodeNanos(runSteps);
    }
    runNanos = Math.round(nanos);
    runEndNanos = saturatingAdd(runStartNanos, runNanos);
  }

  /** Cuts the run in progress at the first step boundary that is not before {@code atNanos}. */
  private void endRunBy(long atNanos) {
    if (!stepping || runSteps == 1 || runEndNanos <= atNanos) {
      return;
    }
    runSteps = stepsUntil(atNanos);
    runNanos = Math.round(decodeNanos(runSteps));
    runEndNanos = saturatingAdd(runStartNanos, runNanos);
  }

  /** The number of steps of the run after which {@code atNanos} is reached, at least 1. */
  private long stepsUntil(long atNanos) {
    double elapsed = atNanos - runStartNanos;
    if (elapsed <= 0) {
      return 1;
    }
    double quadratic = runFactor * model.contextNanosPerToken() * runDecoders * 0.5;
    double linear = decodeNanos(1) - quadratic;
    double estimate =
        quadratic < 1e-12 * linear
            ? elapsed / linear
            : (Math.sqrt(linear * linear + 4 * quadratic * elapsed) - linear) / (2 * quadratic);
    long steps = Math.clamp((long) estimate - 1, 1, runSteps);
    while (steps < runSteps && Math.round(decodeNanos(steps)) < elapsed) {
      steps++;
    }
    return steps;
  }

  private double decodeNanos(long steps) {
    return runFactor * model.decodeStepsNanos(steps, runDecoders, runContext);
  }

  /** When the step ends that is in progress at {@code atNanos}. */
  long stepEndNanos(long atNanos) {
    if (!stepping || runSteps == 1 || runEndNanos <= atNanos) {
      return runEndNanos;
    }
    return runStartNanos + Math.round(decodeNanos(stepsUntil(atNanos)));
  }

  /** Steps of the run that are over before the one that ends at {@link #stepEndNanos}. */
  long stepsBefore(long atNanos) {
    return !stepping || runSteps == 1 ? 0 : stepsUntil(atNanos) - 1;
  }

  private void endStep(long atNanos) {
    stepping = false;
    stats.steps += runSteps;
    stats.prefillTokens += runPrefillTokens;
    tellSteps(atNanos);
    int kept = 0;
    int count = runningCount;
    for (int i = 0; i < count; i++) {
      EngineRequest request = running[i];
      if (request.abortRequested) {
        request.state = EngineRequest.State.ABORTED;
        stats.aborted++;
        cache.release(request);
      } else {
        if (request.planned > 0) {
          apply(request, atNanos);
        }
        if (request.generated == request.outputTokens) {
          finish(request, atNanos);
        } else {
          running[kept++] = request;
        }
      }
    }
    clearRunning(kept);
    cacheListener.onStepEnd(atNanos);
    show();
  }

  private void apply(EngineRequest request, long atNanos) {
    if (decodes(request)) {
      request.computed += (int) runSteps;
      request.generated += (int) runSteps;
      stats.generatedTokens += runSteps;
      cache.seal(request, request.computed);
    } else {
      request.computed += request.planned;
      cache.checkpoint(request, request.computed);
      if (request.computed < request.known()) {
        return;
      }
      stats.generatedTokens++;
      if (request.generated++ == 0) {
        request.firstTokenNanos = atNanos;
        listener.onFirstToken(request, atNanos);
      }
    }
    if (tokenEvents) {
      listener.onToken(request, atNanos);
    }
  }

  private void finish(EngineRequest request, long atNanos) {
    request.state = EngineRequest.State.FINISHED;
    request.finishNanos = atNanos;
    stats.finished++;
    cache.release(request);
    listener.onFinished(request, atNanos);
  }

  private void tellSteps(long atNanos) {
    long first = runSteps == 1 ? atNanos - runStartNanos : Math.round(decodeNanos(1));
    long last =
        runSteps == 1 ? first : Math.round(decodeNanos(runSteps) - decodeNanos(runSteps - 1));
    listener.onSteps(runSteps, runDecoders, runPrefillTokens, first, last);
  }

  private void join(EngineRequest request, long atNanos) {
    request.state = EngineRequest.State.RUNNING;
    if (request.preemptions == 0) {
      request.scheduledNanos = atNanos;
      request.cachedTokens = request.computed;
      stats.promptTokens += request.promptTokens;
      stats.cachedTokens += request.computed;
    }
    if (runningCount == running.length) {
      running = Arrays.copyOf(running, runningCount * 2);
    }
    running[runningCount++] = request;
  }

  private void preempt(EngineRequest victim) {
    clearRunning(runningCount - 1);
    cache.release(victim);
    victim.computed = 0;
    victim.planned = 0;
    victim.preemptions++;
    stats.preemptions++;
    if (victim.abortRequested) {
      victim.state = EngineRequest.State.ABORTED;
      stats.aborted++;
    } else {
      victim.state = EngineRequest.State.WAITING;
      waiting.addFirst(victim);
    }
  }

  @SuppressWarnings(
      "NullAway") // Lets go of references, which the null-marked array type can't say.
  private void clearRunning(int kept) {
    @Nullable EngineRequest none = null;
    for (int i = kept; i < runningCount; i++) {
      running[i] = none;
    }
    runningCount = kept;
  }

  /** Whether a running request has only its newest token left to compute, after its prompt. */
  static boolean decodes(EngineRequest request) {
    return request.generated > 0 && request.computed == request.known() - 1;
  }

  /** Tokens of the next chunk of a sequence. */
  int chunk(int computed, int known, int junction, int budget) {
    int wanted = known - computed;
    if (!profile.cache().alignChunks()) {
      return Math.min(wanted, budget);
    }
    int boundary = cache.lastBoundary(known);
    if (computed >= boundary) {
      return Math.min(wanted, budget);
    }
    int end = junction > computed && junction < boundary ? junction : boundary;
    int tokens = Math.min(end - computed, budget);
    return tokens == end - computed
        ? tokens
        : Math.max(0, tokens - (computed + tokens) % profile.cache().blockTokens());
  }

  /**
   * Whether, with the best of luck in the cache, the budget lets this request into the batch.
   * Cheaper than looking.
   */
  private boolean mayStart(EngineRequest request, int budget) {
    int tail = request.known() - cache.lastBoundary(request.known());
    return budget > 0
        && (!profile.cache().alignChunks()
            || budget >= Math.min(tail, profile.cache().blockTokens()));
  }

  /** With aligned chunks a request starts with at least one block, or all that it needs. */
  boolean tooSmallToStart(int tokens, int wanted) {
    return profile.cache().alignChunks()
        && tokens < wanted
        && tokens < profile.cache().blockTokens();
  }

  private void show() {
    if (!metricsFrozen) {
      stats.shownRunning = runningCount;
      stats.shownWaiting = waiting.size();
      stats.shownUsedRatio = usedRatio();
    }
  }

  private static long saturatingAdd(long a, long b) {
    long sum = a + b;
    return ((a ^ sum) & (b ^ sum)) < 0 ? Long.MAX_VALUE : sum;
  }
}
