package dev.warmpath.xds.support;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.config.RoutingConfigurationCodec;
import dev.warmpath.crds.config.proto.RoutingConfigRequest;
import dev.warmpath.crds.config.proto.RoutingConfigResponse;
import dev.warmpath.crds.config.proto.RoutingConfigServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A processor that speaks the real stream. {@code check} gives the error for which a configuration
 * is refused, or null; acknowledgements can be held back.
 */
public final class FakeProcessor implements AutoCloseable {
  private final ManagedChannel channel;
  private final String nodeId;
  private final StreamObserver<RoutingConfigRequest> requests;
  private volatile Function<RoutingConfiguration, @Nullable String> check = c -> null;
  private volatile boolean silent;
  private volatile RoutingConfiguration last = RoutingConfiguration.empty();
  private final AtomicInteger received = new AtomicInteger();

  public FakeProcessor(int port, String nodeId, String versionInForce) {
    this.nodeId = nodeId;
    channel = NettyChannelBuilder.forAddress("127.0.0.1", port).usePlaintext().build();
    requests = RoutingConfigServiceGrpc.newStub(channel).streamRoutingConfig(new Responses());
    requests.onNext(
        RoutingConfigRequest.newBuilder()
            .setNodeId(nodeId)
            .setNodeCluster("gateway")
            .setVersionInForce(versionInForce)
            .build());
  }

  /** The last configuration that came, acknowledged or not; at first an empty one. */
  public RoutingConfiguration last() {
    return last;
  }

  public int received() {
    return received.get();
  }

  public void silent(boolean isSilent) {
    silent = isSilent;
  }

  public void check(Function<RoutingConfiguration, @Nullable String> newCheck) {
    check = newCheck;
  }

  @Override
  public void close() {
    channel.shutdownNow();
    try {
      if (!channel.awaitTermination(5, TimeUnit.SECONDS)) {
        throw new IllegalStateException("the channel does not end");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private final class Responses implements StreamObserver<RoutingConfigResponse> {
    private String versionInForce = "";

    @Override
    public void onNext(RoutingConfigResponse response) {
      RoutingConfiguration configuration;
      try {
        configuration =
            RoutingConfigurationCodec.fromJson(response.getConfigurationJson().toByteArray());
      } catch (RoutingConfigurationCodec.MalformedConfigurationException e) {
        throw new IllegalStateException(e);
      }
      String error = check.apply(configuration);
      if (error == null) {
        versionInForce = response.getVersion();
      }
      last = configuration;
      received.incrementAndGet();
      if (!silent) {
        requests.onNext(
            RoutingConfigRequest.newBuilder()
                .setNodeId(nodeId)
                .setNodeCluster("gateway")
                .setVersionInForce(versionInForce)
                .setResponseNonce(response.getNonce())
                .setErrorDetail(error == null ? "" : error)
                .build());
      }
    }

    @Override
    public void onError(Throwable t) {}

    @Override
    public void onCompleted() {}
  }
}
