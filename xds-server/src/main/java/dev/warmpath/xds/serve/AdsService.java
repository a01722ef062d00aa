package dev.warmpath.xds.serve;

import io.envoyproxy.envoy.service.discovery.v3.AggregatedDiscoveryServiceGrpc;
import io.envoyproxy.envoy.service.discovery.v3.DeltaDiscoveryRequest;
import io.envoyproxy.envoy.service.discovery.v3.DeltaDiscoveryResponse;
import io.grpc.stub.StreamObserver;

/**
 * Delta ADS. The state-of-the-world variant is not served: one changed worker would resend
 * everything.
 */
final class AdsService extends AggregatedDiscoveryServiceGrpc.AggregatedDiscoveryServiceImplBase {
  private final ControlThread control;
  private final Gateways gateways;

  AdsService(ControlThread control, Gateways gateways) {
    this.control = control;
    this.gateways = gateways;
  }

  @Override
  public StreamObserver<DeltaDiscoveryRequest> deltaAggregatedResources(
      StreamObserver<DeltaDiscoveryResponse> out) {
    return new Call(out).started();
  }

  private final class Call
      extends GatewayCall<DeltaDiscoveryRequest, DeltaDiscoveryResponse, AdsStream> {
    Call(StreamObserver<DeltaDiscoveryResponse> out) {
      super(control, out, "node.id", request -> request.getNode().getId());
    }

    @Override
    Gateway gateway(DeltaDiscoveryRequest first) {
      return gateways.of(first.getNode().getId(), first.getNode().getCluster());
    }

    @Override
    AdsStream connected(
        Gateway to, StreamObserver<DeltaDiscoveryResponse> answers, DeltaDiscoveryRequest first) {
      return to.envoyConnected(answers);
    }

    @Override
    void received(Gateway from, AdsStream stream, DeltaDiscoveryRequest message, boolean first) {
      stream.onRequest(message);
    }

    @Override
    void disconnected(Gateway from, AdsStream stream) {
      from.envoyDisconnected(stream);
    }
  }
}
