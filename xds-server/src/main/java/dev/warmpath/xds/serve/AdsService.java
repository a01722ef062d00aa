package dev.warmpath.xds.serve;

import io.envoyproxy.envoy.service.discovery.v3.AggregatedDiscoveryServiceGrpc;
import io.envoyproxy.envoy.service.discovery.v3.DeltaDiscoveryRequest;
import io.envoyproxy.envoy.service.discovery.v3.DeltaDiscoveryResponse;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import org.jspecify.annotations.Nullable;

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
    Call call = new Call(out);
    ((ServerCallStreamObserver<DeltaDiscoveryResponse>) out).setOnCancelHandler(call::end);
    return call;
  }

  /** Hands everything to the control thread, which alone touches the fields. */
  private final class Call implements StreamObserver<DeltaDiscoveryRequest> {
    private final StreamObserver<DeltaDiscoveryResponse> out;
    private @Nullable Gateway gateway;
    private @Nullable AdsStream stream;
    private boolean ended;

    Call(StreamObserver<DeltaDiscoveryResponse> out) {
      this.out = out;
    }

    @Override
    public void onNext(DeltaDiscoveryRequest request) {
      control.run(() -> accept(request));
    }

    private void accept(DeltaDiscoveryRequest request) {
      if (ended) {
        return;
      }
      if (gateway == null || stream == null) {
        String node = request.getNode().getId();
        if (node.isEmpty()) {
          ended = true;
          out.onError(
              Status.INVALID_ARGUMENT
                  .withDescription("the first request must carry node.id")
                  .asRuntimeException());
          return;
        }
        gateway = gateways.of(node, request.getNode().getCluster());
        stream = gateway.envoyConnected(out);
      }
      stream.onRequest(request);
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
          if (gateway != null && stream != null) {
            gateway.envoyDisconnected(stream);
          }
        }
      });
    }
  }
}
