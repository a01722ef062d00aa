package dev.warmpath.extproc.route;

import dev.warmpath.extproc.inflight.InFlightRequest.Outcome;
import dev.warmpath.extproc.queue.Ticket;
import dev.warmpath.extproc.queue.WaitingRoom;
import dev.warmpath.extproc.queue.WaitingRoom.Admission;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Decisions that take time: a request waits for capacity in the {@link WaitingRoom}, or for a
 * label. It is decided anew, by the configuration of that moment and with every constraint; a
 * decision that comes after the client left gives back what it reserved. Thread-safe.
 */
public final class Holding implements AutoCloseable {
  /** How soon freed capacity is noticed; a tick costs nothing while nobody waits. */
  private static final long TICK_MILLIS = 10;

  private final WaitingRoom room;
  private final ScheduledExecutorService decisions;
  private final LongSupplier nanoClock;

  /**
   * @param decisions decides what was held; one thread, which keeps the order of releases
   */
  public Holding(WaitingRoom room, ScheduledExecutorService decisions, LongSupplier nanoClock) {
    this.room = room;
    this.decisions = decisions;
    this.nanoClock = nanoClock;
    var _ =
        decisions.scheduleWithFixedDelay(
            this::tick, TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS);
  }

  private void tick() {
    if (!room.isEmpty()) {
      room.stateChanged();
    }
  }

  /** Whether somebody waits there who would go before a newcomer of that priority. */
  boolean isWaiting(String lane, int priority) {
    return room.isWaiting(lane, priority);
  }

  /** What a held request is, and costs. */
  record Held(
      String lane, String tenant, int priority, long tokens, long bytes, long maxWaitNanos) {}

  /**
   * Holds a request until it can be decided.
   *
   * @param again decides anew; null if it still has to wait
   * @param tooLate the answer after the longest wait
   * @param full the answer where it can't be held; its argument is when to come again, in seconds
   */
  Decision hold(
      Held held,
      Supplier<@Nullable Decision> again,
      Supplier<Decision> tooLate,
      Function<Integer, Decision> full) {
    CompletableFuture<Decision> result = new CompletableFuture<>();
    Ticket ticket =
        new Ticket(
            held.lane(),
            held.tenant(),
            held.priority(),
            Math.max(1, held.tokens()),
            held.bytes(),
            nanoClock.getAsLong() + held.maxWaitNanos(),
            new Ticket.Attempt() {
              @Override
              public boolean decide() {
                if (result.isDone()) {
                  return true;
                }
                Decision decision = again.get();
                if (decision != null) {
                  complete(result, decision);
                }
                return decision != null;
              }

              @Override
              public void expired() {
                complete(result, tooLate.get());
              }
            });
    return switch (room.offer(ticket)) {
      case Admission.Full refused -> full.apply(refused.retryAfterSeconds());
      case Admission.Waiting waiting ->
          new Decision.Deferred(
              result,
              held.maxWaitNanos(),
              () -> {
                room.leave(ticket);
                complete(result, new Decision.ClientGone());
              });
    };
  }

  /** Decides when {@code ready} completes; {@code again} may defer once more. */
  Decision after(CompletableFuture<?> ready, long maxWaitNanos, Supplier<Decision> again) {
    CompletableFuture<Decision> result = new CompletableFuture<>();
    Runnable[] innerGone = new Runnable[1];
    var _ =
        ready.whenCompleteAsync(
            (value, failure) -> {
              if (result.isDone()) {
                return;
              }
              Decision decision;
              try {
                decision = again.get();
              } catch (RuntimeException e) {
                result.completeExceptionally(e);
                return;
              }
              if (decision instanceof Decision.Deferred deferred) {
                synchronized (innerGone) {
                  innerGone[0] = deferred.clientGone();
                }
                var _ =
                    deferred
                        .decision()
                        .whenComplete((late, broken) -> {
                          if (broken == null) {
                            complete(result, late);
                          } else {
                            result.completeExceptionally(broken);
                          }
                        });
              } else {
                complete(result, decision);
              }
            },
            decisions);
    return new Decision.Deferred(
        result,
        maxWaitNanos,
        () -> {
          Runnable inner;
          synchronized (innerGone) {
            inner = innerGone[0];
          }
          complete(result, new Decision.ClientGone());
          if (inner != null) {
            inner.run();
          }
        });
  }

  /** Sends on what is decided already, but not at once. */
  Decision later(Decision.Routed decided, long waitNanos) {
    CompletableFuture<Decision> result = new CompletableFuture<>();
    try {
      var _ = decisions.schedule(() -> complete(result, decided), waitNanos, TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException closed) {
      return decided;
    }
    return new Decision.Deferred(
        result,
        waitNanos,
        () -> {
          if (result.complete(new Decision.ClientGone())) {
            decided.request().ended(Outcome.CLIENT_GONE, nanoClock.getAsLong());
          }
        });
  }

  /** Too late for the client: nothing stays reserved. */
  private void complete(CompletableFuture<Decision> result, Decision decision) {
    if (!result.complete(decision) && decision instanceof Decision.Routed routed) {
      routed.request().ended(Outcome.CLIENT_GONE, nanoClock.getAsLong());
    }
  }

  @Override
  public void close() {
    decisions.shutdownNow();
  }
}
