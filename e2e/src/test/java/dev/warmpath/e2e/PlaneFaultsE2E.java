package dev.warmpath.e2e;

import static dev.warmpath.e2e.support.StreamLoad.body;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.warmpath.e2e.support.ConfigFolder;
import dev.warmpath.e2e.support.Errors;
import dev.warmpath.e2e.support.ScriptedWorker;
import dev.warmpath.e2e.support.SlowStream;
import dev.warmpath.e2e.support.Stack;
import dev.warmpath.e2e.support.StreamLoad;
import dev.warmpath.e2e.support.WireClient;
import dev.warmpath.e2e.support.WireResponse;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The processor and the control plane are killed with -9 while traffic runs. */
class PlaneFaultsE2E {

  private static final Duration PATIENCE = Duration.ofSeconds(90);
  private static final int STREAMS = 40;

  private static ScriptedWorker first;
  private static ScriptedWorker second;
  private static ConfigFolder config;
  private static Stack stack;
  private static InetSocketAddress gateway;

  @BeforeAll
  static void start(@TempDir Path folder) throws IOException {
    first = ScriptedWorker.start("tiny", new SlowStream(10, Duration.ofMillis(100)));
    second = ScriptedWorker.start("tiny", new SlowStream(10, Duration.ofMillis(100)));
    config =
        new ConfigFolder(folder.resolve("config"))
            .workerSet("w", List.of(worker(first)))
            .pool("tiny", "tiny", "w")
            .poolBackend("tiny", "tiny", "tiny");
    stack = Stack.apart(folder, config);
    gateway = stack.gateway();
  }

  @AfterAll
  static void stop() throws IOException {
    stack.close();
    first.close();
    second.close();
  }

  private static ConfigFolder.Worker worker(ScriptedWorker worker) {
    return new ConfigFolder.Worker("w" + worker.port(), worker.port());
  }

  @Test
  void running_streams_outlive_the_processor_and_it_comes_back() throws Exception {
    first.script(new SlowStream(60, Duration.ofMillis(100)));
    List<StreamLoad> running = new ArrayList<>();
    Thread streams =
        Thread.ofVirtual()
            .start(() -> {
              try {
                running.add(StreamLoad.once(gateway, STREAMS, StreamLoad::body));
              } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
              }
            });
    await("streams run").atMost(PATIENCE).until(() -> first.received().size() >= STREAMS);
    first.script(new SlowStream(10, Duration.ofMillis(100)));

    stack.processor().kill();

    for (String path : List.of("/v1/chat/completions", "/v1/messages")) {
      long asked = System.nanoTime();
      WireResponse refused = WireClient.post(gateway, path, body(0));
      Duration answered = Duration.ofNanos(System.nanoTime() - asked);
      assertThat(refused.status()).as(refused.toString()).isEqualTo(503);
      Errors.assertShape(Errors.Shape.of(path), refused);
      assertThat(answered).as("time to the refusal").isLessThan(Duration.ofSeconds(1));
    }
    streams.join();
    assertThat(running.getFirst().failures()).as("streams that ran when it was killed").isEmpty();
    assertThat(running.getFirst().completed()).isEqualTo(STREAMS);

    stack.startProcessor();
    stack.awaitReady();
    await("requests are served again, without a hand on Envoy")
        .atMost(Duration.ofSeconds(5))
        .until(() -> WireClient.post(gateway, "/v1/chat/completions", body(1)).status() == 200);
    await("leases return to none")
        .atMost(PATIENCE)
        .untilAsserted(() -> assertThat(stack.leases()).isZero());
  }

  @Test
  void traffic_outlives_the_control_plane_and_later_changes_arrive() throws Exception {
    try (StreamLoad load = StreamLoad.start(gateway, STREAMS, StreamLoad::body)) {
      await("streams run").atMost(PATIENCE).until(() -> load.completed() > STREAMS);

      stack.controlPlane().kill();
      int before = load.completed();
      await("traffic goes on")
          .atMost(PATIENCE)
          .until(() -> load.completed() > before + 2 * STREAMS);
      config.workerSet("w", List.of(worker(first), worker(second)));

      second.forget();
      stack.startControlPlane();
      await("the change made meanwhile arrives")
          .atMost(PATIENCE)
          .until(() -> !second.received().isEmpty());
      int after = load.completed();
      await("nothing was deleted by mistake")
          .atMost(PATIENCE)
          .until(() -> load.completed() > after + 2 * STREAMS);
      load.finish();
      assertThat(load.failures()).isEmpty();
    }
  }

  @Test
  void a_deletion_made_while_the_control_plane_was_away_is_noticed() throws Exception {
    config
        .workerSet("other", List.of(worker(second)))
        .pool("other", "other", "other")
        .poolBackend("other", "other", "other");
    String other = body(1).replace("\"tiny\"", "\"other\"");
    await("the other pool serves").atMost(PATIENCE).until(() -> status(other) == 200);

    stack.controlPlane().kill();
    config.delete("backend-other.yaml").delete("pool-other.yaml").delete("workers-other.yaml");
    assertThat(status(other)).as("fail static").isEqualTo(200);
    stack.startControlPlane();

    await("the other pool is gone").atMost(PATIENCE).until(() -> status(other) == 404);
    await("no zombie cluster in Envoy")
        .atMost(PATIENCE)
        .until(() -> !stack.envoyClusters().contains("pool/default/other"));
    assertThat(status(body(2))).isEqualTo(200);
  }

  @Test
  void the_processor_starts_without_the_control_plane() throws Exception {
    assertThat(status(body(1))).isEqualTo(200);

    stack.controlPlane().kill();
    stack.processor().kill();
    stack.startProcessor();

    await("served by the last good configuration")
        .atMost(PATIENCE)
        .until(() -> status(body(2)) == 200);
    stack.startControlPlane();
    config.workerSet("w", List.of(worker(first), worker(second)));
    second.forget();
    await("and followed again afterwards")
        .atMost(PATIENCE)
        .until(() -> {
          int now = (int) (System.nanoTime() & 0xffff);
          return status(body(now)) == 200 && !second.received().isEmpty();
        });
  }

  private static int status(String body) throws IOException {
    return WireClient.post(gateway, "/v1/chat/completions", body).status();
  }
}
