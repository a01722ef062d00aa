package dev.warmpath.xds.translate;

import org.jspecify.annotations.Nullable;

/** The resource types that the control plane serves, in the order in which they are sent. */
public enum XdsType {
  CLUSTER("type.googleapis.com/envoy.config.cluster.v3.Cluster"),
  ENDPOINT("type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment"),
  SECRET("type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret"),
  EXTENSION("type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig"),
  ROUTE("type.googleapis.com/envoy.config.route.v3.RouteConfiguration");

  private final String url;

  XdsType(String url) {
    this.url = url;
  }

  public String url() {
    return url;
  }

  public static @Nullable XdsType of(String url) {
    for (XdsType type : values()) {
      if (type.url.equals(url)) {
        return type;
      }
    }
    return null;
  }
}
