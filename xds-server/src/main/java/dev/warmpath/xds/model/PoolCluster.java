package dev.warmpath.xds.model;

import dev.warmpath.crds.resource.Resource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The cluster of an InferencePool and its endpoints, each address once, in order of address. */
public record PoolCluster(Resource.Key owner, String name, List<Endpoint> endpoints) {
  public PoolCluster {
    Map<String, Endpoint> once = new LinkedHashMap<>();
    endpoints.stream()
        .sorted(java.util.Comparator.comparing(Endpoint::hostPort).thenComparing(Endpoint::health))
        .forEach(endpoint -> once.putIfAbsent(endpoint.hostPort(), endpoint));
    endpoints = List.copyOf(once.values());
  }
}
