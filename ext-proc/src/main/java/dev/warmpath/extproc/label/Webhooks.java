package dev.warmpath.extproc.label;

import dev.warmpath.crds.v1alpha1.Durations;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Reads webhook classifiers from one line: {@code tone=http://127.0.0.1:9100/tone deadline=200ms,
 * topic=https://…}.
 */
public final class Webhooks {
  /** Environment variable of the processor that holds the line. */
  public static final String ENVIRONMENT = "WARMPATH_LABEL_WEBHOOKS";

  private static final Duration DEFAULT_DEADLINE = Duration.ofMillis(250);
  private static final int MAX_CONCURRENT = 64;

  private Webhooks() {}

  /**
   * Reads the line; an empty one gives none.
   *
   * @throws IllegalArgumentException saying what is wrong with which part
   */
  public static List<WebhookClassifier> parse(String line, LongSupplier nanoClock) {
    List<WebhookClassifier> webhooks = new ArrayList<>();
    if (line.isBlank()) {
      return webhooks;
    }
    HttpClient client =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(1))
            .build();
    for (String part : line.split(",", -1)) {
      webhooks.add(one(part.strip(), client, nanoClock));
    }
    return webhooks;
  }

  private static WebhookClassifier one(String part, HttpClient client, LongSupplier nanoClock) {
    String[] words = part.split(" +", -1);
    int equals = words[0].indexOf('=');
    if (equals < 1 || !words[0].startsWith("http", equals + 1)) {
      throw new IllegalArgumentException(
          "webhook '" + part + "': expected LABEL=http(s)://… [deadline=250ms]");
    }
    Duration deadline = DEFAULT_DEADLINE;
    if (words.length > 1) {
      Duration given =
          words[1].startsWith("deadline=")
              ? Durations.parse(words[1].substring("deadline=".length()))
              : null;
      if (given == null || given.isZero()) {
        throw new IllegalArgumentException(
            "webhook '" + part + "': expected deadline=250ms after the address");
      }
      deadline = given;
    }
    return new WebhookClassifier(
        words[0].substring(0, equals),
        URI.create(words[0].substring(equals + 1)),
        deadline,
        MAX_CONCURRENT,
        client,
        nanoClock);
  }
}
