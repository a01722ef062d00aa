package dev.warmpath.benchmarks.control;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.function.Predicate;

/** What the control plane has sent to Envoy, read from its own metrics page. */
final class Wire {
  private static final Duration POLL = Duration.ofMillis(2);

  private final HttpClient client = HttpClient.newHttpClient();
  private final URI page;

  /**
   * Sums over all types.
   *
   * @param resources sent
   * @param kilobytes of all resources sent
   * @param responses sent
   * @param answers acknowledged or refused responses
   */
  record Counts(double resources, double kilobytes, double responses, double answers) {
    /** Envoy has answered everything. */
    boolean isQuiet() {
      return responses == answers;
    }

    double acknowledged() {
      return isQuiet() ? resources : 0;
    }
  }

  Wire(int adminPort) {
    page = URI.create("http://127.0.0.1:" + adminPort + "/metrics");
  }

  Counts read() throws IOException, InterruptedException {
    String text =
        client
            .send(HttpRequest.newBuilder(page).build(), HttpResponse.BodyHandlers.ofString())
            .body();
    return new Counts(
        sum(text, "warmpath_xds_resources_total"),
        sum(text, "warmpath_xds_sent_bytes_total") / 1024,
        sum(text, "warmpath_xds_responses_total"),
        sum(text, "warmpath_xds_acks_total") + sum(text, "warmpath_xds_nacks_total"));
  }

  void await(Predicate<Counts> condition, Duration patience)
      throws IOException, InterruptedException {
    long deadline = System.nanoTime() + patience.toNanos();
    while (!condition.test(read())) {
      if (System.nanoTime() > deadline) {
        throw new IllegalStateException("still " + read() + " after " + patience);
      }
      Thread.sleep(POLL);
    }
  }

  private static double sum(String page, String metric) {
    return page.lines()
        .filter(line -> line.startsWith(metric + "{") || line.startsWith(metric + " "))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }
}
