package dev.warmpath.simulator.server;

import dev.warmpath.simulator.engine.Engine;
import dev.warmpath.simulator.engine.EngineRequest;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Lets an engine run on a real clock: wakes up for its next event and keeps it at the present
 * otherwise.
 */
final class EngineDriver {
  private final Engine engine;
  private final EventLoop loop;
  private final LongSupplier nowNanos;
  private final Runnable afterEvents;
  private @Nullable ScheduledFuture<?> timer;
  private long timerNanos = Long.MAX_VALUE;
  private boolean advancing;

  /**
   * @param nowNanos the clock that arrival times come from
   * @param afterEvents runs after every batch of engine events, to flush what they wrote
   */
  EngineDriver(Engine engine, EventLoop loop, LongSupplier nowNanos, Runnable afterEvents) {
    this.engine = engine;
    this.loop = loop;
    this.nowNanos = nowNanos;
    this.afterEvents = afterEvents;
  }

  Engine engine() {
    return engine;
  }

  /** The time now. */
  long nowNanos() {
    return nowNanos.getAsLong();
  }

  Engine.Admission submit(EngineRequest request, long arrivalNanos) {
    advance();
    return engine.submit(request, arrivalNanos);
  }

  void abort(EngineRequest request) {
    advance();
    engine.abort(request, nowNanos());
    advance();
  }

  /** Runs what is due and sets the alarm for what comes next. */
  void advance() {
    if (advancing) {
      return;
    }
    advancing = true;
    try {
      long next = engine.nextEventNanos();
      while (next != Long.MAX_VALUE && next <= nowNanos()) {
        engine.advanceTo(nowNanos());
        next = engine.nextEventNanos();
      }
      setAlarm(next);
    } finally {
      advancing = false;
    }
    afterEvents.run();
  }

  void stop() {
    setAlarm(Long.MAX_VALUE);
  }

  private void setAlarm(long atNanos) {
    if (timerNanos == atNanos) {
      return;
    }
    if (timer != null) {
      timer.cancel(false);
      timer = null;
    }
    timerNanos = atNanos;
    if (atNanos != Long.MAX_VALUE) {
      timer = loop.schedule(this::onAlarm, Math.max(0, atNanos - nowNanos()), TimeUnit.NANOSECONDS);
    }
  }

  private void onAlarm() {
    timer = null;
    timerNanos = Long.MAX_VALUE;
    advance();
  }
}
