package dev.warmpath.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Sends a workload, each request at its time whatever became of the earlier ones, and times the
 * first token of each stream from the moment it should have been sent.
 */
final class DemoLoad implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofMinutes(2);

  private final URI completions;
  private final HttpClient client =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(5))
          .build();

  DemoLoad(URI endpoint) {
    completions = URI.create(endpoint + "/v1/chat/completions");
  }

  /**
   * What became of one request.
   *
   * @param failure null for a stream that came to its end
   */
  record Sample(
      long ttftNanos,
      long totalNanos,
      int promptTokens,
      int cachedTokens,
      @Nullable String failure) {}

  List<Sample> run(DemoWorkload workload, Terminal terminal) throws Exception {
    AtomicInteger done = new AtomicInteger();
    long start = System.nanoTime();
    List<Future<Sample>> running = new ArrayList<>();
    List<DemoWorkload.Request> requests = workload.requests();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (DemoWorkload.Request request : requests) {
        Callable<Sample> task =
            () -> {
              long at = start + request.arrivalNanos();
              String body = workload.body(request);
              TimeUnit.NANOSECONDS.sleep(Math.max(0, at - System.nanoTime()));
              Sample sample = send(body, at);
              terminal.progress(done.incrementAndGet() + " of " + requests.size() + " answered");
              return sample;
            };
        running.add(threads.submit(task));
      }
      List<Sample> samples = new ArrayList<>();
      for (Future<Sample> one : running) {
        samples.add(one.get());
      }
      return samples;
    } finally {
      terminal.endProgress();
    }
  }

  /** One request now. */
  Sample send(String body) {
    return send(body, System.nanoTime());
  }

  private Sample send(String body, long atNanos) {
    HttpRequest request =
        HttpRequest.newBuilder(completions)
            .header("content-type", "application/json")
            .timeout(LIMIT)
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
    try {
      HttpResponse<InputStream> response =
          client.send(request, HttpResponse.BodyHandlers.ofInputStream());
      try (InputStream in = response.body()) {
        if (response.statusCode() != 200) {
          String text = new String(in.readNBytes(300), StandardCharsets.UTF_8);
          return failed(atNanos, response.statusCode() + " " + text);
        }
        return read(new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8)), atNanos);
      }
    } catch (IOException e) {
      return failed(atNanos, e.toString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return failed(atNanos, "interrupted");
    }
  }

  private static Sample read(BufferedReader lines, long atNanos) throws IOException {
    long first = 0;
    int prompt = 0;
    int cached = 0;
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      if (!line.startsWith("data: ")) {
        continue;
      }
      String data = line.substring(6);
      if (data.equals("[DONE]")) {
        long end = System.nanoTime();
        return first == 0
            ? failed(atNanos, "a stream without a token")
            : new Sample(first - atNanos, end - atNanos, prompt, cached, null);
      }
      if (first == 0 || data.contains("\"usage\":{") || data.contains("\"error\":{")) {
        JsonNode event = JsonMapper.shared().readTree(data);
        if (event.path("error").isObject()) {
          return failed(atNanos, data);
        }
        if (first == 0
            && !event
                .path("choices")
                .path(0)
                .path("delta")
                .path("content")
                .asString("")
                .isEmpty()) {
          first = System.nanoTime();
        }
        JsonNode usage = event.path("usage");
        if (usage.isObject()) {
          prompt = usage.path("prompt_tokens").asInt(0);
          cached = usage.path("prompt_tokens_details").path("cached_tokens").asInt(0);
        }
      }
    }
    return failed(atNanos, "a stream without an end");
  }

  private static Sample failed(long atNanos, String why) {
    long now = System.nanoTime();
    return new Sample(now - atNanos, now - atNanos, 0, 0, why);
  }

  @Override
  public void close() {
    client.close();
  }
}
