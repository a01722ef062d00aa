package dev.warmpath.extproc.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class MetricNamesTest {
  private static final Pattern ROW = Pattern.compile("^\\| `((?:warmpath|gen_ai)_[a-z_]+)`");

  @Test
  void documentListsExactlyTheMetricsThatExist() throws IOException {
    TreeSet<String> documented = new TreeSet<>();
    for (String line : Files.readAllLines(document())) {
      Matcher row = ROW.matcher(line);
      if (row.find()) {
        documented.add(row.group(1));
      }
    }

    assertThat(documented).isEqualTo(new TreeSet<>(MetricNames.ALL));
  }

  @Test
  void listIsComplete() throws Exception {
    TreeSet<String> constants = new TreeSet<>();
    for (var field : MetricNames.class.getFields()) {
      if (field.getType() == String.class) {
        constants.add((String) field.get(null));
      }
    }

    assertThat(constants).isEqualTo(new TreeSet<>(MetricNames.ALL));
    assertThat(MetricNames.ALL).doesNotHaveDuplicates();
  }

  @Test
  void pageShowsNamesAsWritten() {
    GatewayMetrics metrics = new GatewayMetrics();
    metrics.decided("routed", 1_000_000);
    metrics.gauge(MetricNames.LEASES, () -> 3);
    metrics.workers(() ->
        List.of(
            new GatewayMetrics.WorkerRow(
                "default/a/w0", 1, 2, 0.5, 1_000, 1.1, Double.NaN, 0.9, 2, 500, 100)));

    String page = metrics.scrape();

    assertThat(page)
        .contains(
            "warmpath_decisions_total{kind=\"routed\"} 1.0",
            "warmpath_decision_seconds_count 1",
            "warmpath_leases 3.0",
            "warmpath_worker_queued_prompts{worker=\"default/a/w0\"} 1.0",
            "warmpath_requests_total{outcome=\"completed\"} 0.0");
  }

  private static Path document() {
    Path folder = Path.of("").toAbsolutePath();
    while (!Files.exists(folder.resolve("docs/metrics.md"))) {
      Path parent = folder.getParent();
      if (parent == null) {
        throw new AssertionError("docs/metrics.md not found above " + Path.of("").toAbsolutePath());
      }
      folder = parent;
    }
    return folder.resolve("docs/metrics.md");
  }
}
