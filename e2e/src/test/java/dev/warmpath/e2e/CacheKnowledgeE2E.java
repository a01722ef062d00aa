package dev.warmpath.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.warmpath.e2e.support.ConfigFolder;
import dev.warmpath.e2e.support.Repository;
import dev.warmpath.e2e.support.Stack;
import dev.warmpath.e2e.support.Warmpath;
import dev.warmpath.e2e.support.WireClient;
import dev.warmpath.e2e.support.WireResponse;
import dev.warmpath.simulator.Simulator;
import dev.warmpath.simulator.SimulatorOptions;
import dev.warmpath.simulator.SimulatorOptions.KvEventOptions;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * One pool of three engines: the gateway has all cache events of the first, not the earliest ones
 * of the second, and none of the third. {@code explain} says so for each candidate.
 */
class CacheKnowledgeE2E {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int BLOCK = 16;

  private static Simulator told;
  private static Simulator forgetful;
  private static Simulator silent;
  private static Stack stack;

  @BeforeAll
  static void start(@TempDir Path folder) throws Exception {
    told = engine(KvEventOptions.defaults());
    forgetful = engine(new KvEventOptions(0, 0, "kv-events", true, true, 1));
    silent =
        Simulator.start(
            SimulatorOptions.defaults().withProfile("tiny").withServedModelNames("tiny"));
    for (int i = 0; i < 3; i++) {
      ask(address(forgetful), ids(1_000 * i, 64));
    }
    Path tokenizer = Repository.root().resolve("ext-proc/src/test/resources/prompt/words");
    ConfigFolder config =
        new ConfigFolder(folder.resolve("config"))
            .workerSet("silent", List.of(new ConfigFolder.Worker("silent", port(silent))))
            .write(
                "workers-telling.yaml",
                """
                apiVersion: inference.warmpath.dev/v1alpha1
                kind: InferenceWorkerSet
                metadata: {name: telling}
                spec:
                  engine: vLLM
                  workers:
                    addresses:
                    - {name: told, address: 127.0.0.1, port: %d}
                    - {name: forgetful, address: 127.0.0.1, port: %d}
                  kvEvents: {mode: ZMQ}
                """
                    .formatted(port(told), port(forgetful)))
            .write(
                "pool.yaml",
                """
                apiVersion: inference.warmpath.dev/v1alpha1
                kind: InferencePool
                metadata: {name: tiny}
                spec:
                  model: tiny
                  workerSets: [{name: telling}, {name: silent}]
                  tokenizer: {path: %s}
                """
                    .formatted(tokenizer))
            .poolBackend("tiny", "tiny", "tiny");
    stack = Stack.run(folder, config);
  }

  @AfterAll
  static void stop() {
    stack.close();
    told.close();
    forgetful.close();
    silent.close();
  }

  private static Simulator engine(KvEventOptions events) throws InterruptedException {
    return Simulator.start(
        SimulatorOptions.defaults()
            .withProfile("tiny")
            .withServedModelNames("tiny")
            .withKvEvents(events));
  }

  private static int port(Simulator engine) {
    return engine.uri().getPort();
  }

  private static InetSocketAddress address(Simulator engine) {
    URI uri = engine.uri();
    return new InetSocketAddress(uri.getHost(), uri.getPort());
  }

  /** A prompt in token ids, which need no tokenizer to be the same for both sides. */
  private static String ids(int from, int count) {
    return IntStream.range(from, from + count)
        .mapToObj(Integer::toString)
        .collect(Collectors.joining(",", "[", "]"));
  }

  private static WireResponse ask(InetSocketAddress where, String ids) throws IOException {
    WireResponse response =
        WireClient.post(
            where,
            "/v1/completions",
            "{\"model\":\"tiny\",\"max_tokens\":2,\"prompt\":" + ids + "}");
    assertThat(response.status()).as(response.toString()).isEqualTo(200);
    return response;
  }

  private static Map<String, String> levels() throws IOException {
    Map<String, String> levels = new TreeMap<>();
    for (JsonNode worker : WireClient.get(stack.admin(), "/workers").json()) {
      levels.put(
          worker.path("id").path("name").asString(worker.path("name").asString("")),
          worker.path("cacheKnowledge").asString("")
              + " "
              + worker.path("cacheReason").asString(""));
    }
    return levels;
  }

  @Test
  void explain_shows_how_well_each_candidates_cache_was_known() throws Exception {
    await("all events that there are have arrived")
        .atMost(PATIENCE)
        .ignoreExceptions()
        .untilAsserted(() ->
            assertThat(levels())
                .hasSize(3)
                .hasEntrySatisfying("told", level -> assertThat(level).isEqualTo("EXACT "))
                .hasEntrySatisfying(
                    "forgetful", level -> assertThat(level).matches("ASSISTED .*not .*"))
                .hasEntrySatisfying(
                    "silent", level -> assertThat(level).matches("APPROXIMATE no events yet")));

    String prompt = ids(50_000, 20 * BLOCK);
    ask(address(told), prompt); // beside the gateway, which hears of it all the same
    await("the gateway has heard of it")
        .atMost(PATIENCE)
        .untilAsserted(() -> {
          WireResponse answer = ask(stack.gateway(), ids(50_000, 20 * BLOCK));
          String text = explain(answer);
          assertThat(text)
              .containsPattern("told +\\S+ \\S+ +" + 19 * BLOCK + " +exact ")
              .containsPattern("forgetful +\\S+( ms| s)? +\\d+ +assisted ")
              .containsPattern("silent +\\S+( ms| s)? +\\d+ +approximate ");
        });
  }

  private static String explain(WireResponse answer) throws IOException, InterruptedException {
    Warmpath.Result result =
        Warmpath.run(
            "explain",
            String.valueOf(answer.header("x-warmpath-decision")),
            "--admin",
            "http://127.0.0.1:" + stack.admin().getPort());
    assertThat(result.exit()).as(result.output()).isZero();
    return result.output();
  }
}
