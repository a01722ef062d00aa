package dev.warmpath.xds.status;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.resource.Resource;
import dev.warmpath.xds.serve.GatewayReport;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * How far one gateway is with one plan, in so few words that one replica of the control plane can
 * tell another.
 *
 * @param lacksAll nothing is known to be there
 * @param lacking resources in force that the gateway does not have as a whole
 * @param refusals Envoy's own words about what it refused of a resource
 */
public record Standing(
    String gateway,
    boolean lacksAll,
    Set<Resource.Key> lacking,
    Map<Resource.Key, String> refusals) {
  public Standing {
    lacking = Set.copyOf(lacking);
    refusals = Map.copyOf(refusals);
  }

  /** A gateway of this replica against the plan in force. */
  static Standing of(Map<Resource.Key, Object> wanted, GatewayReport gateway) {
    RoutingConfiguration routing = gateway.routing();
    Map<Resource.Key, Object> routed = routing == null ? Map.of() : RoutedResources.byKey(routing);
    Set<Resource.Key> lacking = new HashSet<>();
    wanted.forEach((key, part) -> {
      // Envoy has all of it, and the processor routes by it. A part that isn't connected is not
      // asked.
      boolean has =
          gateway.pending().getOrDefault(key, 0) == 0
              && (!gateway.processor() || part.equals(routed.get(key)));
      if (!has) {
        lacking.add(key);
      }
    });
    Map<Resource.Key, String> refusals = new HashMap<>();
    gateway.refusals().forEach((key, words) -> refusals.put(key, String.join("; ", words)));
    return new Standing(gateway.nodeId(), false, lacking, refusals);
  }

  /** Whether the gateway does not have what is in force of the resource. */
  public boolean lacks(Resource.Key key) {
    return lacksAll || lacking.contains(key);
  }
}
