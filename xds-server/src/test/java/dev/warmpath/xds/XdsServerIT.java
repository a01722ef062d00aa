package dev.warmpath.xds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.warmpath.xds.rollout.RolloutTimes;
import dev.warmpath.xds.support.FakeProcessor;
import dev.warmpath.xds.support.RealEnvoy;
import dev.warmpath.xds.support.Upstream;
import dev.warmpath.xds.support.Yaml;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The whole control plane with a real Envoy. */
class XdsServerIT {
  private static final RolloutTimes QUICK =
      new RolloutTimes(
          Duration.ofSeconds(1),
          Duration.ofSeconds(2),
          Duration.ofSeconds(4),
          Duration.ofMillis(300));
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  @TempDir Path folder;
  private Path config;
  private Path socket;

  @BeforeEach
  void prepare() throws IOException {
    config = Files.createDirectory(folder.resolve("config"));
    socket = folder.resolve("ads.sock");
  }

  private XdsServer server() throws Exception {
    return XdsServer.start(
        XdsServerOptions.standalone(config, socket)
            .withListen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .withTimes(QUICK));
  }

  private void write(String file, String text) throws IOException {
    Path temporary = folder.resolve(file + ".new");
    Files.writeString(temporary, text);
    Files.move(
        temporary,
        config.resolve(file),
        java.nio.file.StandardCopyOption.REPLACE_EXISTING,
        java.nio.file.StandardCopyOption.ATOMIC_MOVE);
  }

  @Test
  void aPoolFileIsServedAndARemovedOneIsNot() throws Exception {
    try (Upstream worker = new Upstream("w");
        XdsServer server = server()) {
      write("qwen.yaml", Yaml.served("qwen", worker.hostPort()));
      try (RealEnvoy envoy = RealEnvoy.start(folder, "gw-1", socket);
          FakeProcessor processor = new FakeProcessor(server.port(), "gw-1", "")) {
        await()
            .atMost(PATIENCE)
            .untilAsserted(() -> {
              assertThat(envoy.clusters()).containsExactly("pool/default/qwen");
              assertThat(processor.last()).isNotNull();
              assertThat(processor.last().pools()).hasSize(1);
            });
        var answer =
            envoy.post(
                "/v1/chat/completions",
                "{}",
                "x-test-plan",
                "pool/default/qwen",
                "x-test-destination",
                worker.hostPort());
        assertThat(answer.statusCode()).as("%s%n%s", answer.body(), envoy.log()).isEqualTo(200);
        assertThat(answer.body()).isEqualTo("w");

        Files.delete(config.resolve("qwen.yaml"));

        await()
            .atMost(PATIENCE)
            .untilAsserted(() -> {
              assertThat(processor.last().pools()).isEmpty();
              assertThat(envoy.clusters()).isEmpty();
            });
      }
    }
  }
}
