package dev.warmpath.cli;

import java.util.concurrent.CountDownLatch;

/**
 * Runs something until Ctrl-C, SIGTERM or its own end, and closes it exactly once before the JVM
 * ends.
 */
final class Lifetime {
  private final CountDownLatch end = new CountDownLatch(1);
  private final CountDownLatch closed = new CountDownLatch(1);
  private final Thread hook;

  private Lifetime(AutoCloseable what) {
    hook =
        new Thread(
            () -> {
              end.countDown();
              try {
                what.close();
              } catch (Exception e) {
                System.err.println("warmpath: while stopping: " + e);
              } finally {
                closed.countDown();
              }
            },
            "stop");
  }

  /** From now on {@code what} is closed when the JVM is asked to end. */
  static Lifetime of(AutoCloseable what) {
    Lifetime lifetime = new Lifetime(what);
    Runtime.getRuntime().addShutdownHook(lifetime.hook);
    return lifetime;
  }

  /** Ends {@link #await}. */
  void end() {
    end.countDown();
  }

  /** Waits for a signal or {@link #end}. */
  void await() throws InterruptedException {
    end.await();
  }

  /** Closes now, unless a signal is doing it; then waits for that. */
  void close() throws InterruptedException {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
      hook.start();
    } catch (IllegalStateException e) {
      // The JVM is ending: the hook runs.
    }
    closed.await();
  }
}
