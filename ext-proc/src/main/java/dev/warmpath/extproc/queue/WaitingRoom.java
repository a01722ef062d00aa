package dev.warmpath.extproc.queue;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

/**
 * Holds requests until something may take them. Bounded by their number, their bytes, and the time
 * that a newcomer would wait by the rate at which its lane was released so far.
 *
 * <p>{@link #stateChanged} tries the head of each lane again, and goes on in a lane while attempts
 * succeed; a failed attempt blocks its lane until the next call. Somebody calls it when capacity
 * may have come free, and now and then while {@link #isEmpty} is false.
 *
 * <p>Thread-safe. The monitor guards the lanes and is not held during an attempt; attempts run one
 * at a time, on the thread that called.
 */
public final class WaitingRoom {
  /** Weight of the newest interval in the release rate. */
  private static final double RATE_WEIGHT = 0.3;

  private static final long RATE_INTERVAL_NANOS = 1_000_000_000;

  /**
   * Bounds.
   *
   * @param requests that wait at most
   * @param bytes of their bodies at most
   */
  public record Limits(int requests, long bytes) {}

  /** Whether a ticket was taken. */
  public sealed interface Admission {
    record Waiting() implements Admission {}

    /**
     * Turned away.
     *
     * @param retryAfterSeconds at least 1
     */
    record Full(String reason, int retryAfterSeconds) implements Admission {}
  }

  private final Limits limits;
  private final LongSupplier nanoClock;
  private final Map<String, Lane> lanes = new LinkedHashMap<>();
  private final Map<String, Rate> rates = new LinkedHashMap<>();
  private int requests;
  private long bytes;
  private final AtomicInteger calls = new AtomicInteger();

  /** Released tokens a second, smoothed; 0 until known. */
  private static final class Rate {
    double tokensPerSecond;
    long tokens;
    long since;
  }

  public WaitingRoom(Limits limits, LongSupplier nanoClock) {
    this.limits = limits;
    this.nanoClock = nanoClock;
  }

  /** Takes a ticket, or says why not. */
  public synchronized Admission offer(Ticket ticket) {
    double wait = predictedWaitSeconds(ticket);
    if (requests >= limits.requests()) {
      return full("too many requests wait", wait);
    }
    if (bytes + ticket.bytes() > limits.bytes()) {
      return full("waiting requests hold too much memory", wait);
    }
    if (wait * 1e9 > ticket.deadlineNanos() - nanoClock.getAsLong()) {
      return full("the wait would be longer than allowed", wait);
    }
    if (!lanes.containsKey(ticket.lane())) {
      lanes.put(ticket.lane(), new Lane());
      rate(ticket.lane()).since = nanoClock.getAsLong();
    }
    lane(ticket.lane()).add(ticket);
    requests++;
    bytes += ticket.bytes();
    return new Admission.Waiting();
  }

  private static Admission full(String reason, double waitSeconds) {
    return new Admission.Full(reason, (int) Math.clamp(Math.ceil(waitSeconds), 1, 300));
  }

  /** 0 where nothing is known. */
  private double predictedWaitSeconds(Ticket ticket) {
    Lane lane = lanes.get(ticket.lane());
    Rate rate = rates.get(ticket.lane());
    return lane == null || rate == null || rate.tokensPerSecond <= 0
        ? 0
        : lane.tokensAhead(ticket.priority()) / rate.tokensPerSecond;
  }

  /** The client went away. */
  public synchronized void leave(Ticket ticket) {
    take(ticket, false);
  }

  /** Whether somebody waits in that lane who goes before a newcomer of that priority. */
  public synchronized boolean isWaiting(String lane, int priority) {
    Lane waiting = lanes.get(lane);
    return waiting != null && waiting.tokensAhead(priority) > 0;
  }

  /** Whether anybody waits at all. */
  public synchronized boolean isEmpty() {
    return requests == 0;
  }

  /** How many wait. */
  public synchronized int size() {
    return requests;
  }

  /** Bytes that they hold. */
  public synchronized long bytes() {
    return bytes;
  }

  /**
   * Something may have come free, or time has passed: expires, then releases. May be called from
   * any thread; concurrent calls are merged into one that runs on.
   */
  public void stateChanged() {
    if (calls.getAndIncrement() > 0) {
      return;
    }
    int seen = 1;
    do {
      expire();
      for (String lane : laneNames()) {
        release(lane);
      }
      seen = calls.addAndGet(-seen);
    } while (seen > 0);
  }

  private void expire() {
    List<Ticket> late = new ArrayList<>();
    synchronized (this) {
      long now = nanoClock.getAsLong();
      for (Lane lane : lanes.values()) {
        for (Ticket ticket : lane.all()) {
          if (ticket.deadlineNanos() - now <= 0) {
            late.add(ticket);
          }
        }
      }
      late.removeIf(ticket -> !take(ticket, false));
    }
    late.forEach(ticket -> ticket.attempt().expired());
  }

  private synchronized List<String> laneNames() {
    return List.copyOf(lanes.keySet());
  }

  private void release(String lane) {
    while (true) {
      Ticket head;
      synchronized (this) {
        Lane waiting = lanes.get(lane);
        head = waiting == null ? null : waiting.head();
      }
      if (head == null || !decided(head)) {
        return;
      }
      synchronized (this) {
        take(head, true);
      }
    }
  }

  /** An attempt that breaks would break again: it does not stay at the head of its lane. */
  private static boolean decided(Ticket head) {
    try {
      return head.attempt().decide();
    } catch (RuntimeException e) {
      head.attempt().expired();
      return true;
    }
  }

  /** The rate outlives its lane, so that a newcomer's wait can be told. */
  private boolean take(Ticket ticket, boolean served) {
    Lane lane = lanes.get(ticket.lane());
    if (lane == null || !lane.remove(ticket, served)) {
      return false;
    }
    requests--;
    bytes -= ticket.bytes();
    if (served) {
      released(rate(ticket.lane()), ticket.tokens());
    }
    if (lane.isEmpty()) {
      lanes.remove(ticket.lane());
      if (rates.size() > 1000) { // lanes are named by policies and models, so there are few
        rates.keySet().retainAll(lanes.keySet());
      }
    }
    return true;
  }

  private Rate rate(String lane) {
    return rates.computeIfAbsent(lane, any -> new Rate());
  }

  private Lane lane(String name) {
    Lane lane = lanes.get(name);
    if (lane == null) {
      throw new IllegalStateException("no lane " + name);
    }
    return lane;
  }

  private void released(Rate rate, long tokens) {
    rate.tokens += tokens;
    long elapsed = nanoClock.getAsLong() - rate.since;
    if (elapsed >= RATE_INTERVAL_NANOS) {
      double now = rate.tokens * 1e9 / elapsed;
      rate.tokensPerSecond =
          rate.tokensPerSecond == 0
              ? now
              : rate.tokensPerSecond + RATE_WEIGHT * (now - rate.tokensPerSecond);
      rate.tokens = 0;
      rate.since = nanoClock.getAsLong();
    }
  }
}
