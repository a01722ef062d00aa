package dev.warmpath.extproc.predict;

import dev.warmpath.extproc.candidate.WorkerGauges;
import dev.warmpath.extproc.index.PrefixIndex;
import dev.warmpath.extproc.lease.Lease;
import dev.warmpath.extproc.lease.Turn;
import dev.warmpath.extproc.lease.WorkerLoad;
import dev.warmpath.extproc.request.PromptFingerprint;
import org.jspecify.annotations.Nullable;

/**
 * Everything known of one worker, and the prediction made from it: the sum of its terms.
 *
 * <pre>
 *   ttft = front end   f0 + f1 p                                                {@link CostModel}
 *        + queue       work of the prompts in front, less the head's progress   {@link PrefillQueue}
 *        + own work    (a u + b (p^2 - c^2)) x interference                     {@link CostModel}
 *        + step rest   the engine looks at its queue between steps              {@link PrefillQueue}
 *        + memory      until blocks are free, where the prompt would not fit    {@link KvMemory}
 *        + foreign     prompts of others in front, as far as it reports them    {@link EngineReport}
 *        + fault       after a failed attempt, halving every five seconds       {@link WorkerHealth}
 *
 *   others = what later prompts lose by it, beside the sum                      {@link CostToOthers}
 * </pre>
 *
 * <p>Queue and work are multiplied with the worker's speed factor and with the slow-down by
 * requests that decode.
 *
 * <p>Not thread-safe: guarded by the router's lock.
 */
public final class WorkerModel {
  private static final double NANO = 1e-9;

  /** Below this, the engine's own prefill counters say little. */
  private static final double ENOUGH_PREFILL_TOKENS = 20_000;

  private final WorkerLoad load = new WorkerLoad();
  private final WorkerSpeed speed = new WorkerSpeed();
  private final PredictionError error = new PredictionError();
  private final EngineReport report = new EngineReport();
  private final WorkerHealth health = new WorkerHealth();
  private final KindModel kind;
  private final PrefixIndex.Holder holder;
  private final CacheSize cacheSize;
  private final PrefillQueue queue;
  private final KvMemory memory;
  private final CostToOthers others;

  public WorkerModel(
      KindModel kind, PrefixIndex.Holder holder, @Nullable Long profiledCacheTokens) {
    this.kind = kind;
    this.holder = holder;
    PrefillClock clock = new PrefillClock(load, speed);
    cacheSize = new CacheSize(report, kind.cache(), profiledCacheTokens);
    queue = new PrefillQueue(load, speed, kind, clock);
    memory = new KvMemory(load, speed, kind, clock, report, cacheSize);
    others = new CostToOthers(load, holder, cacheSize, kind, speed);
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
    cacheSize.profiled(cacheTokens);
  }

  /** What the worker's cache held when it began to throw out; null where that is not known. */
  public void observedCacheTokens(@Nullable Long tokens) {
    cacheSize.observed(tokens);
  }

  /** Size of the cache as the worker reports it, or null. */
  public @Nullable Long reportedCacheTokens() {
    return report.kvCacheTokens();
  }

  /** Tokens of one cache block as the worker reports it, or null. */
  public @Nullable Integer reportedBlockTokens() {
    return report.blockTokens();
  }

  /** The size of the worker's cache for prefixes: observed, else as learnt. */
  public double cacheTokens() {
    return cacheSize.prefixTokens();
  }

  /**
   * Predicts one prompt here.
   *
   * @param matchedBlocks blocks of it that the index finds here
   * @param tokensPerByte of this model
   */
  public void forecast(
      PromptFingerprint prompt,
      int matchedBlocks,
      double tokensPerByte,
      long nowNanos,
      Forecast out) {
    int promptTokens = prompt.tokens(tokensPerByte);
    int cached = kind.cache().hit(matchedBlocks * prompt.blockTokens(tokensPerByte), promptTokens);
    forecast(prompt, matchedBlocks, promptTokens, cached, nowNanos, out);
  }

  /**
   * Predicts one prompt here.
   *
   * @param matchedBlocks blocks of it that the index finds here
   * @param promptTokens of which {@code cached} are in the worker's cache
   */
  public void forecast(
      PromptFingerprint prompt,
      int matchedBlocks,
      int promptTokens,
      int cached,
      long nowNanos,
      Forecast out) {
    CostModel cost = kind.cost();
    double slow = speed.factor() * cost.interference(load.decoding());
    out.promptTokens = promptTokens;
    out.cachedTokens = cached;
    out.matchedBlocks = matchedBlocks;
    out.othersSeconds = 0;
    out.baseWorkSeconds = cost.workSeconds(promptTokens, cached);
    out.workSeconds = slow * out.baseWorkSeconds;
    out.waitNanos =
        load.behindNanos(
                prompt.chain(), prompt.blocks(), out.baseWorkSeconds, speed.factor(), nowNanos)
            - nowNanos;
    double frontEnd = cost.frontEndSeconds(promptTokens);
    out.frontEndSeconds = out.waitNanos * NANO + frontEnd;
    // In whole nanoseconds, so that equal prompts that leave together also enter together.
    out.entersNanos = nowNanos + out.waitNanos + (long) (frontEnd / NANO);
    queue.forecast(prompt.chain(), matchedBlocks, slow, nowNanos, out);
    memory.forecast(prompt.chain(), matchedBlocks, nowNanos, out);
    out.foreignSeconds = report.foreignSeconds(slow, kind.meanWorkSeconds(), nowNanos);
    out.faultSeconds = health.faultSeconds(nowNanos);
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
    out.early = kind.residuals().early();
  }

  /**
   * What choosing this worker for that prompt costs the prompts that will come.
   *
   * @param arrivals of the model, at so many {@code workers}
   * @param reuseProbability of what a cache throws out
   * @param out predicted for that prompt here
   */
  public void othersForecast(
      PromptFingerprint prompt,
      double tokensPerByte,
      ArrivalRate arrivals,
      int workers,
      double reuseProbability,
      Forecast out) {
    others.forecast(prompt, tokensPerByte, arrivals, workers, reuseProbability, out);
  }

  /** A prompt with so much work, at speed 1, was placed here, on one of so many workers. */
  public void placed(ArrivalRate arrivals, int workers, double workSeconds) {
    others.placed(arrivals, workers, workSeconds);
  }

  /** A first token has come from here. */
  public void firstToken(Lease lease, long atNanos) {
    queue.firstToken(lease, atNanos);
  }

  /** An attempt failed here; it costs seconds for a while. */
  public void failed(long nowNanos) {
    health.failed(nowNanos);
  }

  /** A request was answered: the worker is well. */
  public void answered() {
    health.answered();
  }

  /** Prompts that wait here: ours, and those of others that the worker reports. */
  public int queuedPrompts() {
    return load.queued() + report.foreignQueued();
  }

  /** Requests that produce tokens here. */
  public int runningRequests() {
    return load.decoding() + report.foreignRunning();
  }

  public @Nullable Double kvCacheUsedRatio() {
    return report.kvCacheUsedRatio();
  }

  /** A scrape. What it shows beyond our own requests since the last one is foreign. */
  public void scraped(WorkerGauges fresh) {
    Double seconds = fresh.prefillSecondsTotal();
    Double tokens = fresh.prefillTokensTotal();
    if (seconds != null && tokens != null && tokens > ENOUGH_PREFILL_TOKENS) {
      kind.cost().history(seconds / tokens);
    }
    Integer blockTokens = fresh.blockTokens();
    if (blockTokens != null) {
      kind.cache().reportedBlock(blockTokens);
    }
    report.scraped(fresh, load.takePeakInFlight(), load.runningTokens());
    health.listens();
  }

  /** Requests that the worker reported last, ours and others'; null where it does not say. */
  public @Nullable Integer reportedRequests() {
    return report.requests();
  }

  /** Nobody listened at its address. */
  public void refused() {
    health.refused();
  }

  /** Nobody listened there, more than once in a row: it can't serve anything. */
  public boolean down() {
    return health.down();
  }

  /** The process was restarted in place: its cache is empty and its speed unknown. */
  public void restarted() {
    speed.reset();
    report.forget();
    health.restarted();
    cacheSize.observed(null);
  }

  /** Learns from a request that has ended well. Counts are the upstream's, else the estimates. */
  public void learn(Lease lease, int promptTokens, int cachedTokens) {
    health.listens();
    Turn turn = lease.turn();
    if (turn == null || promptTokens <= 0) {
      return;
    }
    int cached = Math.clamp(cachedTokens, 0, promptTokens - 1);
    CostModel cost = kind.cost();
    kind.observedWork(cost.workSeconds(promptTokens, cached));
    if (turn.ended(promptTokens, cached, lease.firstOfTurn())) {
      speed.learn(turn.seconds(), cost.expected(turn));
      cost.learn(turn, turn.seconds() / speed.factor());
    }
  }

  /** A request has ended of which nobody knows what it cost. */
  public void spoilt(Lease lease) {
    Turn turn = lease.turn();
    if (turn != null) {
      turn.spoilt();
    }
  }

  /**
   * A request has ended that produced tokens.
   *
   * @param tokens of its answer; null where that is not known
   */
  public void decoded(Lease lease, long atNanos, @Nullable Integer tokens) {
    if (tokens != null && tokens > 0) {
      memory.answerEnded(lease, atNanos, tokens);
    }
  }
}
