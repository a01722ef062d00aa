package dev.warmpath.benchmarks.replay;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Formatter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.json.JsonMapper;

/** Results as JSON, as a Markdown table and as charts. */
final class Report {
  private static final JsonMapper MAPPER =
      JsonMapper.builder().propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE).build();

  private Report() {}

  static String json(String command, List<Result> results) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("command", command);
    document.put("java", Runtime.version().toString());
    document.put("processors", Runtime.getRuntime().availableProcessors());
    document.put("results", results);
    return MAPPER.writerWithDefaultPrettyPrinter().writeValueAsString(document);
  }

  static String table(List<Result> results) {
    StringBuilder text = new StringBuilder();
    Formatter out = new Formatter(text, Locale.ROOT);
    out.format(
        "| workload | mode | algorithm | seed | TTFT p50 s | p90 | p99 | mean | e2e p50 s | ITL p99 ms | cached | load CoV | goodput/min | SLO | failed | pred. error | q90 cov. |%n"
            + "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: | ---: |%n");
    for (Result r : results) {
      out.format(
          "| %s | %s | %s | %d | %.3f | %.3f | %.3f | %.3f | %.2f | %.0f | %.3f | %.2f | %.1f | %s | %d | %s | %s |%n",
          r.workload(),
          r.mode().equals("closed") ? "closed " + r.concurrency() : r.mode(),
          r.algorithm(),
          r.seed(),
          r.ttftP50(),
          r.ttftP90(),
          r.ttftP99(),
          r.ttftMean(),
          r.e2eP50(),
          r.itlP99() * 1000,
          r.cachedRatio(),
          r.loadCov(),
          r.goodputPerMin(),
          r.sloMet() ? "met" : "missed",
          r.failed(),
          percent(r.predictionMedianApe()),
          percent(r.q90Coverage()));
    }
    return text.toString();
  }

  private static String percent(@Nullable Double ratio) {
    return ratio == null ? "" : String.format(Locale.ROOT, "%.1f %%", ratio * 100);
  }

  /** Writes {@code results.json}, {@code results.md} and the charts. */
  static void write(Path folder, String command, List<Result> results) throws IOException {
    Files.createDirectories(folder);
    put(folder.resolve("results.json"), json(command, results));
    put(
        folder.resolve("results.md"),
        "# Replay\n\nCommand: `" + command + "`\n\n" + table(results));
    Map<String, List<Result>> open = new LinkedHashMap<>();
    Map<String, List<Result>> closed = new LinkedHashMap<>();
    for (Result result : results) {
      (result.mode().equals("closed") ? closed : open)
          .computeIfAbsent(result.workload(), name -> new ArrayList<>())
          .add(result);
    }
    for (Map.Entry<String, List<Result>> entry : open.entrySet()) {
      put(
          folder.resolve("ttft-" + entry.getKey() + ".svg"),
          Charts.distribution(entry.getKey() + ": time to first token", entry.getValue()));
    }
    for (Map.Entry<String, List<Result>> entry : closed.entrySet()) {
      put(
          folder.resolve("goodput-" + entry.getKey() + ".svg"),
          Charts.goodput(entry.getKey() + ": goodput", entry.getValue()));
    }
  }

  private static void put(Path file, String text) throws IOException {
    Files.writeString(file, text, StandardCharsets.UTF_8);
  }
}
