package dev.warmpath.extproc.stream;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The threads that decide: as many as there are cores, so that reading large prompts never holds up
 * the I/O threads, with a bounded queue in front. Thread-safe.
 */
public final class DecisionPool implements AutoCloseable {
  private static final long STOP_WAIT_SECONDS = 5;

  private final ThreadPoolExecutor threads;
  private final int comfortableDepth;

  /**
   * Starts the threads.
   *
   * @param queueCapacity decisions that may wait; a further one is turned away
   */
  public DecisionPool(int threadCount, int queueCapacity) {
    AtomicInteger number = new AtomicInteger();
    threads =
        new ThreadPoolExecutor(
            threadCount,
            threadCount,
            0,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(queueCapacity),
            task -> {
              Thread thread = new Thread(task, "decide-" + number.getAndIncrement());
              thread.setDaemon(true);
              return thread;
            });
    threads.prestartAllCoreThreads();
    comfortableDepth = 32 * threadCount;
  }

  /** Returns false where the queue is full. */
  boolean tryExecute(Runnable task) {
    try {
      threads.execute(task);
      return true;
    } catch (RejectedExecutionException e) {
      return false;
    }
  }

  /** Whether so much waits that a decision may take longer than Envoy expects. */
  boolean isBusy() {
    return queuedDecisions() > comfortableDepth;
  }

  public int queuedDecisions() {
    return threads.getQueue().size();
  }

  @Override
  public void close() {
    threads.shutdown();
    try {
      if (!threads.awaitTermination(STOP_WAIT_SECONDS, TimeUnit.SECONDS)) {
        threads.shutdownNow();
      }
    } catch (InterruptedException e) {
      threads.shutdownNow();
      Thread.currentThread().interrupt();
    }
  }
}
