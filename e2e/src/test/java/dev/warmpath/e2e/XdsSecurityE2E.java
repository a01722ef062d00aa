package dev.warmpath.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.warmpath.crds.config.proto.RoutingConfigRequest;
import dev.warmpath.crds.config.proto.RoutingConfigResponse;
import dev.warmpath.crds.config.proto.RoutingConfigServiceGrpc;
import dev.warmpath.crds.transport.TokenFile;
import dev.warmpath.e2e.support.ConfigFolder;
import dev.warmpath.e2e.support.Ports;
import dev.warmpath.e2e.support.ScriptedWorker;
import dev.warmpath.e2e.support.SlowStream;
import dev.warmpath.e2e.support.StreamLoad;
import dev.warmpath.e2e.support.TestAuthority;
import dev.warmpath.e2e.support.TestAuthority.KeyForm;
import dev.warmpath.e2e.support.WireClient;
import dev.warmpath.envoy.Address;
import dev.warmpath.envoy.BootstrapOptions;
import dev.warmpath.envoy.EnvoyBinary;
import dev.warmpath.envoy.EnvoyProcess;
import dev.warmpath.envoy.XdsSecurity;
import dev.warmpath.extproc.ExtProcOptions;
import dev.warmpath.extproc.ExtProcServer;
import dev.warmpath.extproc.serve.ControlPlaneChannels;
import dev.warmpath.extproc.serve.UnixChannels;
import dev.warmpath.xds.XdsServer;
import dev.warmpath.xds.XdsServerOptions;
import dev.warmpath.xds.serve.ServerSecurity;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The control plane's TCP port: who may connect, and that certificates and tokens can be replaced.
 */
class XdsSecurityE2E {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final String TOKEN = "first-token-0123456789";
  private static final String NODE = "gateway-1";

  @TempDir private Path folder;

  private final TestAuthority authority = new TestAuthority("Test CA");
  private final EventLoopGroup loops = UnixChannels.clientLoops();
  private Path runFolder;
  private ConfigFolder config;
  private Path ca;
  private Path serverCertificate;
  private Path serverKey;
  private Path certificate;
  private Path key;
  private Path tokens;
  private Path token;

  @BeforeEach
  void writeFiles() throws IOException {
    runFolder = Files.createTempDirectory("wp");
    config = new ConfigFolder(folder.resolve("config"));
    Path server = Files.createDirectory(folder.resolve("server"));
    Path gateway = Files.createDirectory(folder.resolve("gateway"));
    ca = TestAuthority.put(folder.resolve("ca.crt"), authority.certificate());
    serverCertificate = server.resolve("tls.crt");
    serverKey = server.resolve("tls.key");
    certificate = gateway.resolve("tls.crt");
    key = gateway.resolve("tls.key");
    authority.issue("control plane", "localhost", "127.0.0.1").write(serverCertificate, serverKey);
    authority.issue(NODE).write(certificate, key);
    tokens = TestAuthority.put(server.resolve("tokens"), TOKEN + "\n");
    token = TestAuthority.put(gateway.resolve("token"), TOKEN);
  }

  @AfterEach
  void stopLoops() {
    loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(2, TimeUnit.SECONDS);
  }

  private XdsServer controlPlane(int port, ServerSecurity security) throws IOException {
    return XdsServer.start(
        XdsServerOptions.standalone(config.path(), runFolder.resolve("xds.sock"))
            .withListen(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
            .withSecurity(security));
  }

  private ServerSecurity mutualTls() {
    return new ServerSecurity(serverCertificate, serverKey, ca, null);
  }

  private ControlPlaneChannels.Security gatewaySide() {
    return new ControlPlaneChannels.Security(ca, certificate, key, null, null);
  }

  private static ScriptedWorker worker() throws IOException {
    return ScriptedWorker.start("tiny", new SlowStream(10, Duration.ofMillis(100)));
  }

  private void serve(ScriptedWorker... workers) throws IOException {
    config
        .workerSet(
            "w",
            List.of(workers).stream()
                .map(w -> new ConfigFolder.Worker("w" + w.port(), w.port()))
                .toList())
        .pool("tiny", "tiny", "w")
        .poolBackend("tiny", "tiny", "tiny");
  }

  private static String body(int number) {
    return """
    {"model":"tiny","stream":true,"messages":[{"role":"user","content":"stream number %d"}]}\
    """
        .formatted(number);
  }

  /** What a stream of the routing configuration gets: a version, or the status that ends it. */
  private String ask(int port, ControlPlaneChannels.Security security) throws Exception {
    ManagedChannel channel = ControlPlaneChannels.open("localhost", port, security, loops, 1 << 20);
    try {
      CompletableFuture<String> outcome = new CompletableFuture<>();
      StreamObserver<RoutingConfigRequest> requests =
          RoutingConfigServiceGrpc.newStub(channel)
              .streamRoutingConfig(
                  new StreamObserver<>() {
                    @Override
                    public void onNext(RoutingConfigResponse response) {
                      outcome.complete("served");
                    }

                    @Override
                    public void onError(Throwable thrown) {
                      Throwable root = thrown;
                      while (root.getCause() != null) {
                        root = root.getCause();
                      }
                      outcome.complete(
                          Status.fromThrowable(thrown).getCode()
                              + " "
                              + Status.fromThrowable(thrown).getDescription()
                              + " "
                              + root.getMessage());
                    }

                    @Override
                    public void onCompleted() {
                      outcome.complete("ended");
                    }
                  });
      requests.onNext(RoutingConfigRequest.newBuilder().setNodeId("asker").build());
      return outcome.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    } finally {
      channel.shutdownNow();
    }
  }

  private BootstrapOptions bootstrap(int port, @Nullable Path shown) {
    return BootstrapOptions.local(NODE, new Address.Tcp("127.0.0.1", Ports.free()), runFolder)
        .withXds(new Address.Tcp("127.0.0.1", port))
        .withXdsSecurity(new XdsSecurity(ca, certificate, key, shown, null, runFolder));
  }

  private EnvoyProcess envoy(BootstrapOptions options) throws Exception {
    return EnvoyProcess.start(
        new EnvoyProcess.Options(EnvoyBinary.find(), options, runFolder, 1, "warning"), PATIENCE);
  }

  private ExtProcServer processor(int port, ControlPlaneChannels.Security security)
      throws IOException {
    return ExtProcServer.start(
        ExtProcOptions.defaults(runFolder, NODE, BootstrapOptions.DEFAULT_CLUSTER)
            .withControlPlane(new ExtProcOptions.ControlPlane.Tcp("localhost", port, security)));
  }

  private static void awaitServing(InetSocketAddress gateway, ExtProcServer processor) {
    await("gateway serves")
        .atMost(PATIENCE)
        .until(() ->
            processor.ready()
                && WireClient.post(gateway, "/v1/chat/completions", body(0)).status() == 200);
  }

  @Test
  void aWholeGatewayRunsOverMutualTlsAndATokenWhileAllOfThemAreReplaced() throws Exception {
    int port = Ports.free();
    ServerSecurity security = new ServerSecurity(serverCertificate, serverKey, ca, tokens);
    ControlPlaneChannels.Security shown =
        new ControlPlaneChannels.Security(ca, certificate, key, token, null);
    try (ScriptedWorker first = worker();
        ScriptedWorker second = worker();
        XdsServer before = controlPlane(port, security);
        ExtProcServer processor = processor(port, shown);
        EnvoyProcess envoy = envoy(bootstrap(port, token))) {
      serve(first);
      InetSocketAddress gateway =
          new InetSocketAddress(InetAddress.getLoopbackAddress(), envoy.port());
      awaitServing(gateway, processor);
      long connections = envoy.admin().stat("cluster.warmpath_xds.upstream_cx_total");

      try (StreamLoad load = StreamLoad.start(gateway, 20, XdsSecurityE2E::body)) {
        // Everything new, of a new authority: first both are trusted, then only the new one.
        TestAuthority next = new TestAuthority("Next CA");
        TestAuthority.put(ca, authority.certificate() + next.certificate());
        next.issue("control plane", KeyForm.PKCS1_RSA, Duration.ofDays(1), "localhost", "127.0.0.1")
            .write(serverCertificate, serverKey);
        next.issue(NODE, KeyForm.SEC1_EC, Duration.ofDays(1)).write(certificate, key);
        TestAuthority.put(tokens, TOKEN + "\nsecond-token-0123456789\n");
        TestAuthority.put(token, "second-token-0123456789");
        TestAuthority.put(ca, next.certificate());
        TestAuthority.put(tokens, "second-token-0123456789\n");

        // The streams that run carry the next change.
        serve(first, second);
        await("traffic at the new worker")
            .atMost(PATIENCE)
            .until(() -> second.received().size() > 20);
        assertThat(envoy.admin().stat("cluster.warmpath_xds.upstream_cx_total"))
            .as("connections to the control plane")
            .isEqualTo(connections);

        // New connections go by the new files, at both ends.
        end(before);
        serve(second);
        try (XdsServer after = controlPlane(port, security)) {
          await("both have come back with the new certificate and token")
              .atMost(PATIENCE)
              .untilAsserted(() ->
                  assertThat(after.resources())
                      .isNotEmpty()
                      .allSatisfy(resource ->
                          assertThat(resource.conditions().toString())
                              .contains("Programmed")
                              .doesNotContain("Pending", "NoGateway")));
          int seen = first.received().size();
          int completed = load.completed();
          await().atMost(PATIENCE).until(() -> load.completed() > completed + 40);
          assertThat(first.received().size() - seen).as("the removed worker").isLessThan(20);
          assertThat(load.finish().failures()).isEmpty();
        }
      }
    }
  }

  @Test
  void refusalsSayWhy() throws Exception {
    TestAuthority stranger = new TestAuthority("Stranger CA");
    Path other = Files.createDirectory(folder.resolve("other"));
    Path strangerCa = TestAuthority.put(other.resolve("ca.crt"), stranger.certificate());
    Path wrongCertificate = other.resolve("wrong.crt");
    Path wrongKey = other.resolve("wrong.key");
    stranger.issue(NODE).write(wrongCertificate, wrongKey);
    Path oldCertificate = other.resolve("old.crt");
    Path oldKey = other.resolve("old.key");
    authority.issue(NODE, KeyForm.PKCS8_RSA, Duration.ofMinutes(1)).write(oldCertificate, oldKey);
    Path wrongToken = TestAuthority.put(other.resolve("token"), "wrong-token-0123456789");

    try (XdsServer tls = controlPlane(0, mutualTls())) {
      int port = tls.port();
      assertThat(ask(port, gatewaySide())).isEqualTo("served");
      assertThat(
              ask(
                  port,
                  new ControlPlaneChannels.Security(strangerCa, certificate, key, null, null)))
          .as("a control plane of another authority")
          .startsWith("UNAVAILABLE")
          .contains("unable to find valid certification path");
      assertThat(
              ask(
                  port,
                  new ControlPlaneChannels.Security(ca, certificate, key, null, "xds.example")))
          .as("a control plane of another name")
          .contains("No subject alternative DNS name matching xds.example");
      assertThat(
              ask(
                  port,
                  new ControlPlaneChannels.Security(ca, wrongCertificate, wrongKey, null, null)))
          .as("a gateway of another authority")
          .startsWith("UNAVAILABLE")
          .doesNotContain("served");
      assertThat(
              ask(port, new ControlPlaneChannels.Security(ca, oldCertificate, oldKey, null, null)))
          .as("a gateway whose certificate has ended")
          .startsWith("UNAVAILABLE");
      assertThat(ask(port, new ControlPlaneChannels.Security(ca, null, null, null, null)))
          .as("a gateway without a certificate")
          .startsWith("UNAVAILABLE");
      assertThat(ask(port, ControlPlaneChannels.Security.none()))
          .as("plain text")
          .startsWith("UNAVAILABLE");
      assertThat(metrics(tls)).contains("warmpath_xds_turned_away_total{by=\"certificate\"} 2.0");
    }
    ServerSecurity tokensOnly = new ServerSecurity(serverCertificate, serverKey, null, tokens);
    try (XdsServer server = controlPlane(0, tokensOnly)) {
      int port = server.port();
      assertThat(ask(port, new ControlPlaneChannels.Security(ca, null, null, token, null)))
          .isEqualTo("served");
      assertThat(ask(port, new ControlPlaneChannels.Security(ca, null, null, wrongToken, null)))
          .startsWith("UNAUTHENTICATED the token is not one of the token file");
      assertThat(ask(port, new ControlPlaneChannels.Security(ca, null, null, null, null)))
          .startsWith("UNAUTHENTICATED no token was shown");
      assertThat(metrics(server)).contains("warmpath_xds_turned_away_total{by=\"token\"} 2.0");
    }
    authority
        .issue("control plane", KeyForm.PKCS8_EC, Duration.ofMinutes(1), "localhost")
        .write(serverCertificate, serverKey);
    try (XdsServer server = controlPlane(0, mutualTls())) {
      assertThat(ask(server.port(), gatewaySide()))
          .as("a control plane whose certificate has ended")
          .startsWith("UNAVAILABLE")
          .contains("NotAfter");
    }
  }

  /** Ends it early; its block ends it again. */
  private static void end(XdsServer server) {
    server.close();
  }

  private static String metrics(XdsServer server) throws IOException {
    return WireClient.get(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), server.adminPort()), "/metrics")
        .text();
  }

  @Test
  void envoyIsRefusedAndTrustsNobodyElse() throws Exception {
    TestAuthority stranger = new TestAuthority("Stranger CA");
    stranger.issue(NODE).write(certificate, key);
    int port = Ports.free();
    try (XdsServer server = controlPlane(port, mutualTls());
        EnvoyProcess envoy = envoy(bootstrap(port, null))) {
      await("Envoy has been refused")
          .atMost(PATIENCE)
          .until(() -> metrics(server).contains("turned_away_total{by=\"certificate\"}"));
      assertThat(envoy.admin().stat("control_plane.connected_state")).isZero();

      authority.issue(NODE).write(certificate, key);
      await("Envoy takes the right certificate without a restart")
          .atMost(PATIENCE)
          .until(() -> envoy.admin().stat("control_plane.connected_state") == 1);

      end(server);
      stranger.issue("control plane", "127.0.0.1").write(serverCertificate, serverKey);
      try (XdsServer impostor = controlPlane(port, mutualTls())) {
        await("Envoy has refused")
            .atMost(PATIENCE)
            .until(() -> envoy.admin().stat("cluster.warmpath_xds.ssl.fail_verify_error") > 0);
        assertThat(envoy.admin().stat("control_plane.connected_state")).isZero();
        assertThat(impostor.isReady()).isTrue();
      }
    }
  }

  @ParameterizedTest
  @EnumSource(KeyForm.class)
  void everyFormOfAKeyIsRead(KeyForm form) throws Exception {
    authority
        .issue("control plane", form, Duration.ofDays(1), "localhost")
        .write(serverCertificate, serverKey);
    try (XdsServer server = controlPlane(0, mutualTls())) {
      assertThat(ask(server.port(), gatewaySide())).isEqualTo("served");
    }
  }

  @Test
  void filesThatAreOfNoUseAreNamedAtTheStartAndPassedOverLater() throws Exception {
    Path missing = folder.resolve("missing.crt");
    assertThatThrownBy(() -> controlPlane(0, new ServerSecurity(missing, serverKey, ca, null)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("missing.crt: there is no such file");
    assertThatThrownBy(() -> controlPlane(0, new ServerSecurity(serverCertificate, key, ca, null)))
        .hasMessageContaining("the key is not the certificate's");
    TestAuthority.put(tokens, "short\n");
    assertThatThrownBy(() -> TokenFile.of(tokens))
        .hasMessageContaining("tokens: line 1")
        .hasMessageNotContaining("short");
    TestAuthority.put(tokens, TOKEN + "\n");

    try (XdsServer server = controlPlane(0, mutualTls())) {
      TestAuthority.put(serverCertificate, "-----BEGIN NOTHING-----");
      assertThat(ask(server.port(), gatewaySide())).isEqualTo("served");
      Files.delete(ca);
      TestAuthority.put(folder.resolve("copy.crt"), authority.certificate());
      assertThat(
              ask(
                  server.port(),
                  new ControlPlaneChannels.Security(
                      folder.resolve("copy.crt"), certificate, key, null, null)))
          .isEqualTo("served");
    }
  }
}
