package dev.warmpath.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.warmpath.e2e.support.ConfigFolder;
import dev.warmpath.e2e.support.Errors;
import dev.warmpath.e2e.support.Stack;
import dev.warmpath.e2e.support.WireClient;
import dev.warmpath.e2e.support.WireResponse;
import dev.warmpath.simulator.Simulator;
import dev.warmpath.simulator.SimulatorOptions;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/**
 * Engines with a queue cap answer a burst of streams with HTTP 200 and then, before any content,
 * with an error event. See docs/decisions/0122.
 */
class QueueCapE2E {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int BURST = 12;

  private static final List<Simulator> ENGINES = new ArrayList<>();
  private static Stack stack;
  private static InetSocketAddress gateway;

  @BeforeAll
  static void start(@TempDir Path folder) throws Exception {
    List<ConfigFolder.Worker> workers = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      Simulator engine =
          Simulator.start(
              SimulatorOptions.defaults()
                  .withTimeScale(0.5)
                  .withServedModelNames("tiny")
                  .withMaxQueuedRequests(1));
      ENGINES.add(engine);
      workers.add(new ConfigFolder.Worker("w" + i, engine.uri().getPort()));
    }
    stack =
        Stack.run(
            folder,
            new ConfigFolder(folder.resolve("config"))
                .workerSet("w", workers)
                .pool("tiny", "tiny", "w")
                .poolBackend("tiny", "tiny", "tiny"));
    gateway = stack.gateway();
  }

  @AfterAll
  static void stop() {
    stack.close();
    ENGINES.forEach(Simulator::close);
  }

  private static String body(String prompt, int answerTokens) {
    return "{\"model\":\"tiny\",\"stream\":true,\"max_tokens\":%d,\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}]}"
        .formatted(answerTokens, prompt);
  }

  /** How a stream of the burst ended, and what its worker counts as right after it. */
  private record Ended(WireResponse response, double faultSeconds) {
    boolean rejectedInBand() {
      return response.status() == 200 && response.text().contains("\"error\"");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"/v1/chat/completions", "/v1/messages"})
  void a_rejection_inside_a_stream_is_an_error_and_no_token(String path) throws Exception {
    double full = stack.outcomes("upstream_full");
    double completed = stack.outcomes("completed");
    double tokens = firstTokens();

    List<Ended> all = burst(path);

    List<Ended> rejected = all.stream().filter(Ended::rejectedInBand).toList();
    List<Ended> served =
        all.stream().filter(e -> e.response().status() == 200 && !e.rejectedInBand()).toList();
    assertThat(rejected).as("rejected inside the stream").isNotEmpty();
    assertThat(served).isNotEmpty();
    assertThat(all)
        .filteredOn(e -> e.response().status() != 200)
        .allSatisfy(e -> {
          assertThat(e.response().status()).as(e.response().toString()).isEqualTo(503);
          Errors.assertShape(Errors.Shape.OPENAI, e.response()); // as the worker itself said it
        });
    for (Ended one : rejected) {
      assertDialect(path, one.response());
      JsonNode record = record(one.response());
      assertThat(record.path("outcome").asString("")).isEqualTo("UPSTREAM_FULL");
      assertThat(record.path("actualTtftSeconds").isNumber()).as("a first token").isFalse();
    }
    assertThat(rejected)
        .as("the next decision after a rejection counts seconds for the full worker")
        .anySatisfy(one -> assertThat(one.faultSeconds()).isPositive());

    await("leases return to none")
        .atMost(PATIENCE)
        .untilAsserted(() -> assertThat(stack.leases()).isZero());
    await("all ends are counted")
        .atMost(PATIENCE)
        .untilAsserted(() -> {
          // Each stream of the burst that was rejected was followed by a probe, which is in either.
          double probes = rejected.size();
          double counted =
              stack.outcomes("upstream_full") - full + stack.outcomes("completed") - completed;
          assertThat(counted).isEqualTo(BURST + probes);
          assertThat(stack.outcomes("upstream_full") - full)
              .isGreaterThanOrEqualTo(rejected.size());
          assertThat(firstTokens() - tokens)
              .as("first tokens are those of the streams that had one")
              .isEqualTo(stack.outcomes("completed") - completed);
        });
  }

  private static void assertDialect(String path, WireResponse response) {
    String text = response.text();
    if (path.equals("/v1/messages")) {
      assertThat(text).startsWith("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":");
      assertThat(text).doesNotContain("message_start").doesNotContain("[DONE]");
    } else {
      assertThat(text).startsWith("data: {\"error\": {\"message\":").endsWith("data: [DONE]\n\n");
      assertThat(text).doesNotContain("choices");
    }
  }

  /** All at once; whoever is rejected looks at what the next decision thinks of its worker. */
  private static List<Ended> burst(String path) throws InterruptedException {
    Queue<Ended> ended = new ConcurrentLinkedQueue<>();
    Queue<Exception> failures = new ConcurrentLinkedQueue<>();
    CountDownLatch go = new CountDownLatch(1);
    List<Thread> clients = new ArrayList<>();
    for (int i = 0; i < BURST; i++) {
      String prompt = ("burst " + i + " of words ").repeat(400);
      clients.add(
          Thread.ofVirtual()
              .start(() -> {
                try {
                  go.await();
                  WireResponse response = WireClient.post(gateway, path, body(prompt, 4));
                  Ended plain = new Ended(response, 0);
                  ended.add(
                      plain.rejectedInBand() ? new Ended(response, faultAfter(response)) : plain);
                } catch (IOException | InterruptedException e) {
                  failures.add(e);
                }
              }));
    }
    go.countDown();
    for (Thread client : clients) {
      client.join();
    }
    assertThat(failures).isEmpty();
    return List.copyOf(ended);
  }

  /** Seconds that a decision of now counts for the worker that rejected. */
  private static double faultAfter(WireResponse rejected) throws IOException {
    await("the rejection is seen")
        .atMost(PATIENCE)
        .pollInterval(Duration.ofMillis(10))
        .until(() -> record(rejected).path("outcome").isString());
    String full = record(rejected).path("attempts").get(0).path("worker").asString("");
    WireResponse probe = WireClient.post(gateway, "/v1/chat/completions", body("probe", 1));
    for (JsonNode candidate : record(probe).path("candidates")) {
      if (candidate.path("worker").asString("").equals(full)) {
        return candidate.path("faultSeconds").asDouble();
      }
    }
    throw new AssertionError("no candidate " + full);
  }

  private static JsonNode record(WireResponse response) throws IOException {
    return WireClient.get(stack.admin(), "/decisions/" + response.header("x-warmpath-decision"))
        .json();
  }

  private static double firstTokens() throws IOException {
    return stack.metrics().sum("gen_ai_server_time_to_first_token_seconds_count").orElse(0);
  }
}
