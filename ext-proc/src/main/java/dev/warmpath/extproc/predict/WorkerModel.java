package dev.warmpath.extproc.predict;

import dev.warmpath.extproc.candidate.WorkerGauges;
import dev.warmpath.extproc.index.PrefixIndex;
import dev.warmpath.extproc.lease.Lease;
import dev.warmpath.extproc.lease.ServiceTime;
import dev.warmpath.extproc.lease.WorkerLoad;
import org.jspecify.annotations.Nullable;

/**
 * Everything known of one worker, and the prediction made from it.
 *
 * <pre>
 *   ttft = front end                  f0 + f1 p
 *        + queue                      work of the prompts in front, less the head's progress
 *        + own work                   (a u + b (p^2 - c^2)) x interference
 *        + step rest                  the engine looks at its queue between steps
 *        + memory                     until blocks are free, where the prompt would not fit
 *        + foreign                    prompts of others in front, as far as the worker reports them
 *        + fault                      after a failed attempt, halving every five seconds
 * </pre>
 *
 * <p>Queue and work are multiplied with the worker's speed factor and with the slow-down by
 * requests that decode.
 *
 * <p>The queue is a virtual clock: it falls with time while the head is computed, and each observed
 * first token sets it right. A head that takes longer than expected adds half of what it is late: a
 * stalled worker repels more with every moment.
 *
 * <p>Not thread-safe: guarded by the router's lock.
 */
public final class WorkerModel {
  private static final double NANO = 1e-9;

  /** Nothing known at all: one 16k prompt twice over. */
  private static final long DEFAULT_CACHE_TOKENS = 64_000;

  /** A head that is late by x is expected to take x/2 more. */
  private static final double LATENESS = 0.5;

  /** Foreign load seen in a scrape counts half after this time. */
  private static final double FOREIGN_HALF_LIFE_SECONDS = 5;

  /** Occupancy from which prompts may have to wait for blocks. */
  private static final double MEMORY_KNEE = 0.9;

  private static final double MAX_MEMORY_SECONDS = 60;

  private static final double FAULT_SECONDS = 1;
  private static final double MAX_FAULT_SECONDS = 60;
  private static final double FAULT_HALF_LIFE_SECONDS = 5;

  private final WorkerLoad load = new WorkerLoad();
  private final WorkerSpeed speed = new WorkerSpeed();
  private final PredictionError error = new PredictionError();
  private final PrefixIndex.Holder holder;
  private final KindModel kind;
  private @Nullable Long profiledCacheTokens;
  private @Nullable WorkerGauges gauges;
  private int foreignQueued;
  private int foreignRunning;
  private double faultSeconds;
  private long faultNanos;
  private double decodeSeconds = 5;
  private long answers;
  private boolean reachable = true;

  public WorkerModel(
      KindModel kind, PrefixIndex.Holder holder, @Nullable Long profiledCacheTokens) {
    this.kind = kind;
    this.holder = holder;
    this.profiledCacheTokens = profiledCacheTokens;
  }

  public WorkerLoad load() {
    return load;
  }

  public KindModel kind() {
    return kind;
  }

  public PrefixIndex.Holder holder() {
    return holder;
  }

  public PredictionError error() {
    return error;
  }

  public double speedFactor() {
    return speed.factor();
  }

  /** The configuration says another cache size. */
  public void profile(@Nullable Long cacheTokens) {
    profiledCacheTokens = cacheTokens;
  }

  /** The size of the worker's cache for prefixes, as learnt. */
  public double cacheTokens() {
    WorkerGauges last = gauges;
    Long reported = last == null ? null : last.kvCacheTokens();
    Long nominal = reported != null ? reported : profiledCacheTokens;
    return (nominal != null ? nominal : DEFAULT_CACHE_TOKENS) * kind.cache().share();
  }

  /** Predicts, given the tokens of the prompt that the index finds here. */
  public void forecast(int promptTokens, double heldTokens, long nowNanos, Forecast out) {
    CostModel cost = kind.cost();
    int cached = kind.cache().hit(heldTokens, promptTokens);
    double slow = speed.factor() * cost.interference(load.decoding());
    out.cachedTokens = cached;
    out.baseWorkSeconds = cost.workSeconds(promptTokens, cached);
    out.workSeconds = slow * out.baseWorkSeconds;
    out.frontEndSeconds = cost.frontEndSeconds(promptTokens);
    out.foreignSeconds = foreignSeconds(slow, nowNanos);
    double queue = queueSeconds(slow, nowNanos);
    out.queued = load.queued() > 0;
    // The front end reads the prompt while others are computed.
    out.queueSeconds = Math.max(0, queue - out.frontEndSeconds);
    out.stepSeconds = cost.stepRestSeconds(!out.queued, load.decoding());
    out.memorySeconds = memorySeconds(promptTokens - cached);
    out.faultSeconds = faultSeconds(nowNanos);
    out.ttftSeconds =
        out.frontEndSeconds
            + out.queueSeconds
            + out.workSeconds
            + out.stepSeconds
            + out.memorySeconds
            + out.foreignSeconds
            + out.faultSeconds;
    out.medianSeconds = kind.residuals().median(out.ttftSeconds, out.queued);
    out.highSeconds = kind.residuals().high(out.ttftSeconds, out.queued);
  }

  /** Seconds until the prompts in front are served. */
  private double queueSeconds(double slow, long nowNanos) {
    Lease head = load.head();
    if (head == null) {
      return 0;
    }
    double behindHead = slow * (load.queuedWorkSeconds() - head.workSeconds());
    double headWork = slow * head.workSeconds() + kind.cost().frontEndSeconds(head.promptTokens());
    double elapsed = (nowNanos - load.turnNanos()) * NANO;
    double left = elapsed <= headWork ? headWork - elapsed : LATENESS * (elapsed - headWork);
    return Math.max(0, left + behindHead);
  }

  private double foreignSeconds(double slow, long nowNanos) {
    WorkerGauges last = gauges;
    if (last == null || foreignQueued == 0) {
      return 0;
    }
    double age = Math.max(0, (nowNanos - last.atNanos()) * NANO);
    double share = Math.pow(0.5, age / FOREIGN_HALF_LIFE_SECONDS);
    return share * foreignQueued * slow * kind.meanWorkSeconds();
  }

  private double faultSeconds(long nowNanos) {
    if (faultSeconds == 0) {
      return 0;
    }
    double age = Math.max(0, (nowNanos - faultNanos) * NANO);
    return faultSeconds * Math.pow(0.5, age / FAULT_HALF_LIFE_SECONDS);
  }

  /**
   * An attempt failed here. A worker that refuses connections looks idle, and would attract every
   * request; so it costs seconds for a while, more if it goes on.
   */
  public void failed(long nowNanos) {
    faultSeconds = Math.min(MAX_FAULT_SECONDS, 2 * faultSeconds(nowNanos) + FAULT_SECONDS);
    faultNanos = nowNanos;
  }

  /** A request was answered: the worker is well. */
  public void answered() {
    faultSeconds = 0;
  }

  /**
   * A barrier in seconds: nothing while the prompt fits with room to spare, then growing to the
   * time until enough running requests end.
   */
  private double memorySeconds(int uncachedTokens) {
    double capacity = cacheTokens();
    double occupied = load.heldTokens();
    WorkerGauges last = gauges;
    if (last != null && last.kvCacheUsedRatio() != null && foreignRunning > 0) {
      occupied = Math.max(occupied, last.kvCacheUsedRatio() * capacity);
    }
    double over = (occupied + uncachedTokens) / capacity - MEMORY_KNEE;
    if (over <= 0 || load.inFlight() == 0) {
      return 0;
    }
    double tokensPerRequest = Math.max(1, occupied / load.inFlight());
    double ends = over * capacity / tokensPerRequest;
    double secondsPerEnd = decodeSeconds / Math.max(1, load.inFlight());
    double fullness = Math.min(1, over / (1 - MEMORY_KNEE));
    return Math.min(MAX_MEMORY_SECONDS, fullness * ends * secondsPerEnd);
  }

  /** Prompts that wait here: ours, and those of others that the worker reports. */
  public int queuedPrompts() {
    return load.queued() + foreignQueued;
  }

  /** Requests that produce tokens here. */
  public int runningRequests() {
    return load.decoding() + foreignRunning;
  }

  public @Nullable Double kvCacheUsedRatio() {
    WorkerGauges last = gauges;
    return last == null ? null : last.kvCacheUsedRatio();
  }

  /** A scrape. What it shows beyond our own requests since the last one is foreign. */
  public void scraped(WorkerGauges fresh) {
    int peak = load.takePeakInFlight();
    Integer running = fresh.running();
    Integer waiting = fresh.waiting();
    int total = (running == null ? 0 : running) + (waiting == null ? 0 : waiting);
    int foreign = Math.max(0, total - peak);
    foreignQueued = Math.min(foreign, waiting == null ? 0 : waiting);
    foreignRunning = foreign - foreignQueued;
    gauges = fresh;
    reachable = true;
  }

  /** A scrape failed: what is known gets old, and is never taken for zero or for full. */
  public void unreachable() {
    reachable = false;
  }

  public boolean reachable() {
    return reachable;
  }

  /** The process was restarted in place: its cache is empty and its speed unknown. */
  public void restarted() {
    speed.reset();
    gauges = null;
    foreignQueued = 0;
    foreignRunning = 0;
    faultSeconds = 0;
  }

  /** Learns from a request that has ended well. Counts are the upstream's, else the estimates. */
  public void learn(Lease lease, int promptTokens, int cachedTokens) {
    ServiceTime service = lease.serviceTime();
    if (service == null || !service.clean() || promptTokens <= 0) {
      return;
    }
    int cached = Math.clamp(cachedTokens, 0, promptTokens - 1);
    CostModel cost = kind.cost();
    double expected = cost.expected(promptTokens, cached, service.decoding(), service.idle());
    speed.learn(service.seconds(), expected);
    cost.learn(
        promptTokens,
        cached,
        service.decoding(),
        service.idle(),
        service.seconds() / speed.factor());
    kind.observedWork(cost.workSeconds(promptTokens, cached));
  }

  /** How long a request produced tokens, for the memory term. */
  public void decodedFor(double seconds) {
    answers++;
    decodeSeconds += (seconds - decodeSeconds) / Math.min(answers, 50);
  }
}
