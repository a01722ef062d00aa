package dev.warmpath.xds.serve;

import dev.warmpath.crds.config.proto.RoutingConfigRequest;
import dev.warmpath.crds.config.proto.RoutingConfigResponse;
import dev.warmpath.crds.config.proto.RoutingConfigServiceGrpc;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import org.jspecify.annotations.Nullable;

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
    Call call = new Call(out);
    ((ServerCallStreamObserver<RoutingConfigResponse>) out).setOnCancelHandler(call::end);
    return call;
  }

  /** Hands everything to the control thread, which alone touches the fields. */
  private final class Call implements StreamObserver<RoutingConfigRequest> {
    private final StreamObserver<RoutingConfigResponse> out;
    private final RoutingStream stream;
    private @Nullable Gateway gateway;
    private boolean ended;

    Call(StreamObserver<RoutingConfigResponse> out) {
      this.out = out;
      stream = new RoutingStream(out);
    }

    @Override
    public void onNext(RoutingConfigRequest request) {
      control.run(() -> accept(request));
    }

    private void accept(RoutingConfigRequest request) {
      if (ended) {
        return;
      }
      if (gateway == null) {
        if (request.getNodeId().isEmpty()) {
          ended = true;
          out.onError(
              Status.INVALID_ARGUMENT
                  .withDescription("the first request must carry node_id")
                  .asRuntimeException());
          return;
        }
        gateway = gateways.of(request.getNodeId(), request.getNodeCluster());
        gateway.processorConnected(stream, request.getVersionInForce());
      } else {
        gateway.processorAnswered(stream, request);
      }
      gateway.evaluate();
    }

    @Override
    public void onError(Throwable t) {
      end();
    }

    @Override
    public void onCompleted() {
      end();
      control.run(out::onCompleted);
    }

    private void end() {
      control.run(() -> {
        if (!ended) {
          ended = true;
          if (gateway != null) {
            gateway.processorDisconnected(stream);
          }
        }
      });
    }
  }
}
