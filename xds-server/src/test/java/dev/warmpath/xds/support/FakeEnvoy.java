package dev.warmpath.xds.support;

import dev.warmpath.xds.translate.XdsType;
import io.envoyproxy.envoy.config.core.v3.Node;
import io.envoyproxy.envoy.service.discovery.v3.AggregatedDiscoveryServiceGrpc;
import io.envoyproxy.envoy.service.discovery.v3.DeltaDiscoveryRequest;
import io.envoyproxy.envoy.service.discovery.v3.DeltaDiscoveryResponse;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/**
 * An Envoy as the delta protocol shows it: asks for all clusters, then for the endpoints of each
 * cluster that comes, and acknowledges everything. For many of them, and for looking at the wire.
 */
public final class FakeEnvoy implements AutoCloseable {
  private final ManagedChannel channel;
  private final Node node;
  private final StreamObserver<DeltaDiscoveryRequest> requests;
  private final List<DeltaDiscoveryResponse> responses = new CopyOnWriteArrayList<>();
  private final Set<String> clusters = new ConcurrentSkipListSet<>();
  private final Set<String> assignments = new ConcurrentSkipListSet<>();

  public FakeEnvoy(int port, String nodeId) {
    node = Node.newBuilder().setId(nodeId).setCluster("gateway").build();
    channel =
        NettyChannelBuilder.forAddress("127.0.0.1", port)
            .usePlaintext()
            .maxInboundMessageSize(64 << 20)
            .build();
    requests =
        AggregatedDiscoveryServiceGrpc.newStub(channel).deltaAggregatedResources(new Responses());
    send(request(XdsType.CLUSTER));
  }

  public List<DeltaDiscoveryResponse> responses() {
    return responses;
  }

  public Set<String> clusters() {
    return clusters;
  }

  public Set<String> assignments() {
    return assignments;
  }

  /** Sends what an Envoy might, for example a type that nobody serves. */
  public void send(DeltaDiscoveryRequest.Builder request) {
    synchronized (requests) {
      requests.onNext(request.setNode(node).build());
    }
  }

  private static DeltaDiscoveryRequest.Builder request(XdsType type) {
    return DeltaDiscoveryRequest.newBuilder().setTypeUrl(type.url());
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

  private final class Responses implements StreamObserver<DeltaDiscoveryResponse> {
    @Override
    public void onNext(DeltaDiscoveryResponse response) {
      responses.add(response);
      List<String> names = new ArrayList<>();
      response.getResourcesList().forEach(resource -> names.add(resource.getName()));
      boolean areClusters = response.getTypeUrl().equals(XdsType.CLUSTER.url());
      Set<String> has = areClusters ? clusters : assignments;
      names.removeAll(has);
      has.addAll(names);
      response.getRemovedResourcesList().forEach(has::remove);
      send(
          DeltaDiscoveryRequest.newBuilder()
              .setTypeUrl(response.getTypeUrl())
              .setResponseNonce(response.getNonce()));
      if (areClusters) {
        send(
            request(XdsType.ENDPOINT)
                .addAllResourceNamesSubscribe(names)
                .addAllResourceNamesUnsubscribe(response.getRemovedResourcesList()));
      }
    }

    @Override
    public void onError(Throwable t) {}

    @Override
    public void onCompleted() {}
  }
}
