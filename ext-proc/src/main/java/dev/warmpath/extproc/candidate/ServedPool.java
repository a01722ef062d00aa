package dev.warmpath.extproc.candidate;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.v1alpha1.PoolSpec;
import java.util.List;

/** A pool with all of its workers; only those that are ready can be chosen. */
public record ServedPool(
    RoutingConfiguration.Id id, PoolSpec spec, String clusterName, List<ServedWorker> workers) {

  public ServedPool {
    workers = List.copyOf(workers);
  }

  /** The name under which the workers serve the model. */
  public String model() {
    return spec.model();
  }
}
