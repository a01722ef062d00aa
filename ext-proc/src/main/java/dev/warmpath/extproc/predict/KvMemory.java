package dev.warmpath.extproc.predict;

import dev.warmpath.extproc.candidate.WorkerGauges;
import dev.warmpath.extproc.lease.Lease;
import dev.warmpath.extproc.lease.WorkerLoad;

/**
 * The KV memory of one worker: what is in use, what the queue will take, and when room comes back.
 * An engine admits a prompt only when all of it fits beside what running requests keep in use.
 *
 * <p>Not thread-safe: guarded by the router's lock.
 */
final class KvMemory {
  private static final double NANO = 1e-9;
  private static final double MAX_SECONDS = 60;

  private final WorkerLoad load;
  private final WorkerSpeed speed;
  private final KindModel kind;
  private final PrefillClock clock;
  private final EngineReport report;
  private final CacheSize size;

  KvMemory(
      WorkerLoad load,
      WorkerSpeed speed,
      KindModel kind,
      PrefillClock clock,
      EngineReport report,
      CacheSize size) {
    this.load = load;
    this.speed = speed;
    this.kind = kind;
    this.clock = clock;
    this.report = report;
    this.size = size;
  }

  /**
   * Fills in what the prompt of a forecast takes of this memory, and how long it waits for it
   * beyond the queue, which is known.
   *
   * @param chain of which {@code matchedBlocks} are held here
   */
  void forecast(long[] chain, int matchedBlocks, long nowNanos, Forecast out) {
    double inFront = out.frontEndSeconds + out.queueSeconds;
    out.claimTokens = claimTokens(chain, matchedBlocks, out.cachedTokens, out.promptTokens);
    out.memorySeconds = waitSeconds(out.claimTokens, inFront, nowNanos);
  }

  /** What a prompt takes from the free blocks when the engine admits it. */
  private double claimTokens(long[] chain, int matchedBlocks, int cachedTokens, int promptTokens) {
    double own = kind.cache().roundedUp(promptTokens - cachedTokens);
    if (cachedTokens == 0
        || usedTokens() + waitingTokens() + own + cachedTokens <= size.nominalTokens()) {
      return own; // only where it is tight does it matter
    }
    return inUse(chain, matchedBlocks) ? own : own + cachedTokens;
  }

  /**
   * Seconds until there is room. Prompts that queue take theirs before this one. Room comes back
   * when requests end; each gives back its share of what is in use, as prefixes that several use
   * stay until the last of them ends.
   */
  private double waitSeconds(double claimTokens, double inFrontSeconds, long nowNanos) {
    int running = load.decoding();
    if (load.inFlight() == 0) {
      return 0;
    }
    double capacity = size.nominalTokens();
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
    double prefillSeconds = clock.seconds(nowNanos);
    for (Lease lease = load.oldestDecoding(); lease != null && missing > 0; lease = lease.next()) {
      missing -= share;
      inOrder = Math.max(inOrder, mean - producedTokens(lease, prefillSeconds, nowNanos));
      inAnyOrder += mean / left--;
    }
    double spread = decode.spread();
    double tokens = (1 - spread) * inOrder + spread * inAnyOrder;
    if (missing > 0) {
      // Even with all of them gone, those in the queue must end, too.
      tokens += mean * Math.min(1, missing / capacity);
    }
    double later = tokens - decode.besideTokensPerSecond() * inFrontSeconds;
    return Math.clamp(later / decode.aloneTokensPerSecond(), 0, MAX_SECONDS);
  }

  /** Tokens in blocks that running requests hold: as last reported, and what we changed since. */
  private double usedTokens() {
    Double ratio = report.kvCacheUsedRatio();
    double ours = load.runningTokens();
    return ratio == null
        ? ours
        : Math.max(ours, ratio * size.nominalTokens() + ours - report.ownTokens());
  }

  /**
   * Tokens that queued prompts will take, less what the last scrape has seen the first one take.
   */
  private double waitingTokens() {
    Lease head = load.head();
    WorkerGauges last = report.gauges();
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

  /**
   * An answer of so many tokens has ended: how fast it was produced, and its length, are learnt.
   */
  void answerEnded(Lease lease, long atNanos, int tokens) {
    double all = producingSeconds(lease, atNanos);
    double beside = besideSeconds(lease, clock.seconds(atNanos), all);
    kind.decode().learn(beside, all - beside, tokens);
  }

  private double producedTokens(Lease lease, double prefillSeconds, long nowNanos) {
    double all = producingSeconds(lease, nowNanos);
    double beside = besideSeconds(lease, prefillSeconds, all);
    return kind.decode().tokens(beside, all - beside);
  }

  private static double producingSeconds(Lease lease, long nowNanos) {
    return Math.max(0, (nowNanos - lease.firstTokenNanos()) * NANO);
  }

  /** How much of the time in which it produced tokens prompts were computed. */
  private static double besideSeconds(Lease lease, double prefillSeconds, double producingSeconds) {
    return Math.clamp(prefillSeconds - lease.prefillSeconds(), 0, producingSeconds);
  }
}
