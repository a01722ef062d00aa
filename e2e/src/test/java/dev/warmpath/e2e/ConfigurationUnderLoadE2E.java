package dev.warmpath.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.warmpath.e2e.support.ConfigFolder;
import dev.warmpath.e2e.support.ScriptedWorker;
import dev.warmpath.e2e.support.Scripts;
import dev.warmpath.e2e.support.SlowStream;
import dev.warmpath.e2e.support.Stack;
import dev.warmpath.e2e.support.StreamLoad;
import dev.warmpath.e2e.support.Warmpath;
import dev.warmpath.e2e.support.WireClient;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The configuration changes while 200 streams run, and none of them fails. */
class ConfigurationUnderLoadE2E {

  private static final int STREAMS = 200;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** The promise: a new worker gets traffic within that time. */
  private static final Duration PROMPTLY = Duration.ofSeconds(1);

  /** On a machine that runs other tests, one prompt arrival in a few shows that it can be kept. */
  private static final int ATTEMPTS = 5;

  private static Path folder;
  private static ConfigFolder config;
  private static ScriptedWorker first;
  private static ScriptedWorker second;
  private static ScriptedWorker late;
  private static Stack stack;
  private static InetSocketAddress gateway;

  private StreamLoad load;

  @BeforeAll
  static void start(@TempDir Path temporary) throws IOException {
    folder = temporary;
    first = ScriptedWorker.start("tiny", slow());
    second = ScriptedWorker.start("tiny", slow());
    late = ScriptedWorker.start("tiny", slow());
    config =
        new ConfigFolder(folder.resolve("config"))
            .workerSet("w", workers(first, second))
            .pool("tiny", "tiny", "w")
            .poolBackend("tiny", "tiny", "tiny");
    stack = Stack.run(folder, config);
    gateway = stack.gateway();
  }

  @AfterAll
  static void stop() throws IOException {
    stack.close();
    for (ScriptedWorker worker : List.of(first, second, late)) {
      worker.close();
    }
  }

  private static SlowStream slow() {
    return new SlowStream(10, Duration.ofMillis(150));
  }

  private static List<ConfigFolder.Worker> workers(ScriptedWorker... workers) {
    List<ConfigFolder.Worker> listed = new ArrayList<>();
    for (ScriptedWorker worker : workers) {
      listed.add(new ConfigFolder.Worker("w" + worker.port(), worker.port()));
    }
    return listed;
  }

  private static String body(int number) {
    return "{\"model\":\"tiny\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"stream number "
        + number
        + "\"}]}";
  }

  @BeforeEach
  void load() {
    load = StreamLoad.start(gateway, STREAMS, ConfigurationUnderLoadE2E::body);
    await("all streams run").atMost(PATIENCE).until(() -> load.streaming() > STREAMS / 2);
  }

  @AfterEach
  void no_stream_has_failed() throws Exception {
    load.finish();
    assertThat(load.failures().stream().limit(5)).isEmpty();
    assertThat(load.completed()).isGreaterThanOrEqualTo(STREAMS);
    for (ScriptedWorker worker : List.of(first, second, late)) {
      worker.forget();
    }
  }

  /** Requests that come after the change; the running load shows whether they fail. */
  private void awaitMoreTraffic() {
    int before = load.completed();
    await("traffic goes on").atMost(PATIENCE).until(() -> load.completed() > before + STREAMS);
  }

  @Test
  void a_new_worker_gets_traffic_at_once_and_a_removed_one_ends_its_streams() throws Exception {
    List<Duration> arrivals = new ArrayList<>();
    boolean prompt = false;
    for (int attempt = 0; attempt < ATTEMPTS && !prompt; attempt++) {
      late.forget();
      long written = System.nanoTime();
      config.workerSet("w", workers(first, second, late));
      await("traffic at the new worker")
          .atMost(PATIENCE)
          .pollInterval(Duration.ofMillis(10))
          .until(() -> !late.received().isEmpty());
      Duration arrival = Duration.ofNanos(System.nanoTime() - written);
      arrivals.add(arrival);
      prompt = arrival.compareTo(PROMPTLY) <= 0;
      awaitMoreTraffic();

      config.workerSet("w", workers(first, second));
      await("no new traffic at the removed worker")
          .atMost(PATIENCE)
          .until(() -> hasFallenSilent(late));
    }
    assertThat(prompt).as("a new worker within %s; seen: %s", PROMPTLY, arrivals).isTrue();
  }

  /** No request for the time of half a stream, while the load goes on. */
  private boolean hasFallenSilent(ScriptedWorker worker) {
    int before = worker.received().size();
    int completed = load.completed();
    await().atMost(PATIENCE).until(() -> load.completed() > completed + STREAMS);
    return worker.received().size() == before;
  }

  @Test
  void a_pool_comes_and_goes() throws Exception {
    try (ScriptedWorker other = ScriptedWorker.start("other", Scripts.vllm())) {
      String request = "{\"model\":\"other\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}";
      for (int round = 0; round < 3; round++) {
        config
            .workerSet("other", List.of(new ConfigFolder.Worker("o0", other.port())))
            .pool("other", "other", "other")
            .poolBackend("other", "other", "other");
        await("the new pool serves").atMost(PATIENCE).until(() -> status(request) == 200);

        config.delete("backend-other.yaml").delete("pool-other.yaml").delete("workers-other.yaml");
        await("the pool is gone").atMost(PATIENCE).until(() -> status(request) == 404);
      }
    }
    awaitMoreTraffic();
  }

  @Test
  void a_provider_comes_and_goes() throws Exception {
    try (ScriptedWorker provider = ScriptedWorker.start("cloud-model", Scripts.vllm())) {
      String request = "{\"model\":\"cloud\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}";
      for (int round = 0; round < 3; round++) {
        config
            .write("secrets/cloud/key", "sk-of-the-provider")
            .provider("cloud", "http://127.0.0.1:" + provider.port(), "cloud", "key")
            .providerBackend("cloud", "cloud", "cloud-model", "cloud");
        await("the provider serves").atMost(PATIENCE).until(() -> status(request) == 200);

        config.delete("backend-cloud.yaml").delete("provider-cloud.yaml");
        await("the provider is gone").atMost(PATIENCE).until(() -> status(request) == 404);
      }
      assertThat(provider.last().text()).contains("\"cloud-model\"");
    }
    awaitMoreTraffic();
  }

  private static int status(String body) throws IOException {
    return WireClient.post(gateway, "/v1/chat/completions", body).status();
  }

  @Test
  void a_broken_file_changes_nothing_and_is_named_with_its_field() throws Exception {
    config.write(
        "pool-broken.yaml",
        """
        apiVersion: inference.warmpath.dev/v1alpha1
        kind: InferencePool
        metadata: {name: broken}
        spec:
          model: broken
          workerSetz: [{name: w}]
        """);

    await("the log names file and field")
        .atMost(PATIENCE)
        .untilAsserted(() -> assertThat(stack.log()).contains("pool-broken.yaml", "workerSetz"));
    Warmpath.Result validation = Warmpath.run("validate", config.path().toString());

    assertThat(validation.exit()).as(validation.output()).isNotZero();
    assertThat(validation.output()).contains("pool-broken.yaml", "workerSetz");
    awaitMoreTraffic();
    config.delete("pool-broken.yaml");
    Warmpath.Result repaired = Warmpath.run("validate", config.path().toString());
    assertThat(repaired.exit()).as(repaired.output()).isZero();
  }

  @Test
  void a_file_that_breaks_keeps_its_last_good_version() throws Exception {
    config.write(
        "pool-tiny.yaml",
        "apiVersion: inference.warmpath.dev/v1alpha1\nkind: InferencePool\nmetadata: {na");

    await("the log names the file")
        .atMost(PATIENCE)
        .untilAsserted(() -> assertThat(stack.log()).contains("pool-tiny.yaml"));
    awaitMoreTraffic();

    config.pool("tiny", "tiny", "w");
    awaitMoreTraffic();
  }
}
