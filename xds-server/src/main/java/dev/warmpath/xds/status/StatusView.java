package dev.warmpath.xds.status;

import dev.warmpath.xds.plan.Plan;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What one replica of the control plane knows at one time.
 *
 * @param gateways the gateways that are connected to this replica
 */
public record StatusView(Plan plan, List<Standing> gateways) {
  public StatusView {
    gateways = List.copyOf(gateways);
  }

  /** The standing of every resource, with the gateways of other replicas counted too. */
  public List<ResourceStatus> report(List<Standing> elsewhere) {
    Set<String> here = new HashSet<>();
    gateways.forEach(gateway -> here.add(gateway.gateway()));
    List<Standing> all = new ArrayList<>(gateways);
    // One that has just moved here may still be told of by the replica that it left.
    elsewhere.stream().filter(other -> here.add(other.gateway())).forEach(all::add);
    return StatusReport.ofStandings(plan, all);
  }
}
