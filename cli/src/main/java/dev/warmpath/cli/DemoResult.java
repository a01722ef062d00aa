package dev.warmpath.cli;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * One phase in numbers. A failed request counts in the percentiles with the time until it failed,
 * at least the slowest good one: failing must never look fast.
 */
record DemoResult(
    int requests,
    int failed,
    double ttftP50Millis,
    double ttftP90Millis,
    double endToEndP50Millis,
    double cachedRatio) {

  static DemoResult of(List<DemoLoad.Sample> samples) {
    long prompt = samples.stream().mapToLong(DemoLoad.Sample::promptTokens).sum();
    long cached = samples.stream().mapToLong(DemoLoad.Sample::cachedTokens).sum();
    return new DemoResult(
        samples.size(),
        (int) samples.stream().filter(sample -> sample.failure() != null).count(),
        millis(samples, DemoLoad.Sample::ttftNanos, 0.5),
        millis(samples, DemoLoad.Sample::ttftNanos, 0.9),
        millis(samples, DemoLoad.Sample::totalNanos, 0.5),
        prompt == 0 ? 0 : (double) cached / prompt);
  }

  private static double millis(
      List<DemoLoad.Sample> samples, ToLongFunction<DemoLoad.Sample> time, double quantile) {
    long slowest =
        samples.stream().filter(s -> s.failure() == null).mapToLong(time).max().orElse(0);
    long[] sorted =
        samples.stream()
            .mapToLong(s ->
                s.failure() == null ? time.applyAsLong(s) : Math.max(slowest, time.applyAsLong(s)))
            .sorted()
            .toArray();
    if (sorted.length == 0) {
      return 0;
    }
    int index = (int) Math.ceil(quantile * sorted.length) - 1;
    return Arrays.stream(sorted).skip(Math.max(0, index)).findFirst().orElse(0) / 1e6;
  }

  Map<String, Object> json() {
    Map<String, Object> out = new LinkedHashMap<>();
    out.put("requests", requests);
    out.put("failed", failed);
    out.put("ttft_p50_ms", round(ttftP50Millis));
    out.put("ttft_p90_ms", round(ttftP90Millis));
    out.put("e2e_p50_ms", round(endToEndP50Millis));
    out.put("cached_ratio", round(cachedRatio));
    return out;
  }

  private static double round(double value) {
    return Math.round(value * 1000) / 1000.0;
  }
}
