package dev.warmpath.extproc.config;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.config.RoutingConfigurationCodec;
import dev.warmpath.crds.config.proto.RoutingConfigRequest;
import dev.warmpath.crds.config.proto.RoutingConfigResponse;
import dev.warmpath.crds.config.proto.RoutingConfigServiceGrpc;
import dev.warmpath.extproc.config.ConfigurationReceiver.RefusedConfigurationException;
import dev.warmpath.extproc.serve.GrpcListeners;
import dev.warmpath.extproc.serve.UnixChannels;
import dev.warmpath.extproc.telemetry.GatewayMetrics;
import io.grpc.stub.StreamObserver;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The client against a control plane that speaks the real protocol on a real socket. */
class RoutingConfigClientTest {
  @TempDir Path folder;

  private final FakeControlPlane plane = new FakeControlPlane();
  private final BlockingQueue<RoutingConfiguration> applied = new LinkedBlockingQueue<>();
  private final ScheduledExecutorService scheduler = Executors.newSingleThreadScheduledExecutor();
  private final EventLoopGroup eventLoops =
      new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
  private @Nullable RoutingConfigClient client;

  @AfterEach
  void stop() {
    if (client != null) {
      client.close();
    }
    plane.stop();
    scheduler.shutdownNow();
    var _ = eventLoops.shutdownGracefully(0, 1, TimeUnit.SECONDS);
  }

  @Test
  void configurationIsAppliedKeptAndAcknowledged() throws Exception {
    plane.start(socket());
    ConfigurationState state = start();

    RoutingConfigRequest hello = plane.nextRequest();
    String version = plane.send(configuration("one"), "n1");
    RoutingConfigRequest ack = plane.nextRequest();

    assertThat(hello.getNodeId()).isEqualTo("node-1");
    assertThat(hello.getVersionInForce()).isEmpty();
    assertThat(ack.getVersionInForce()).isEqualTo(version);
    assertThat(ack.getResponseNonce()).isEqualTo("n1");
    assertThat(ack.getErrorDetail()).isEmpty();
    assertThat(applied.take().unavailablePolicies().getFirst().reason()).isEqualTo("one");
    assertThat(state.versionInForce()).isEqualTo(version);
    assertThat(Files.getPosixFilePermissions(file()))
        .isEqualTo(PosixFilePermissions.fromString("rw-------"));
  }

  @Test
  void refusedConfigurationIsANackThatNamesTheVersionInForce() throws Exception {
    plane.start(socket());
    start();
    plane.nextRequest();
    String good = plane.send(configuration("good"), "n1");
    plane.nextRequest();

    plane.send(configuration("refuse"), "n2");
    RoutingConfigRequest nack = plane.nextRequest();
    plane.sendRaw("{\"workerSets\": 7}".getBytes(UTF_8), "n3");
    RoutingConfigRequest malformed = plane.nextRequest();

    assertThat(nack.getErrorDetail()).contains("refused by test");
    assertThat(nack.getVersionInForce()).isEqualTo(good);
    assertThat(nack.getResponseNonce()).isEqualTo("n2");
    assertThat(malformed.getErrorDetail()).isNotEmpty();
    assertThat(malformed.getVersionInForce()).isEqualTo(good);
    assertThat(Files.readAllBytes(file()))
        .isEqualTo(RoutingConfigurationCodec.toJson(configuration("good")));
  }

  @Test
  void versionThatDoesNotFitTheBytesIsRefused() throws Exception {
    plane.start(socket());
    start();
    plane.nextRequest();

    plane.sendAs(RoutingConfigurationCodec.toJson(configuration("x")), "0000", "n1");

    assertThat(plane.nextRequest().getErrorDetail()).contains("SHA-256");
    assertThat(applied).isEmpty();
  }

  @Test
  void streamIsTakenUpAgainAfterTheControlPlaneRestarts() throws Exception {
    plane.start(socket());
    start();
    plane.nextRequest();
    String version = plane.send(configuration("one"), "n1");
    plane.nextRequest();

    plane.stop();
    plane.start(socket());
    RoutingConfigRequest hello = plane.nextRequest();
    plane.send(configuration("two"), "n2");
    RoutingConfigRequest ack = plane.nextRequest();

    assertThat(hello.getVersionInForce()).isEqualTo(version);
    assertThat(hello.getResponseNonce()).isEmpty();
    assertThat(ack.getResponseNonce()).isEqualTo("n2");
  }

  @Test
  void lastGoodConfigurationServesWhileTheControlPlaneIsAway() throws Exception {
    byte[] json = RoutingConfigurationCodec.toJson(configuration("kept"));
    new LastGoodFile(file()).write(json);

    ConfigurationState state = start();

    assertThat(applied.take().unavailablePolicies().getFirst().reason()).isEqualTo("kept");
    assertThat(state.versionInForce()).isEqualTo(version(json));
    plane.start(socket());
    assertThat(plane.nextRequest().getVersionInForce()).isEqualTo(version(json));
  }

  @Test
  void brokenLastGoodConfigurationIsPassedOver() throws Exception {
    Files.writeString(file(), "{\"half");

    ConfigurationState state = start();

    assertThat(state.versionInForce()).isEmpty();
    plane.start(socket());
    plane.nextRequest();
    plane.send(configuration("fresh"), "n1");
    plane.nextRequest();
    await().untilAsserted(() -> assertThat(state.versionInForce()).isNotEmpty());
  }

  private ConfigurationState start() {
    GatewayMetrics metrics = new GatewayMetrics();
    ConfigurationState state =
        new ConfigurationState(
            (configuration, version) -> {
              if (configuration.unavailablePolicies().getFirst().reason().equals("refuse")) {
                throw new RefusedConfigurationException(
                    "refused by test", new IllegalArgumentException());
              }
              applied.add(configuration);
            },
            new LastGoodFile(file()),
            metrics);
    state.restore();
    RoutingConfigClient started =
        new RoutingConfigClient(
            UnixChannels.open(socket(), eventLoops, 1 << 20),
            "node-1",
            "warmpath",
            state,
            scheduler,
            new Random(1),
            metrics);
    client = started;
    started.start();
    return state;
  }

  private Path socket() {
    return folder.resolve("xds.sock");
  }

  private Path file() {
    return folder.resolve("routing.json");
  }

  private static RoutingConfiguration configuration(String mark) {
    return new RoutingConfiguration(
        List.of(),
        List.of(),
        List.of(),
        List.of(),
        List.of(),
        List.of(
            new RoutingConfiguration.UnavailablePolicy(
                new RoutingConfiguration.Id("default", "p", 1), List.of(), mark)),
        List.of());
  }

  private static String version(byte[] json) throws Exception {
    return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(json));
  }

  private static final class FakeControlPlane
      extends RoutingConfigServiceGrpc.RoutingConfigServiceImplBase {
    private final BlockingQueue<RoutingConfigRequest> requests = new LinkedBlockingQueue<>();
    private volatile @Nullable StreamObserver<RoutingConfigResponse> stream;
    private @Nullable GrpcListeners listeners;

    void start(Path socket) throws IOException {
      listeners = GrpcListeners.start(socket, null, 1, 1 << 20, List.of(bindService()));
    }

    void stop() {
      if (listeners != null) {
        StreamObserver<RoutingConfigResponse> open = stream;
        if (open != null) {
          open.onCompleted();
        }
        listeners.close();
        listeners = null;
      }
    }

    RoutingConfigRequest nextRequest() throws InterruptedException {
      RoutingConfigRequest request = requests.poll(20, TimeUnit.SECONDS);
      if (request == null) {
        throw new AssertionError("no request");
      }
      return request;
    }

    String send(RoutingConfiguration configuration, String nonce) throws Exception {
      return sendRaw(RoutingConfigurationCodec.toJson(configuration), nonce);
    }

    String sendRaw(byte[] json, String nonce) throws Exception {
      String version = version(json);
      sendAs(json, version, nonce);
      return version;
    }

    void sendAs(byte[] json, String version, String nonce) {
      requireNonNull(stream)
          .onNext(
              RoutingConfigResponse.newBuilder()
                  .setVersion(version)
                  .setNonce(nonce)
                  .setConfigurationJson(ByteString.copyFrom(json))
                  .build());
    }

    @Override
    public StreamObserver<RoutingConfigRequest> streamRoutingConfig(
        StreamObserver<RoutingConfigResponse> responses) {
      stream = responses;
      return new StreamObserver<>() {
        @Override
        public void onNext(RoutingConfigRequest request) {
          requests.add(request);
        }

        @Override
        public void onError(Throwable thrown) {}

        @Override
        public void onCompleted() {}
      };
    }
  }
}
