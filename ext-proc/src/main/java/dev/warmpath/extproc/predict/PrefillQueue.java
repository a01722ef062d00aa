package dev.warmpath.extproc.predict;

import dev.warmpath.extproc.lease.Lease;
import dev.warmpath.extproc.lease.WorkerLoad;

/**
 * The queue of one worker as a prompt meets it: who is in front, who is overtaken, and whether it
 * rides beside a long one.
 *
 * <p>A virtual clock: the queue falls with time while the head is computed, and each observed first
 * token sets it right. A head that takes longer than expected adds half of what it is late: a
 * stalled worker repels more with every moment.
 *
 * <p>Not thread-safe: guarded by the router's lock.
 */
final class PrefillQueue {
  private static final double NANO = 1e-9;

  /** A head that is late by x is expected to take x/2 more. */
  private static final double LATENESS = 0.5;

  /** A prompt with this many times the work of another is long beside it. */
  private static final double LONGER = 4;

  private final WorkerLoad load;
  private final WorkerSpeed speed;
  private final KindModel kind;
  private final PrefillClock clock;

  PrefillQueue(WorkerLoad load, WorkerSpeed speed, KindModel kind, PrefillClock clock) {
    this.load = load;
    this.speed = speed;
    this.kind = kind;
    this.clock = clock;
  }

  /**
   * Fills the queue and the step rest of a forecast whose tokens, work and front end are known.
   *
   * @param chain of which {@code matchedBlocks} are held here
   * @param slow by what work at speed 1 is multiplied here and now
   */
  void forecast(long[] chain, int matchedBlocks, double slow, long nowNanos, Forecast out) {
    overtaken(out);
    double queue = out.queued ? waitSeconds(slow, out.overtakenWorkSeconds, nowNanos) : 0;
    // The front end reads the prompt while others are computed.
    out.queueSeconds = Math.max(0, queue - out.frontEndSeconds);
    out.backlogSeconds = out.queueSeconds;
    out.stepSeconds = kind.cost().stepRestSeconds(!out.queued, load.decoding());
    out.rides = false;
    if (out.queued && kind.riding().rides(out.promptTokens - out.cachedTokens)) {
      ride(chain, matchedBlocks, slow, nowNanos, out);
    }
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

  /** Seconds until the prompts in front are served. */
  private double waitSeconds(double slow, double overtakenWorkSeconds, long nowNanos) {
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
    double front = begun ? 0 : waitSeconds(slow, behind + lease.workSeconds(), nowNanos);
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

  /** A first token has come: the queue moves on, and the order tells who rode and who waited. */
  void firstToken(Lease lease, long atNanos) {
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
    double prefillSeconds = clock.seconds(atNanos);
    load.firstToken(lease, atNanos);
    if (load.turnNanos() != turnNanos) {
      clock.turned(prefillSeconds);
    }
    lease.prefillSeconds(prefillSeconds);
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
}
