package dev.warmpath.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.warmpath.e2e.support.ConfigFolder;
import dev.warmpath.e2e.support.Errors;
import dev.warmpath.e2e.support.ManagedProcess;
import dev.warmpath.e2e.support.Ports;
import dev.warmpath.e2e.support.Repository;
import dev.warmpath.e2e.support.ScriptedWorker;
import dev.warmpath.e2e.support.Scripts;
import dev.warmpath.e2e.support.Warmpath;
import dev.warmpath.e2e.support.WireClient;
import dev.warmpath.e2e.support.WireResponse;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code bin/warmpath run} serves a folder, and leaves nothing behind when it is stopped. */
class RunE2E {

  private static final Duration PATIENCE = Duration.ofMinutes(2);

  @TempDir private Path folder;
  private ScriptedWorker worker;
  private ConfigFolder config;
  private final InetSocketAddress gateway =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), Ports.free());

  @BeforeEach
  void one_worker() throws IOException {
    worker = ScriptedWorker.start("tiny", Scripts.vllm());
    config =
        new ConfigFolder(folder.resolve("config"))
            .workerSet("w", List.of(new ConfigFolder.Worker("w0", worker.port())))
            .pool("tiny", "tiny", "w")
            .poolBackend("tiny", "tiny", "tiny");
  }

  @AfterEach
  void stop() throws IOException {
    worker.close();
  }

  private ManagedProcess start(Path runFolder) throws IOException {
    return ManagedProcess.start(
        "run",
        folder,
        Warmpath.environment(),
        List.of(
            Repository.root().resolve("bin/warmpath").toString(),
            "run",
            "--config",
            config.path().toString(),
            "--port",
            Integer.toString(gateway.getPort()),
            "--admin",
            "127.0.0.1:0",
            "--run-dir",
            runFolder.toString()));
  }

  private void awaitServing(ManagedProcess process) {
    await("the gateway serves")
        .atMost(PATIENCE)
        .until(() -> {
          assertThat(process.isAlive()).as(process.tail()).isTrue();
          return serves();
        });
  }

  private boolean serves() {
    try {
      return ask("/v1/chat/completions").status() == 200;
    } catch (IOException notYet) {
      return false;
    }
  }

  private WireResponse ask(String path) throws IOException {
    return WireClient.post(
        gateway,
        path,
        "{\"model\":\"tiny\",\"max_tokens\":8,\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}");
  }

  /** One look at a gateway that starts: what it says of itself, and then what it does. */
  private boolean healthyAndAsGoodAsItsWord() {
    try {
      boolean healthy = WireClient.get(gateway, "/health").status() == 200;
      assertThat(WireClient.get(gateway, "/v1/models"))
          .satisfiesAnyOf(
              models -> assertThat(models.text()).contains("\"tiny\""),
              models -> assertThatItSaysTryAgain(healthy, "/v1/models", models));
      for (String path : List.of("/v1/chat/completions", "/v1/messages")) {
        assertThat(ask(path))
            .satisfiesAnyOf(
                answer -> assertThat(answer.status()).as(answer.toString()).isEqualTo(200),
                answer -> assertThatItSaysTryAgain(healthy, path, answer));
      }
      return healthy;
    } catch (IOException notYet) {
      return false;
    }
  }

  private static void assertThatItSaysTryAgain(boolean healthy, String path, WireResponse answer) {
    assertThat(healthy).as("it said that it is healthy, and answered: " + answer).isFalse();
    assertThat(answer.status()).as(answer.toString()).isEqualTo(503);
    assertThat(answer.header("retry-after")).as(answer.toString()).isNotBlank();
    Errors.assertShape(Errors.Shape.of(path), answer);
  }

  @Test
  void nobody_is_turned_away_for_good_while_it_starts() throws Exception {
    try (ManagedProcess process = start(Files.createTempDirectory("wp"))) {
      await("healthy")
          .atMost(PATIENCE)
          .pollDelay(Duration.ZERO)
          .pollInterval(Duration.ofMillis(5))
          .until(() -> {
            assertThat(process.isAlive()).as(process.tail()).isTrue();
            return healthyAndAsGoodAsItsWord();
          });
    }
  }

  @ParameterizedTest(name = "SIG{0}")
  @ValueSource(strings = {"INT", "TERM"})
  void it_stops_without_leaving_processes_or_sockets(String signal) throws Exception {
    Path runFolder = Files.createTempDirectory("wp");
    try (ManagedProcess process = start(runFolder)) {
      awaitServing(process);
      List<ProcessHandle> family = process.family();
      assertThat(family).as("the command and Envoy").hasSizeGreaterThan(1);

      process.signal(signal);

      int exit = process.waitForExit(PATIENCE);
      assertThat(exit).as(process.tail()).isIn(0, 130, 143);
      await("no orphan")
          .atMost(PATIENCE)
          .untilAsserted(() -> assertThat(family).noneMatch(ProcessHandle::isAlive));
      assertThat(sockets(runFolder)).as("left in the run folder").isEmpty();
      assertThatNobodyListens();
    }
  }

  @Test
  void envoy_does_not_outlive_a_killed_command() throws Exception {
    Path runFolder = Files.createTempDirectory("wp");
    try (ManagedProcess process = start(runFolder)) {
      awaitServing(process);
      List<ProcessHandle> family = process.family();

      process.kill();

      await("no orphan")
          .atMost(PATIENCE)
          .untilAsserted(() -> assertThat(family).noneMatch(ProcessHandle::isAlive));
    }
    // What a killed run has left in its folder does not keep the next one from starting.
    try (ManagedProcess process = start(runFolder)) {
      awaitServing(process);
    }
  }

  @Test
  void a_taken_port_is_named() throws Exception {
    try (ServerSocket taken =
        new ServerSocket(gateway.getPort(), 1, InetAddress.getLoopbackAddress())) {
      Warmpath.Result result =
          Warmpath.run(
              "run",
              "--config",
              config.path().toString(),
              "--port",
              Integer.toString(taken.getLocalPort()),
              "--run-dir",
              Files.createTempDirectory("wp").toString());

      assertThat(result.exit()).as(result.output()).isNotZero();
      assertThat(result.output()).contains(Integer.toString(taken.getLocalPort()));
    }
  }

  @Test
  void a_folder_that_is_not_there_is_named() throws Exception {
    Warmpath.Result result = Warmpath.run("run", "--config", folder.resolve("absent").toString());

    assertThat(result.exit()).as(result.output()).isNotZero();
    assertThat(result.output()).contains("absent").doesNotContain("\tat ");
  }

  private static List<Path> sockets(Path runFolder) throws IOException {
    if (!Files.exists(runFolder)) {
      return List.of();
    }
    try (Stream<Path> files = Files.walk(runFolder)) {
      return files.filter(file -> file.toString().endsWith(".sock")).toList();
    }
  }

  private void assertThatNobodyListens() throws IOException {
    try (ServerSocket free =
        new ServerSocket(gateway.getPort(), 1, InetAddress.getLoopbackAddress())) {
      assertThat(free.isBound()).isTrue();
    }
  }
}
