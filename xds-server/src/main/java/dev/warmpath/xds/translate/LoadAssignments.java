package dev.warmpath.xds.translate;

import dev.warmpath.xds.model.Endpoint;
import dev.warmpath.xds.model.PoolCluster;
import io.envoyproxy.envoy.config.core.v3.Address;
import io.envoyproxy.envoy.config.core.v3.HealthStatus;
import io.envoyproxy.envoy.config.core.v3.SocketAddress;
import io.envoyproxy.envoy.config.endpoint.v3.ClusterLoadAssignment;
import io.envoyproxy.envoy.config.endpoint.v3.LbEndpoint;
import io.envoyproxy.envoy.config.endpoint.v3.LocalityLbEndpoints;
import java.util.stream.Collectors;

/** The workers of a pool as an EDS resource. */
final class LoadAssignments {
  private LoadAssignments() {}

  static XdsResource translate(PoolCluster pool) {
    ClusterLoadAssignment.Builder assignment =
        ClusterLoadAssignment.newBuilder().setClusterName(pool.name());
    if (!pool.endpoints().isEmpty()) {
      LocalityLbEndpoints.Builder all = LocalityLbEndpoints.newBuilder();
      pool.endpoints().forEach(endpoint -> all.addLbEndpoints(lbEndpoint(endpoint)));
      assignment.addEndpoints(all);
    }
    return XdsResource.of(XdsType.ENDPOINT, pool.name(), assignment.build(), pool.owner())
        .withEndpoints(
            pool.endpoints().stream().map(Endpoint::hostPort).collect(Collectors.toSet()));
  }

  private static LbEndpoint lbEndpoint(Endpoint endpoint) {
    return LbEndpoint.newBuilder()
        .setEndpoint(
            io.envoyproxy.envoy.config.endpoint.v3.Endpoint.newBuilder()
                .setAddress(address(endpoint.address(), endpoint.port())))
        .setHealthStatus(
            switch (endpoint.health()) {
              case HEALTHY -> HealthStatus.HEALTHY;
              case UNHEALTHY -> HealthStatus.UNHEALTHY;
              case DRAINING -> HealthStatus.DRAINING;
            })
        .build();
  }

  static Address address(String host, int port) {
    return Address.newBuilder()
        .setSocketAddress(SocketAddress.newBuilder().setAddress(host).setPortValue(port))
        .build();
  }
}
