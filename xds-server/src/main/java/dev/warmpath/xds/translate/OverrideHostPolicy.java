package dev.warmpath.xds.translate;

import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import com.google.protobuf.UnknownFieldSet;
import dev.warmpath.crds.config.GatewayNames;
import io.envoyproxy.envoy.config.cluster.v3.LoadBalancingPolicy;
import io.envoyproxy.envoy.config.core.v3.TypedExtensionConfig;
import io.envoyproxy.envoy.extensions.load_balancing_policies.least_request.v3.LeastRequest;
import io.envoyproxy.envoy.type.metadata.v3.MetadataKey;

/**
 * The load balancing policy of pools: Envoy goes through the ordered endpoint list that the
 * processor left in metadata, one entry for each attempt, and falls back to the endpoint with the
 * fewest requests where the list is used up or absent.
 *
 * <p>The message is newer than the generated classes, so its three fields are written by number.
 */
final class OverrideHostPolicy {
  private static final String TYPE =
      "type.googleapis.com/envoy.extensions.load_balancing_policies.override_host.v3.OverrideHost";

  // OverrideHost
  private static final int OVERRIDE_HOST_SOURCES = 1;
  private static final int SELECTED_HOST_KEY = 2;
  private static final int FALLBACK_POLICY = 3;

  // OverrideHost.OverrideHostSource
  private static final int SOURCE_METADATA = 2;

  private OverrideHostPolicy() {}

  static LoadBalancingPolicy policy() {
    UnknownFieldSet source =
        UnknownFieldSet.newBuilder()
            .addField(SOURCE_METADATA, bytes(key(GatewayNames.DESTINATION_KEY)))
            .build();
    UnknownFieldSet overrideHost =
        UnknownFieldSet.newBuilder()
            .addField(OVERRIDE_HOST_SOURCES, bytes(source.toByteString()))
            .addField(SELECTED_HOST_KEY, bytes(key(GatewayNames.SERVED_KEY)))
            .addField(FALLBACK_POLICY, bytes(leastRequest()))
            .build();
    return policy(
        "envoy.load_balancing_policies.override_host",
        Any.newBuilder().setTypeUrl(TYPE).setValue(overrideHost.toByteString()).build());
  }

  private static LoadBalancingPolicy leastRequest() {
    return policy(
        "envoy.load_balancing_policies.least_request", Any.pack(LeastRequest.getDefaultInstance()));
  }

  private static LoadBalancingPolicy policy(String name, Any config) {
    return LoadBalancingPolicy.newBuilder()
        .addPolicies(
            LoadBalancingPolicy.Policy.newBuilder()
                .setTypedExtensionConfig(
                    TypedExtensionConfig.newBuilder().setName(name).setTypedConfig(config)))
        .build();
  }

  private static MetadataKey key(String name) {
    return MetadataKey.newBuilder()
        .setKey(GatewayNames.LB_NAMESPACE)
        .addPath(MetadataKey.PathSegment.newBuilder().setKey(name))
        .build();
  }

  private static UnknownFieldSet.Field bytes(Message message) {
    return bytes(message.toByteString());
  }

  private static UnknownFieldSet.Field bytes(ByteString bytes) {
    return UnknownFieldSet.Field.newBuilder().addLengthDelimited(bytes).build();
  }
}
