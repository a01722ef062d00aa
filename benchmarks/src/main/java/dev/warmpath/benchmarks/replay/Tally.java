package dev.warmpath.benchmarks.replay;

import java.util.Arrays;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** Collects what happened to the requests of one run. One thread. */
final class Tally {
  private double[] ttft = new double[1024];
  private double[] e2e = new double[1024];
  private double[] ape = new double[1024];
  private int done;
  private int predicted;
  private int covered;
  private int failed;
  private int withinObjective;
  private long promptTokens;
  private long cachedTokens;
  private long lastEndNanos;
  private final double objectiveSeconds;

  /** Gaps between tokens in microseconds; three digits up to an hour. */
  private final Histogram gapMicros = new Histogram(3_600_000_000L, 3);

  Tally(double objectiveSeconds) {
    this.objectiveSeconds = objectiveSeconds;
  }

  void completed(
      double ttftSeconds,
      double e2eSeconds,
      int prompt,
      int cached,
      long nowNanos,
      Algorithm.@Nullable Forecast forecast) {
    if (done == ttft.length) {
      ttft = Arrays.copyOf(ttft, done * 2);
      e2e = Arrays.copyOf(e2e, done * 2);
      ape = Arrays.copyOf(ape, done * 2);
    }
    ttft[done] = ttftSeconds;
    e2e[done] = e2eSeconds;
    done++;
    if (ttftSeconds <= objectiveSeconds) {
      withinObjective++;
    }
    promptTokens += prompt;
    cachedTokens += cached;
    lastEndNanos = Math.max(lastEndNanos, nowNanos);
    if (forecast != null) {
      ape[predicted++] = Math.abs(forecast.medianSeconds() - ttftSeconds) / ttftSeconds;
      if (ttftSeconds <= forecast.q90Seconds()) {
        covered++;
      }
    }
  }

  void failed(long nowNanos) {
    failed++;
    lastEndNanos = Math.max(lastEndNanos, nowNanos);
  }

  void gap(long nanos, long count) {
    gapMicros.recordValueWithCount(Math.min(3_600_000_000L, Math.max(1, nanos / 1000)), count);
  }

  Result result(
      String workload,
      String mode,
      int concurrency,
      String algorithm,
      int workers,
      long seed,
      double[] workSeconds,
      double wallSeconds) {
    double[] sortedTtft = Arrays.copyOf(ttft, done);
    Arrays.sort(sortedTtft);
    double[] sortedE2e = Arrays.copyOf(e2e, done);
    Arrays.sort(sortedE2e);
    double[] sortedApe = Arrays.copyOf(ape, predicted);
    Arrays.sort(sortedApe);
    int all = done + failed;
    double minutes = lastEndNanos / 60e9;
    return new Result(
        workload,
        mode,
        concurrency,
        algorithm,
        workers,
        seed,
        all,
        failed,
        quantile(sortedTtft, 0.50),
        quantile(sortedTtft, 0.90),
        quantile(sortedTtft, 0.99),
        Arrays.stream(sortedTtft).average().orElse(Double.NaN),
        quantile(sortedE2e, 0.50),
        gapMicros.getTotalCount() == 0 ? Double.NaN : gapMicros.getValueAtPercentile(99) / 1e6,
        promptTokens == 0 ? 0 : cachedTokens / (double) promptTokens,
        variation(workSeconds),
        minutes == 0 ? 0 : withinObjective / minutes,
        all > 0 && withinObjective >= 0.9 * all,
        predicted == 0 ? null : quantile(sortedApe, 0.5),
        predicted == 0 ? null : quantile(sortedApe, 0.9),
        predicted == 0 ? null : covered / (double) predicted,
        wallSeconds,
        sortedTtft);
  }

  /** Nearest-rank quantile of sorted values; NaN if there are none. */
  static double quantile(double[] sorted, double q) {
    if (sorted.length == 0) {
      return Double.NaN;
    }
    int rank = (int) Math.ceil(q * sorted.length) - 1;
    return sorted[Math.min(sorted.length - 1, Math.max(0, rank))];
  }

  private static double variation(double[] values) {
    double mean = Arrays.stream(values).average().orElse(0);
    if (mean == 0) {
      return 0;
    }
    double squares = 0;
    for (double value : values) {
      squares += (value - mean) * (value - mean);
    }
    return Math.sqrt(squares / values.length) / mean;
  }
}
