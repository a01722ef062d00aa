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
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Sends chat requests to the gateway of a recipe and asks where they went. Thread-safe. */
final class RecipeClient implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofMinutes(3);

  private final URI completions;
  private final URI adminPages;
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  RecipeClient(URI endpoint, URI adminPages) {
    completions = URI.create(endpoint + "/v1/chat/completions");
    this.adminPages = adminPages;
  }

  /**
   * What became of a request.
   *
   * @param ttftNanos from sending to the first event of a stream
   * @param totalNanos from sending to the end
   * @param complete a 200 whose stream came to its end marker
   * @param text of the answer
   */
  record Answer(
      int status,
      String decision,
      long ttftNanos,
      long totalNanos,
      boolean complete,
      String text) {}

  /** One streamed chat request. */
  Answer send(String body, @Nullable String apiKey) throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(completions)
            .header("content-type", "application/json")
            .timeout(LIMIT)
            .POST(HttpRequest.BodyPublishers.ofString(body));
    if (apiKey != null) {
      request.header("authorization", "Bearer " + apiKey);
    }
    long start = System.nanoTime();
    HttpResponse<InputStream> response =
        client.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
    String decision = response.headers().firstValue("x-warmpath-decision").orElse("");
    StringBuilder text = new StringBuilder();
    long first = 0;
    boolean done = false;
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        text.append(line).append('\n');
        if (first == 0 && line.startsWith("data: ")) {
          first = System.nanoTime();
        }
        done |= line.equals("data: [DONE]");
      }
    }
    long end = System.nanoTime();
    return new Answer(
        response.statusCode(),
        decision,
        (first == 0 ? end : first) - start,
        end - start,
        response.statusCode() == 200 && done,
        text.toString());
  }

  /** All of them at once. */
  List<Answer> sendAll(List<String> bodies, @Nullable String apiKey) throws Exception {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Callable<Answer>> calls = new ArrayList<>();
      bodies.forEach(body -> calls.add(() -> send(body, apiKey)));
      List<Answer> answers = new ArrayList<>();
      for (Future<Answer> future : threads.invokeAll(calls)) {
        answers.add(future.get());
      }
      return answers;
    }
  }

  /** The backend that took the request, empty for none. */
  String backend(Answer answer) throws InterruptedException {
    JsonNode record =
        JsonMapper.shared().readTree(AdminPages.get(adminPages, "/decisions/" + answer.decision()));
    return record.path("candidates").path(0).path("backend").asString("");
  }

  /** How many of them that backend took. */
  int taken(List<Answer> answers, String backend) throws InterruptedException {
    int count = 0;
    for (Answer answer : answers) {
      count += backend(answer).equals(backend) ? 1 : 0;
    }
    return count;
  }

  /**
   * A chat body.
   *
   * @param system a text before the conversation; empty for none
   */
  static String body(String system, String user, int maxTokens) {
    return "{\"model\":\"qwen-27b\",\"stream\":true,\"max_tokens\":"
        + maxTokens
        + ",\"messages\":["
        + (system.isEmpty() ? "" : "{\"role\":\"system\",\"content\":\"" + system + "\"},")
        + "{\"role\":\"user\",\"content\":\""
        + user
        + "\"}]}";
  }

  @Override
  public void close() {
    client.close();
  }
}
