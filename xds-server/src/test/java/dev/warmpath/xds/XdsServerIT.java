package dev.warmpath.xds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.warmpath.xds.rollout.RolloutTimes;
import dev.warmpath.xds.status.ResourceStatus;
import dev.warmpath.xds.support.FakeProcessor;
import dev.warmpath.xds.support.RealEnvoy;
import dev.warmpath.xds.support.TestCertificates;
import dev.warmpath.xds.support.Upstream;
import dev.warmpath.xds.support.Yaml;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
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
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final String A = "pool/default/a";
  private static final String B = "pool/default/b";
  private static final String QWEN = "pool/default/qwen";
  private static final String P = "provider/default/p";
  private static final String CLAUDE = "provider/default/claude";

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

  private void secret(String path, String value) throws IOException {
    Path file = config.resolve("secrets").resolve(path);
    Files.createDirectories(file.getParent());
    Files.writeString(file, value);
  }

  @Test
  void aPoolFileIsServedAndARemovedOneIsNot() throws Exception {
    try (Upstream worker = new Upstream("worker");
        XdsServer server = server()) {
      write("qwen.yaml", Yaml.served("qwen", worker.hostPort()));
      try (RealEnvoy envoy = RealEnvoy.start(folder, "gw-1", socket);
          FakeProcessor processor = new FakeProcessor(server.port(), "gw-1", "")) {
        eventually(() -> {
          assertThat(envoy.clusters()).containsExactly(QWEN);
          assertThat(processor.last().pools()).hasSize(1);
        });
        assertThat(ask(envoy, QWEN, worker.hostPort())).isEqualTo("200 worker");
        eventually(() ->
            assertThat(server.resources())
                .allSatisfy(resource ->
                    assertThat(resource.conditions())
                        .allSatisfy(condition ->
                            assertThat(condition.status())
                                .as("%s", resource)
                                .isEqualTo(ResourceStatus.Value.True))));

        Files.delete(config.resolve("qwen.yaml"));

        eventually(() -> {
          assertThat(processor.last().pools()).isEmpty();
          assertThat(envoy.clusters()).isEmpty();
        });
      }
    }
  }

  @Test
  void aRestartNeverEmptiesEnvoyAndRemovesWhatWasDeletedMeanwhile() throws Exception {
    write("a.yaml", Yaml.served("a", "127.0.0.1:1"));
    write("b.yaml", Yaml.served("b", "127.0.0.1:2"));
    XdsServer first = server();
    try (RealEnvoy envoy = RealEnvoy.start(folder, "gw-1", socket)) {
      try (FakeProcessor processor = new FakeProcessor(first.port(), "gw-1", "")) {
        eventually(() -> {
          assertThat(envoy.clusters()).containsExactly(A, B);
          assertThat(processor.last().pools()).hasSize(2);
        });
      }
      long removed = envoy.stat("cluster_manager.cluster_removed");
      first.close();
      Files.delete(config.resolve("b.yaml"));

      try (XdsServer second = server();
          FakeProcessor processor = new FakeProcessor(second.port(), "gw-1", "before")) {
        eventually(() -> {
          assertThat(processor.last().pools()).hasSize(1);
          assertThat(envoy.clusters()).containsExactly(A);
        });
        assertThat(envoy.stat("cluster_manager.cluster_removed") - removed).isEqualTo(1);
        assertThat(envoy.stat("cluster_manager.cluster_added")).isEqualTo(3);
      }
    } finally {
      first.close();
    }
  }

  @Test
  void aResourceThatEnvoyRefusesHindersNoOther() throws Exception {
    write("a.yaml", Yaml.served("a", "127.0.0.1:1"));
    write("bad.yaml", Yaml.provider("bad", "OpenAI", "https://localhost:1"));
    secret("bad/key", "sk-1");
    secret("bad/ca", "this is no certificate");
    write("good.yaml", Yaml.provider("good", "OpenAI", "https://localhost:1"));
    secret("good/key", "sk-2");
    secret("good/ca", TestCertificates.create(folder).authority());
    try (XdsServer server = server();
        RealEnvoy envoy = RealEnvoy.start(folder, "gw-1", socket);
        FakeProcessor processor = new FakeProcessor(server.port(), "gw-1", "")) {
      eventually(() -> {
        assertThat(envoy.clusters()).contains(A, "provider/default/good");
        assertThat(processor.last().pools()).hasSize(1);
        assertThat(processor.last().providers())
            .singleElement()
            .satisfies(provider -> assertThat(provider.id().name()).isEqualTo("good"));
        assertThat(server.resources())
            .filteredOn(resource -> resource.key().name().equals("bad"))
            .singleElement()
            .satisfies(resource -> {
              assertThat(resource.refusals()).isNotEmpty();
              assertThat(resource.condition("Programmed").status())
                  .isEqualTo(ResourceStatus.Value.False);
              assertThat(resource.condition("Programmed").reason()).isEqualTo("Refused");
            });
      });

      write("c.yaml", Yaml.served("c", "127.0.0.1:3"));
      eventually(() -> assertThat(envoy.clusters()).contains("pool/default/c"));

      secret(
          "bad/ca",
          TestCertificates.create(Files.createDirectory(folder.resolve("2"))).authority());
      eventually(() -> assertThat(processor.last().providers()).hasSize(2));
    }
  }

  @Test
  void manyChangesInARowConverge() throws Exception {
    try (XdsServer server = server();
        RealEnvoy envoy = RealEnvoy.start(folder, "gw-1", socket);
        FakeProcessor processor = new FakeProcessor(server.port(), "gw-1", "")) {
      for (int i = 1; i <= 200; i++) {
        write("a.yaml", Yaml.served("a", "127.0.0.1:" + i, "127.0.0.1:" + (i + 1)));
        if (i % 3 == 0) {
          write("b.yaml", Yaml.served("b" + i % 7, "127.0.0.1:" + i));
        } else {
          Files.deleteIfExists(config.resolve("b.yaml"));
        }
        if (i % 10 == 0) {
          int port = i;
          // Lets a change get through now and then, so that there is something to overtake.
          await()
              .atMost(PATIENCE)
              .until(() -> processor.last().workerSets().toString().contains("port=" + port + ","));
        }
      }
      eventually(() -> {
        assertThat(envoy.clusters()).containsExactly(A);
        assertThat(envoy.hosts(A))
            .containsExactly("127.0.0.1:200 HEALTHY", "127.0.0.1:201 HEALTHY");
        assertThat(processor.last().pools()).hasSize(1);
        assertThat(processor.last().workerSets().getFirst().workers()).hasSize(2);
      });
      assertThat(envoy.stat("cluster_manager.cds.update_rejected")).isZero();
    }
  }

  @Test
  void aRunningAnswerOutlivesItsPool() throws Exception {
    CountDownLatch rest = new CountDownLatch(1);
    write("a.yaml", Yaml.served("a", "127.0.0.1:1"));
    try (Upstream worker = new Upstream("worker");
        XdsServer server = server()) {
      worker.stopAfterFirstByteUntil(rest);
      write("qwen.yaml", Yaml.served("qwen", worker.hostPort()));
      try (RealEnvoy envoy = RealEnvoy.start(folder, "gw-1", socket);
          FakeProcessor processor = new FakeProcessor(server.port(), "gw-1", "")) {
        eventually(() -> assertThat(processor.last().pools()).hasSize(2));
        CompletableFuture<String> running =
            CompletableFuture.supplyAsync(() -> ask(envoy, QWEN, worker.hostPort()));
        eventually(() -> assertThat(worker.received()).hasSize(1));

        write("qwen.yaml", Yaml.served("qwen", "127.0.0.1:1"));
        eventually(() -> assertThat(envoy.hosts(QWEN)).containsExactly("127.0.0.1:1 HEALTHY"));
        Files.delete(config.resolve("qwen.yaml"));
        eventually(() -> assertThat(envoy.clusters()).containsExactly(A));
        assertThat(running).isNotDone();
        rest.countDown();

        assertThat(running.get(30, TimeUnit.SECONDS)).isEqualTo("200 worker");
      }
    }
  }

  @Test
  void anAttemptAtAProviderLeavesNothingForTheNext() throws Exception {
    TestCertificates certificates = TestCertificates.create(folder);
    try (Upstream worker = new Upstream("worker");
        Upstream provider = new Upstream("provider", certificates.serverContext());
        Upstream anthropic = new Upstream("anthropic", certificates.serverContext());
        XdsServer server = server()) {
      secret("p/key", "sk-provider\n");
      secret("p/ca", certificates.authority());
      secret("claude/key", "sk-claude");
      secret("claude/ca", certificates.authority());
      write("qwen.yaml", Yaml.served("qwen", worker.hostPort()));
      write(
          "p.yaml",
          Yaml.provider("p", "OpenAI", "https://localhost:" + provider.port() + "/api/v1/"));
      write(
          "claude.yaml",
          Yaml.provider("claude", "Anthropic", "https://localhost:" + anthropic.port()));
      write(
          "stranger.yaml",
          Yaml.provider("stranger", "OpenAI", "https://127.0.0.1:" + provider.port()));
      secret("stranger/key", "sk-stranger");
      secret("stranger/ca", certificates.authority());
      try (RealEnvoy envoy = RealEnvoy.start(folder, "gw-1", socket);
          FakeProcessor processor = new FakeProcessor(server.port(), "gw-1", "")) {
        eventually(() -> {
          assertThat(processor.last().pools()).hasSize(1);
          assertThat(processor.last().providers()).hasSize(3);
          assertThat(envoy.clusters()).contains(P, CLAUDE);
        });
        provider.answerWith(503);
        anthropic.answerWith(503);
        String text = "x".repeat(300_000);
        String body = "{\"model\": \"first\", \"text\": \"" + text + "\"}";

        var answer =
            envoy.post(
                "/v1/chat/completions?q=1",
                body,
                "x-test-plan",
                P + "," + CLAUDE + "," + QWEN,
                "x-test-models",
                QWEN + "=qwen," + CLAUDE + "=claude-long-name",
                "x-test-model-start",
                "10",
                "x-test-model-end",
                "17",
                "authorization",
                "Bearer of-the-client",
                "x-api-key",
                "of-the-client",
                "cookie",
                "of-the-client");

        assertThat(answer.statusCode()).as("%s%n%s", answer.body(), envoy.log()).isEqualTo(200);
        assertThat(answer.body()).isEqualTo("worker");

        Upstream.Received first = provider.received().getFirst();
        assertThat(first.path()).isEqualTo("/api/v1/chat/completions?q=1");
        assertThat(first.headers())
            .containsEntry("host", "localhost:" + provider.port())
            .containsEntry("authorization", "Bearer sk-provider")
            .doesNotContainKeys("x-api-key", "cookie", "x-forwarded-for", "x-forwarded-proto");
        assertThat(first.headers().toString())
            .doesNotContain("of-the-client")
            .doesNotContain("x-envoy");
        assertThat(first.body()).isEqualTo(body);

        Upstream.Received second = anthropic.received().getFirst();
        assertThat(second.path()).isEqualTo("/v1/chat/completions?q=1");
        assertThat(second.headers())
            .containsEntry("host", "localhost:" + anthropic.port())
            .containsEntry("x-api-key", "sk-claude")
            .doesNotContainKeys("authorization", "cookie");
        assertThat(second.body()).isEqualTo(body.replace("\"first\"", "\"claude-long-name\""));

        Upstream.Received third = worker.received().getFirst();
        assertThat(third.path()).isEqualTo("/v1/chat/completions?q=1");
        assertThat(third.headers())
            .containsEntry("host", envoy.listener().getAuthority())
            .doesNotContainKeys("authorization", "x-api-key", "cookie");
        assertThat(third.headers().toString()).doesNotContain("sk-");
        assertThat(third.body()).isEqualTo(body.replace("\"first\"", "\"qwen\""));

        int before = provider.received().size();
        assertThat(ask(envoy, "provider/default/stranger", ""))
            .as("a certificate for another name")
            .startsWith("503");
        assertThat(provider.received()).hasSize(before);

        String pages = page(server, "/resources") + page(server, "/metrics");
        assertThat(pages)
            .contains("\"name\":\"stranger\"", "warmpath_xds_acks_total")
            .doesNotContain("sk-", "BEGIN CERTIFICATE");
        assertThat(page(server, "/readyz")).isEqualTo("200 ok\n");

        provider.answerWith(200);
        secret("p/key", "sk-rotated");
        eventually(() -> {
          assertThat(ask(envoy, P, "")).isEqualTo("200 provider");
          assertThat(provider.received().getLast().headers())
              .containsEntry("authorization", "Bearer sk-rotated");
        });
      }
    }
  }

  private static void eventually(org.awaitility.core.ThrowingRunnable assertion) {
    await().atMost(PATIENCE).pollInterval(Duration.ofMillis(100)).untilAsserted(assertion);
  }

  private static String page(XdsServer server, String path) throws Exception {
    try (HttpClient client = HttpClient.newHttpClient()) {
      HttpResponse<String> answer =
          client.send(
              HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.adminPort() + path))
                  .build(),
              HttpResponse.BodyHandlers.ofString());
      return answer.statusCode() + " " + answer.body();
    }
  }

  private static String ask(RealEnvoy envoy, String cluster, String destination) {
    var answer =
        envoy.post(
            "/v1/chat/completions",
            "{}",
            "x-test-plan",
            cluster,
            "x-test-destination",
            destination.isEmpty() ? "none" : destination);
    return answer.statusCode() + " " + answer.body();
  }
}
