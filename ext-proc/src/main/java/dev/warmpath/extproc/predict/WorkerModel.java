package dev.warmpath.extproc.predict;

import dev.warmpath.extproc.candidate.WorkerGauges;
import dev.warmpath.extproc.index.PrefixIndex;
import dev.warmpath.extproc.lease.Lease;
import dev.warmpath.extproc.lease.Turn;
import dev.warmpath.extproc.lease.WorkerLoad;
import dev.warmpath.extproc.request.PromptFingerprint;
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
  /** One may meet a process between its stop and its start. */
  private static final int REFUSALS_OF_A_DEAD_ONE = 2;

  private static final double NANO = 1e-9;

  /** Nothing known at all: one 16k prompt twice over. */
  private static final long DEFAULT_CACHE_TOKENS = 64_000;

  /** A head that is late by x is expected to take x/2 more. */
  private static final double LATENESS = 0.5;

  /** Foreign load seen in a scrape counts half after this time. */
  private static final double FOREIGN_HALF_LIFE_SECONDS = 5;

  private static final double MAX_MEMORY_SECONDS = 60;

  /** Below this, the engine's own prefill counters say little. */
  private static final double ENOUGH_PREFILL_TOKENS = 20_000;

  /** The queue formula has its pole at one. */
  private static final double MOST_LOAD = 0.8;

  /**
   * How often a prefix that was thrown out is missed before it would have gone anyway. Without it,
   * a fast worker draws more prefixes than it can hold while slower ones stay empty; with 4 to 8
   * that ends, and workloads on like workers do not change beyond their noise.
   */
  private static final double MISSES_PER_EVICTION = 6;

  /** A prompt with this many times the work of another is long beside it. */
  private static final double LONGER = 4;

  private static final int MEAN_WORK_PROMPTS = 50;
  private static final double FAULT_SECONDS = 1;
  private static final double MAX_FAULT_SECONDS = 60;
  private static final double FAULT_HALF_LIFE_SECONDS = 5;

  private final WorkerLoad load = new WorkerLoad();
  private final WorkerSpeed speed = new WorkerSpeed();
  private final PredictionError error = new PredictionError();
  private final PrefixIndex.Holder holder;
  private final KindModel kind;
  private @Nullable Long profiledCacheTokens;
  private @Nullable Long observedCacheTokens;
  private @Nullable WorkerGauges gauges;
  private int foreignQueued;
  private int foreignRunning;
  private double faultSeconds;
  private long faultNanos;
  private double runningTokensAtScrape;
  private final ArrivalRate.Share share = new ArrivalRate.Share();
  private double meanWorkSeconds;
  private long placements;
  private double prefillSeconds;
  private boolean reachable = true;
  private int refusals;

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

  /** What the worker's cache held when it began to throw out; null where that is not known. */
  public void observedCacheTokens(@Nullable Long tokens) {
    observedCacheTokens = tokens;
  }

  /** Size of the cache as the worker reports it, or null. */
  public @Nullable Long reportedCacheTokens() {
    WorkerGauges last = gauges;
    return last == null ? null : last.kvCacheTokens();
  }

  /** Tokens of one cache block as the worker reports it, or null. */
  public @Nullable Integer reportedBlockTokens() {
    WorkerGauges last = gauges;
    return last == null ? null : last.blockTokens();
  }

  /** The size of the worker's cache for prefixes: observed, else as learnt. */
  public double cacheTokens() {
    Long observed = observedCacheTokens;
    return observed != null ? observed : nominalCacheTokens() * kind.cache().share();
  }

  private double nominalCacheTokens() {
    WorkerGauges last = gauges;
    Long reported = last == null ? null : last.kvCacheTokens();
    Long nominal = reported != null ? reported : profiledCacheTokens;
    return nominal != null ? nominal : DEFAULT_CACHE_TOKENS;
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
    out.promptTokens = promptTokens;
    double slow = speed.factor() * cost.interference(load.decoding());
    out.cachedTokens = cached;
    out.matchedBlocks = matchedBlocks;
    out.othersSeconds = 0;
    out.baseWorkSeconds = cost.workSeconds(promptTokens, cached);
    out.workSeconds = slow * out.baseWorkSeconds;
    out.waitNanos =
        load.behindNanos(prompt.chain(), prompt.blocks(), speed.factor(), nowNanos) - nowNanos;
    double frontEnd = cost.frontEndSeconds(promptTokens);
    out.frontEndSeconds = out.waitNanos * NANO + frontEnd;
    // In whole nanoseconds, so that equal prompts that leave together also enter together.
    out.entersNanos = nowNanos + out.waitNanos + (long) (frontEnd / NANO);
    out.foreignSeconds = foreignSeconds(slow, nowNanos);
    overtaken(out);
    double queue = out.queued ? queueSeconds(slow, out.overtakenWorkSeconds, nowNanos) : 0;
    // The front end reads the prompt while others are computed.
    out.queueSeconds = Math.max(0, queue - out.frontEndSeconds);
    out.backlogSeconds = out.queueSeconds;
    out.stepSeconds = cost.stepRestSeconds(!out.queued, load.decoding());
    out.rides = false;
    if (out.queued && kind.riding().rides(promptTokens - cached)) {
      ride(prompt.chain(), matchedBlocks, slow, nowNanos, out);
    }
    double inFront = out.frontEndSeconds + out.queueSeconds;
    out.claimTokens = claimTokens(prompt.chain(), matchedBlocks, cached, promptTokens);
    out.memorySeconds = memorySeconds(out.claimTokens, inFront, nowNanos);
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

  /**
   * What this choice costs the prompts that will come.
   *
   * <pre>
   *   others = rate w (q + w / 2) / (1 - load)      those that come here queue behind w seconds of work
   *          + w x prompts that it overtakes
   *          + 6 P(reuse) work(evicted)             they find less in this worker's cache
   * </pre>
   *
   * <p>The first term is the derivative of the mean wait of a queue with that arrival rate by the
   * work put into it, with the rate and the load that this worker has had of late (one step of
   * policy iteration from the present split). The second is the work of computing again what has to
   * leave the cache.
   *
   * @param arrivals of the model, at so many {@code workers}
   * @param reuseProbability of what a cache throws out
   */
  public void othersForecast(
      PromptFingerprint prompt,
      double tokensPerByte,
      ArrivalRate arrivals,
      int workers,
      double reuseProbability,
      Forecast out) {
    double slow = speed.factor();
    double arrivalsPerSecond = arrivals.perSecond(share, workers);
    double meanWork = placements == 0 ? kind.meanWorkSeconds() : meanWorkSeconds;
    double busy = Math.min(MOST_LOAD, arrivalsPerSecond * meanWork * slow);
    double queue =
        arrivalsPerSecond
                * out.workSeconds
                * (out.backlogSeconds + out.workSeconds / 2)
                / (1 - busy)
            + out.workSeconds * out.overtaken;
    int missing = prompt.blocks() - out.matchedBlocks;
    double blockTokens = prompt.blockTokens(tokensPerByte);
    double over = (holder.entries() + missing) * blockTokens - cacheTokens();
    double tokens = Math.clamp(over, 0, missing * blockTokens);
    double cache =
        MISSES_PER_EVICTION * reuseProbability * slow * kind.cost().workSeconds(tokens, 0);
    out.othersSeconds = queue + cache;
  }

  /** A prompt with so much work, at speed 1, was placed here, on one of so many workers. */
  public void placed(ArrivalRate arrivals, int workers, double workSeconds) {
    arrivals.placed(share, workers);
    placements++;
    meanWorkSeconds += (workSeconds - meanWorkSeconds) / Math.min(placements, MEAN_WORK_PROMPTS);
  }

  /** Which of the queue gets into the engine later than this prompt, as the front end is slower. */
  private void overtaken(Forecast out) {
    int prompts = 0;
    double work = 0;
    Lease lease = load.tail();
    while (lease != null && lease.entersNanos() > out.entersNanos) {
      prompts++;
      work += lease.workSeconds();
      lease = lease.previous();
    }
    out.queued = lease != null;
    out.overtaken = prompts;
    out.overtakenWorkSeconds = work;
  }

  /**
   * A prompt that fits beside the last long one in front waits only until that one has begun, and
   * for the steps that it and others like it take. Not if it waits for what that one computes.
   */
  private void ride(long[] chain, int matchedBlocks, double slow, long nowNanos, Forecast out) {
    long entersNanos = out.entersNanos;
    double behind = out.overtakenWorkSeconds;
    int riders = 0;
    Lease lease = load.tail();
    while (lease != null && (lease.entersNanos() > entersNanos || lease.riding())) {
      if (lease.entersNanos() <= entersNanos) {
        riders++;
        behind += lease.workSeconds();
      }
      lease = lease.previous();
    }
    if (lease == null
        || (lease.shares(chain, matchedBlocks) && lease.cachedTokens() < out.cachedTokens)) {
      return;
    }
    boolean begun = lease == load.head();
    double front = begun ? 0 : queueSeconds(slow, behind + lease.workSeconds(), nowNanos);
    double queue = Math.max(0, front - out.frontEndSeconds);
    double own = speed.factor() * kind.riding().seconds(begun, riders);
    if (queue + own < out.queueSeconds + out.workSeconds + out.stepSeconds) {
      out.rides = true;
      out.ridersInFront = riders;
      out.queueSeconds = queue;
      out.stepSeconds = Math.max(0, own - out.workSeconds);
      out.overtaken++;
    }
  }

  /** A first token has come from here. */
  public void firstToken(Lease lease, long atNanos) {
    Lease head = load.head();
    boolean alone = load.riddenWorkSeconds() == 0;
    long turnNanos = load.turnNanos();
    if (head != null && head != lease) {
      if (lease.riding() || longer(head, lease)) {
        kind.riding().rode(lease.uncachedTokens());
      }
      if (lease.entersNanos() > turnNanos
          && lease.previous() == head
          && lease.riding()
          && lease.ridersInFront() == 0) {
        kind.riding().took((atNanos - lease.entersNanos()) * NANO / speed.factor());
      }
    }
    double clock = prefillClock(atNanos);
    load.firstToken(lease, atNanos);
    if (load.turnNanos() != turnNanos) {
      prefillSeconds = clock;
    }
    lease.prefillSeconds(clock);
    Lease next = load.head();
    if (lease == head && next != null && alone && longer(lease, next)) {
      long waited = atNanos - Math.max(turnNanos, next.entersNanos());
      if (waited > (atNanos - turnNanos) / 2 && !next.sharesMoreThan(lease)) {
        kind.riding().waited(next.uncachedTokens());
      }
    }
  }

  private static boolean longer(Lease front, Lease lease) {
    return front.streaming()
        && lease.streaming()
        && front.workSeconds() > LONGER * lease.workSeconds();
  }

  /** Seconds until the prompts in front are served. */
  private double queueSeconds(double slow, double overtakenWorkSeconds, long nowNanos) {
    Lease head = load.head();
    if (head == null) {
      return 0;
    }
    double behindHead =
        slow * (load.queuedWorkSeconds() - overtakenWorkSeconds - head.workSeconds());
    double headWork =
        slow * (head.workSeconds() + load.riddenWorkSeconds())
            + kind.cost().frontEndSeconds(head.promptTokens());
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
   * Seconds until there is room: an engine admits a prompt only when all of it fits beside what
   * running requests keep in use. Prompts that queue take theirs before this one. Room comes back
   * when requests end; each gives back its share of what is in use, as prefixes that several use
   * stay until the last of them ends.
   */
  private double memorySeconds(double claimTokens, double inFrontSeconds, long nowNanos) {
    int running = load.decoding();
    if (load.inFlight() == 0) {
      return 0;
    }
    double capacity = nominalCacheTokens();
    double used = usedTokens();
    double missing = used + waitingTokens() + claimTokens - capacity;
    if (missing <= 0) {
      return 0;
    }
    DecodeModel decode = kind.decode();
    double mean = decode.meanTokens();
    double share = running == 0 ? 0 : used / running;
    double inOrder = 0;
    double inAnyOrder = 0;
    int left = running;
    double prefillClock = prefillClock(nowNanos);
    for (Lease lease = load.oldestDecoding(); lease != null && missing > 0; lease = lease.next()) {
      missing -= share;
      inOrder = Math.max(inOrder, mean - producedTokens(lease, prefillClock, nowNanos));
      inAnyOrder += mean / left--;
    }
    double spread = decode.spread();
    double tokens = (1 - spread) * inOrder + spread * inAnyOrder;
    if (missing > 0) {
      // Even with all of them gone, those in the queue must end, too.
      tokens += mean * Math.min(1, missing / capacity);
    }
    double later = tokens - decode.besideTokensPerSecond() * inFrontSeconds;
    return Math.clamp(later / decode.aloneTokensPerSecond(), 0, MAX_MEMORY_SECONDS);
  }

  private double producedTokens(Lease lease, double prefillClock, long nowNanos) {
    double all = producingSeconds(lease, nowNanos);
    double beside = besideSeconds(lease, prefillClock, all);
    return kind.decode().tokens(beside, all - beside);
  }

  private static double producingSeconds(Lease lease, long nowNanos) {
    return Math.max(0, (nowNanos - lease.firstTokenNanos()) * NANO);
  }

  /** How much of the time in which it produced tokens prompts were computed. */
  private static double besideSeconds(Lease lease, double prefillClock, double producingSeconds) {
    return Math.clamp(prefillClock - lease.prefillSeconds(), 0, producingSeconds);
  }

  /** Seconds that this worker has computed prompts, as far as is known. */
  private double prefillClock(long nowNanos) {
    Lease head = load.head();
    if (head == null) {
      return prefillSeconds;
    }
    double work = speed.factor() * (head.workSeconds() + load.riddenWorkSeconds());
    return prefillSeconds + Math.clamp((nowNanos - load.turnNanos()) * NANO, 0, work);
  }

  /** What a prompt takes from the free blocks when the engine admits it. */
  private double claimTokens(long[] chain, int matchedBlocks, int cachedTokens, int promptTokens) {
    double own = kind.cache().roundedUp(promptTokens - cachedTokens);
    if (cachedTokens == 0
        || usedTokens() + waitingTokens() + own + cachedTokens <= nominalCacheTokens()) {
      return own; // only where it is tight does it matter
    }
    return inUse(chain, matchedBlocks) ? own : own + cachedTokens;
  }

  /** Tokens in blocks that running requests hold: as last reported, and what we changed since. */
  private double usedTokens() {
    WorkerGauges last = gauges;
    Double ratio = last == null ? null : last.kvCacheUsedRatio();
    double ours = load.runningTokens();
    return ratio == null
        ? ours
        : Math.max(ours, ratio * nominalCacheTokens() + ours - runningTokensAtScrape);
  }

  /**
   * Tokens that queued prompts will take, less what the last scrape has seen the first one take.
   */
  private double waitingTokens() {
    Lease head = load.head();
    WorkerGauges last = gauges;
    if (head == null || last == null || last.kvCacheUsedRatio() == null) {
      return load.queuedTokens();
    }
    double seen = (last.atNanos() - load.turnNanos()) * NANO;
    double whole = Math.max(1e-3, speed.factor() * head.workSeconds());
    return load.queuedTokens() - head.claimTokens() * Math.clamp(seen / whole, 0, 1);
  }

  /** Whether a request in flight holds these blocks in any case. */
  private boolean inUse(long[] chain, int blocks) {
    for (Lease lease = load.oldestDecoding(); lease != null; lease = lease.next()) {
      if (lease.shares(chain, blocks)) {
        return true;
      }
    }
    for (Lease lease = load.head(); lease != null; lease = lease.next()) {
      if (lease.shares(chain, blocks)) {
        return true;
      }
    }
    return false;
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
    Double seconds = fresh.prefillSecondsTotal();
    Double tokens = fresh.prefillTokensTotal();
    if (seconds != null && tokens != null && tokens > ENOUGH_PREFILL_TOKENS) {
      kind.cost().history(seconds / tokens);
    }
    gauges = fresh;
    runningTokensAtScrape = load.runningTokens();
    reachable = true;
    refusals = 0;
  }

  /** Requests that the worker reported last, ours and others'; null where it does not say. */
  public @Nullable Integer reportedRequests() {
    WorkerGauges last = gauges;
    if (last == null || last.running() == null || last.waiting() == null) {
      return null;
    }
    return last.running() + last.waiting();
  }

  /** A scrape failed: what is known gets old, and is never taken for zero or for full. */
  public void unreachable() {
    reachable = false;
  }

  /** Nobody listened at its address. */
  public void refused() {
    reachable = false;
    refusals++;
  }

  /** Nobody listened there, more than once in a row: it can't serve anything. */
  public boolean down() {
    return refusals >= REFUSALS_OF_A_DEAD_ONE;
  }

  public boolean reachable() {
    return reachable;
  }

  /** The process was restarted in place: its cache is empty and its speed unknown. */
  public void restarted() {
    speed.reset();
    refusals = 0;
    gauges = null;
    foreignQueued = 0;
    foreignRunning = 0;
    faultSeconds = 0;
    observedCacheTokens = null;
  }

  /** Learns from a request that has ended well. Counts are the upstream's, else the estimates. */
  public void learn(Lease lease, int promptTokens, int cachedTokens) {
    refusals = 0;
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
    if (tokens == null || tokens <= 0) {
      return;
    }
    double all = producingSeconds(lease, atNanos);
    double beside = besideSeconds(lease, prefillClock(atNanos), all);
    kind.decode().learn(beside, all - beside, tokens);
  }
}
