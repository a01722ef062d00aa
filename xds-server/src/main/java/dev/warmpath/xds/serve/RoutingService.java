package dev.warmpath.xds.serve;

import dev.warmpath.crds.config.proto.RoutingConfigRequest;
import dev.warmpath.crds.config.proto.RoutingConfigResponse;
import dev.warmpath.crds.config.proto.RoutingConfigServiceGrpc;
import io.grpc.stub.StreamObserver;

/** The routing configuration's stream. */
final class RoutingService extends RoutingConfigServiceGrpc.RoutingConfigServiceImplBase {
  private final ControlThread control;
  private final Gateways gateways;

  RoutingService(ControlThread control, Gateways gateways) {
    this.control = control;
    this.gateways = gateways;
  }

  @Override
  public StreamObserver<RoutingConfigRequest> streamRoutingConfig(
      StreamObserver<RoutingConfigResponse> out) {
    return new Call(out).started();
  }

  private final class Call
      extends GatewayCall<RoutingConfigRequest, RoutingConfigResponse, RoutingStream> {
    Call(StreamObserver<RoutingConfigResponse> out) {
      super(control, out, "node_id", RoutingConfigRequest::getNodeId);
    }

    @Override
    Gateway gateway(RoutingConfigRequest first) {
      return gateways.of(first.getNodeId(), first.getNodeCluster());
    }

    @Override
    RoutingStream connected(
        Gateway to, StreamObserver<RoutingConfigResponse> answers, RoutingConfigRequest first) {
      RoutingStream stream = new RoutingStream(answers);
      to.processorConnected(stream, first.getVersionInForce());
      return stream;
    }

    @Override
    void received(Gateway from, RoutingStream stream, RoutingConfigRequest message, boolean first) {
      if (!first) {
        from.processorAnswered(stream, message);
      }
    }

    @Override
    void disconnected(Gateway from, RoutingStream stream) {
      from.processorDisconnected(stream);
    }
  }
}
