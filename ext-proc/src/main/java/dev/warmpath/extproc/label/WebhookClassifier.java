package dev.warmpath.extproc.label;

import dev.warmpath.extproc.label.Label.Source;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A label from a service of the operator's: the request body goes there by POST as it came ({@code
 * application/json}), and the answer is {@code {"value": "present", "spans": [{"start": 0, "end":
 * 9, "kind": "name"}]}}. No answer in time, a status other than 200, too many questions at once or
 * an answer of another form make the label unknown. Never blocks. Thread-safe.
 */
public final class WebhookClassifier {
  private static final Pattern VALUE = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,62}");
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(1);
  private static final int MAX_ANSWER_CHARS = 64 * 1024;
  private static final JsonMapper JSON = JsonMapper.shared();

  private final String key;
  private final URI uri;
  private final Duration deadline;
  private final HttpClient client;
  private final Semaphore places;
  private final LongSupplier nanoClock;

  /**
   * @param deadline from the question to the whole answer
   * @param maxConcurrent questions under way; above it the label is unknown at once
   */
  public WebhookClassifier(
      String key,
      URI uri,
      Duration deadline,
      int maxConcurrent,
      HttpClient client,
      LongSupplier nanoClock) {
    this.key = key;
    this.uri = uri;
    this.deadline = deadline;
    this.places = new Semaphore(maxConcurrent);
    this.client = client;
    this.nanoClock = nanoClock;
  }

  /** Asks each of these services, over one client. */
  public static List<WebhookClassifier> of(List<LabelWebhook> webhooks, LongSupplier nanoClock) {
    if (webhooks.isEmpty()) {
      return List.of();
    }
    HttpClient client =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(CONNECT_TIMEOUT)
            .build();
    return webhooks.stream()
        .map(webhook ->
            new WebhookClassifier(
                webhook.label(),
                webhook.uri(),
                webhook.deadline(),
                webhook.maxConcurrent(),
                client,
                nanoClock))
        .toList();
  }

  String key() {
    return key;
  }

  long deadlineNanos() {
    return deadline.toNanos();
  }

  /** Completes normally, within the deadline. */
  CompletableFuture<Label> classify(byte[] body) {
    long start = nanoClock.getAsLong();
    if (!places.tryAcquire()) {
      return CompletableFuture.completedFuture(
          Label.unknown(Source.WEBHOOK, "too many questions at once", 0));
    }
    HttpRequest request =
        HttpRequest.newBuilder(uri)
            .timeout(deadline)
            .header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofByteArray(body))
            .build();
    CompletableFuture<HttpResponse<String>> exchange =
        client.sendAsync(request, HttpResponse.BodyHandlers.ofString());
    return exchange
        .copy()
        .orTimeout(deadline.toNanos(), TimeUnit.NANOSECONDS)
        .handle((response, failure) -> {
          places.release();
          exchange.cancel(true);
          long spent = nanoClock.getAsLong() - start;
          return failure == null
              ? read(response, spent)
              : Label.unknown(Source.WEBHOOK, reason(failure), spent);
        });
  }

  private static String reason(Throwable failure) {
    Throwable cause = failure instanceof CompletionException wrapped ? wrapped.getCause() : failure;
    return switch (cause) {
      case TimeoutException timeout -> "webhook did not answer in time";
      case java.net.http.HttpTimeoutException timeout -> "webhook did not answer in time";
      case IOException io -> "webhook could not be reached";
      case null, default -> "webhook failed";
    };
  }

  private static Label read(HttpResponse<String> response, long spentNanos) {
    if (response.statusCode() != 200) {
      return Label.unknown(Source.WEBHOOK, "webhook answered " + response.statusCode(), spentNanos);
    }
    if (response.body().length() > MAX_ANSWER_CHARS) {
      return Label.unknown(Source.WEBHOOK, "webhook's answer is too long", spentNanos);
    }
    try {
      JsonNode answer = JSON.readTree(response.body());
      String value = answer.path("value").asString("");
      if (!VALUE.matcher(value).matches()) {
        return Label.unknown(Source.WEBHOOK, "webhook gave no value", spentNanos);
      }
      List<String> kinds = new ArrayList<>();
      for (JsonNode span : answer.path("spans")) {
        String kind = span.path("kind").asString("");
        if (VALUE.matcher(kind).matches() && !kinds.contains(kind)) {
          kinds.add(kind);
        }
      }
      return new Label(value, Source.WEBHOOK, kinds, null, spentNanos);
    } catch (JacksonException e) {
      return Label.unknown(Source.WEBHOOK, "webhook's answer is not JSON", spentNanos);
    }
  }
}
