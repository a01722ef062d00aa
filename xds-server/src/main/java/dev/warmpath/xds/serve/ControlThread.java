package dev.warmpath.xds.serve;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread that owns all state of gateways and streams. Everything that arrives (resources,
 * requests, ends of streams, time) becomes a task on it, in order of arrival, so nothing is locked.
 */
public final class ControlThread implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(ControlThread.class);

  private final ScheduledExecutorService executor =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().name("xds-control").daemon().factory());

  public void run(Runnable task) {
    try {
      executor.execute(guarded(task));
    } catch (RejectedExecutionException e) {
      log.debug("a task came after the end", e);
    }
  }

  @Nullable Future<?> runAfter(Duration delay, Runnable task) {
    try {
      return executor.schedule(guarded(task), delay.toNanos(), TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      return null;
    }
  }

  /** Asks for a value of the state; waits. Never call it on the thread itself. */
  public <T> T ask(Callable<T> question) throws InterruptedException {
    try {
      return executor.submit(question).get();
    } catch (java.util.concurrent.ExecutionException e) {
      throw new IllegalStateException("reading the control state failed", e.getCause());
    }
  }

  private static Runnable guarded(Runnable task) {
    return () -> {
      try {
        task.run();
      } catch (RuntimeException e) {
        log.error("a control task failed; the state before it stays", e);
      }
    };
  }

  @Override
  public void close() {
    executor.shutdownNow();
  }
}
