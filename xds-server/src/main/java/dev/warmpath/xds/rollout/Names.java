package dev.warmpath.xds.rollout;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.v1alpha1.LocalRef;
import dev.warmpath.xds.model.Endpoint;
import java.util.HashSet;
import java.util.Set;

/** What a processor that routes by a configuration can tell Envoy to use. */
record Names(Set<String> clusters, Set<EndpointName> endpoints) {
  static final Names NONE = new Names(Set.of(), Set.of());

  /** An address inside a cluster. */
  record EndpointName(String cluster, String hostPort) {}

  Names {
    clusters = Set.copyOf(clusters);
    endpoints = Set.copyOf(endpoints);
  }

  static Names of(RoutingConfiguration routing) {
    Set<String> clusters = new HashSet<>();
    Set<EndpointName> endpoints = new HashSet<>();
    for (RoutingConfiguration.Pool pool : routing.pools()) {
      if (pool.spec().workerSets().isEmpty()) {
        continue;
      }
      clusters.add(pool.clusterName());
      for (LocalRef reference : pool.spec().workerSets()) {
        RoutingConfiguration.WorkerSet set =
            routing.workerSet(pool.id().namespace(), reference.name());
        if (set != null) {
          set.workers()
              .forEach(
                  worker -> endpoints.add(new EndpointName(pool.clusterName(), hostPort(worker))));
        }
      }
    }
    routing.providers().forEach(provider -> clusters.add(provider.clusterName()));
    return new Names(clusters, endpoints);
  }

  static String hostPort(RoutingConfiguration.Worker worker) {
    return new Endpoint(worker.address(), worker.port(), Endpoint.Health.HEALTHY).hostPort();
  }

  Names and(Names other) {
    Set<String> allClusters = new HashSet<>(clusters);
    allClusters.addAll(other.clusters);
    Set<EndpointName> allEndpoints = new HashSet<>(endpoints);
    allEndpoints.addAll(other.endpoints);
    return new Names(allClusters, allEndpoints);
  }
}
