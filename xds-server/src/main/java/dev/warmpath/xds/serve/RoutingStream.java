package dev.warmpath.xds.serve;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.config.RoutingConfigurationCodec;
import dev.warmpath.crds.config.proto.RoutingConfigResponse;
import io.grpc.stub.StreamObserver;
import org.jspecify.annotations.Nullable;

/** One processor's stream. The control thread owns it. */
final class RoutingStream {
  private final StreamObserver<RoutingConfigResponse> out;
  private long nonces;
  private String sentNonce = "";
  private String sentVersion = "";

  /** A configuration as it travels. */
  record Payload(RoutingConfiguration routing, String version, ByteString json) {
    static Payload of(RoutingConfiguration routing) {
      byte[] json = RoutingConfigurationCodec.toJson(routing);
      return new Payload(
          routing, RoutingConfigurationCodec.version(json), UnsafeByteOperations.unsafeWrap(json));
    }
  }

  RoutingStream(StreamObserver<RoutingConfigResponse> out) {
    this.out = out;
  }

  void send(Payload payload) {
    nonces++;
    sentNonce = Long.toString(nonces);
    sentVersion = payload.version();
    out.onNext(
        RoutingConfigResponse.newBuilder()
            .setVersion(payload.version())
            .setNonce(sentNonce)
            .setConfigurationJson(payload.json())
            .build());
  }

  /** The version that the nonce was sent with; null for a nonce that nobody waits for. */
  @Nullable String versionOf(String nonce) {
    return !nonce.isEmpty() && nonce.equals(sentNonce) ? sentVersion : null;
  }

  void replaced() {
    out.onError(
        io.grpc.Status.ABORTED
            .withDescription("another stream of the same node took over")
            .asRuntimeException());
  }
}
