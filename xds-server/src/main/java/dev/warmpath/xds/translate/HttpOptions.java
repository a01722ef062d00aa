package dev.warmpath.xds.translate;

import com.google.protobuf.Any;
import com.google.protobuf.Duration;
import io.envoyproxy.envoy.config.core.v3.Http1ProtocolOptions;
import io.envoyproxy.envoy.config.core.v3.Http2ProtocolOptions;
import io.envoyproxy.envoy.config.core.v3.HttpProtocolOptions;
import io.envoyproxy.envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter;
import java.util.List;

/** How a cluster speaks HTTP, and the filters of its attempts. */
final class HttpOptions {
  static final String EXTENSION = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";

  private HttpOptions() {}

  static Any http1(Duration idle, List<HttpFilter> filters) {
    var options = options(idle, filters);
    options
        .getExplicitHttpConfigBuilder()
        .setHttpProtocolOptions(Http1ProtocolOptions.getDefaultInstance());
    return Any.pack(options.build());
  }

  /** HTTP/2 where the upstream agrees to it in the TLS handshake, else HTTP/1.1. */
  static Any negotiated(Duration idle, List<HttpFilter> filters) {
    var options = options(idle, filters);
    options
        .getAutoConfigBuilder()
        .setHttpProtocolOptions(Http1ProtocolOptions.getDefaultInstance())
        .setHttp2ProtocolOptions(Http2ProtocolOptions.getDefaultInstance());
    return Any.pack(options.build());
  }

  private static io.envoyproxy.envoy.extensions.upstreams.http.v3.HttpProtocolOptions.Builder
      options(Duration idle, List<HttpFilter> filters) {
    return io.envoyproxy.envoy.extensions.upstreams.http.v3.HttpProtocolOptions.newBuilder()
        .setCommonHttpProtocolOptions(HttpProtocolOptions.newBuilder().setIdleTimeout(idle))
        .addAllHttpFilters(filters);
  }
}
