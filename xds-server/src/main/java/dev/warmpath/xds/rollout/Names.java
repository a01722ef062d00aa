package dev.warmpath.xds.rollout;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.v1alpha1.LocalRef;
import dev.warmpath.xds.model.Endpoint;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** What a processor that routes by a configuration can tell Envoy to use. */
record Names(Set<String> clusters, Set<EndpointName> endpoints) {
  static final Names NONE = new Names(Set.of(), Set.of());

  /** An address inside a cluster. */
  record EndpointName(String cluster, String hostPort) {}

  private record SetName(String namespace, String name) {}

  Names {
    clusters = Set.copyOf(clusters);
    endpoints = Set.copyOf(endpoints);
  }

  static Names of(RoutingConfiguration routing) {
    Set<String> clusters = new HashSet<>();
    Set<EndpointName> endpoints = new HashSet<>();
    Map<SetName, RoutingConfiguration.WorkerSet> sets = new HashMap<>();
    for (RoutingConfiguration.WorkerSet set : routing.workerSets()) {
      sets.put(new SetName(set.id().namespace(), set.id().name()), set);
    }
    for (RoutingConfiguration.Pool pool : routing.pools()) {
      if (pool.spec().workerSets().isEmpty()) {
        continue;
      }
      clusters.add(pool.clusterName());
      for (LocalRef reference : pool.spec().workerSets()) {
        RoutingConfiguration.WorkerSet set =
            sets.get(new SetName(pool.id().namespace(), reference.name()));
        if (set != null) {
          for (RoutingConfiguration.Worker worker : set.workers()) {
            endpoints.add(new EndpointName(pool.clusterName(), hostPort(worker)));
          }
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
