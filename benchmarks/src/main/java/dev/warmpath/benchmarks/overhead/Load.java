package dev.warmpath.benchmarks.overhead;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A closed loop: {@code concurrency} connections that each send the next body as soon as the last
 * answer is whole.
 */
final class Load {
  private Load() {}

  /**
   * Latencies in milliseconds; failures are counted and not in the percentiles.
   *
   * @param firstByteP50Millis first body byte of the answer
   * @param firstFailure text of one failure; empty if there was none
   */
  record Measured(
      int requests,
      int failed,
      String firstFailure,
      double p50Millis,
      double p99Millis,
      double minMillis,
      double firstByteP50Millis,
      double perSecond) {}

  static Measured run(
      InetSocketAddress target, String path, List<byte[]> bodies, int concurrency, int requests)
      throws InterruptedException {
    AtomicInteger next = new AtomicInteger();
    LoadClient.Answer[] answers = new LoadClient.Answer[requests];
    long start = System.nanoTime();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < concurrency; i++) {
      threads.add(
          Thread.ofPlatform()
              .name("load-" + i)
              .start(() -> {
                try (LoadClient client = new LoadClient(target, path)) {
                  for (int n = next.getAndIncrement(); n < requests; n = next.getAndIncrement()) {
                    answers[n] = client.post(bodies.get(n % bodies.size()));
                  }
                }
              }));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    return measured(answers, seconds);
  }

  private static Measured measured(LoadClient.Answer[] answers, double seconds) {
    double[] ends = new double[answers.length];
    double[] firsts = new double[answers.length];
    int good = 0;
    String firstFailure = "";
    for (LoadClient.Answer answer : answers) {
      if (answer.failure() == null) {
        ends[good] = answer.endNanos() / 1e6;
        firsts[good++] = answer.firstByteNanos() / 1e6;
      } else if (firstFailure.isEmpty()) {
        firstFailure = answer.failure();
      }
    }
    ends = Arrays.copyOf(ends, good);
    firsts = Arrays.copyOf(firsts, good);
    Arrays.sort(ends);
    Arrays.sort(firsts);
    return new Measured(
        answers.length,
        answers.length - good,
        firstFailure,
        at(ends, 0.5),
        at(ends, 0.99),
        at(ends, 0),
        at(firsts, 0.5),
        good / seconds);
  }

  private static double at(double[] sorted, double q) {
    return sorted.length == 0
        ? Double.NaN
        : sorted[Math.min(sorted.length - 1, (int) (q * sorted.length))];
  }
}
