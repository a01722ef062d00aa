package dev.warmpath.extproc.label;

import dev.warmpath.crds.v1alpha1.Durations;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A service of the operator's that gives one label.
 *
 * @param deadline from the question to the whole answer; later the label is unknown
 * @param maxConcurrent questions under way; above it the label is unknown at once
 */
public record LabelWebhook(String label, URI uri, Duration deadline, int maxConcurrent) {
  private static final Duration DEFAULT_DEADLINE = Duration.ofMillis(250);
  private static final Duration LONGEST_DEADLINE = Duration.ofSeconds(60);
  private static final int DEFAULT_CONCURRENT = 64;
  private static final Pattern LABEL = Pattern.compile("[A-Za-z][A-Za-z0-9_-]{0,62}");

  /**
   * Reads {@code tone=http://127.0.0.1:9100/tone deadline=200ms concurrency=16}; what follows the
   * address may be left out.
   *
   * @throws IllegalArgumentException saying what is wrong
   */
  public static LabelWebhook parse(String text) {
    String[] words = text.strip().split("\\s+", -1);
    int equals = words[0].indexOf('=');
    if (equals < 1 || !LABEL.matcher(words[0].substring(0, equals)).matches()) {
      throw wrong(text, "expected LABEL=http(s)://… [deadline=250ms] [concurrency=64]");
    }
    URI uri = uri(text, words[0].substring(equals + 1));
    Duration deadline = DEFAULT_DEADLINE;
    int concurrent = DEFAULT_CONCURRENT;
    for (int i = 1; i < words.length; i++) {
      if (words[i].startsWith("deadline=")) {
        deadline = deadline(text, words[i].substring("deadline=".length()));
      } else if (words[i].startsWith("concurrency=")) {
        concurrent = concurrency(text, words[i].substring("concurrency=".length()));
      } else {
        throw wrong(text, "expected deadline=250ms or concurrency=64, not " + words[i]);
      }
    }
    return new LabelWebhook(words[0].substring(0, equals), uri, deadline, concurrent);
  }

  private static URI uri(String text, String address) {
    try {
      URI uri = new URI(address);
      boolean http = "http".equals(uri.getScheme()) || "https".equals(uri.getScheme());
      if (http && uri.getHost() != null) {
        return uri;
      }
    } catch (URISyntaxException e) {
      // Said below.
    }
    throw wrong(text, "expected an http or https address after the label");
  }

  private static Duration deadline(String text, String value) {
    @Nullable Duration deadline = Durations.parse(value);
    if (deadline == null || deadline.isZero() || deadline.compareTo(LONGEST_DEADLINE) > 0) {
      throw wrong(text, "expected a deadline such as 250ms, at most 60s");
    }
    return deadline;
  }

  private static int concurrency(String text, String value) {
    try {
      int concurrent = Integer.parseInt(value);
      if (concurrent > 0) {
        return concurrent;
      }
    } catch (NumberFormatException e) {
      // Said below.
    }
    throw wrong(text, "expected a concurrency of at least 1");
  }

  private static IllegalArgumentException wrong(String text, String why) {
    return new IllegalArgumentException("label webhook '" + text + "': " + why);
  }
}
