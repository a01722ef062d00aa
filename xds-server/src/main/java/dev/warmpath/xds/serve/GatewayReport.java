package dev.warmpath.xds.serve;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.resource.Resource;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How far one gateway is with what is desired.
 *
 * @param envoys connected Envoys
 * @param pending number of Envoy resources of each owner that are not acknowledged
 * @param refusals Envoy's own words about resources that it refused
 * @param routing what the processor has acknowledged, or null
 * @param processorRefusal why the processor refused the last configuration, or null
 */
public record GatewayReport(
    String nodeId,
    String nodeCluster,
    int envoys,
    boolean processor,
    Map<Resource.Key, Integer> pending,
    Map<Resource.Key, List<String>> refusals,
    @Nullable RoutingConfiguration routing,
    @Nullable String processorRefusal) {
  public boolean isConnected() {
    return envoys > 0 || processor;
  }
}
