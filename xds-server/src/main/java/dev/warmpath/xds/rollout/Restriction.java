package dev.warmpath.xds.rollout;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.v1alpha1.LocalRef;
import dev.warmpath.crds.v1alpha1.PoolSpec;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A routing configuration without what a gateway's Envoy does not have.
 *
 * <p>A pool that isn't there stays known and loses its workers: its models are then unavailable
 * (503), and do not silently become an unknown model or a provider's. A provider that isn't there
 * goes with its backends, which can only narrow the choice.
 */
final class Restriction {
  private Restriction() {}

  /** {@code all} is what the unrestricted configuration names. */
  static RoutingConfiguration restrict(RoutingConfiguration routing, Names all, Names usable) {
    if (usable.equals(all)) {
      return routing;
    }
    List<RoutingConfiguration.Pool> pools = new ArrayList<>();
    for (RoutingConfiguration.Pool pool : routing.pools()) {
      pools.add(usable.clusters().contains(pool.clusterName()) ? pool : withoutWorkers(pool));
    }
    Map<String, List<String>> clusters = clustersBySet(pools);
    List<RoutingConfiguration.WorkerSet> sets = new ArrayList<>();
    for (RoutingConfiguration.WorkerSet set : routing.workerSets()) {
      String name = set.id().namespace() + "/" + set.id().name();
      sets.add(withUsableWorkers(set, clusters.getOrDefault(name, List.of()), usable));
    }
    Set<String> gone = new HashSet<>();
    List<RoutingConfiguration.Provider> providers = new ArrayList<>();
    for (RoutingConfiguration.Provider provider : routing.providers()) {
      if (usable.clusters().contains(provider.clusterName())) {
        providers.add(provider);
      } else {
        gone.add(provider.id().namespace() + "/" + provider.id().name());
      }
    }
    List<RoutingConfiguration.Backend> backends =
        routing.backends().stream()
            .filter(backend ->
                backend.spec().provider() == null
                    || !gone.contains(
                        backend.id().namespace() + "/" + backend.spec().provider().name()))
            .toList();
    return new RoutingConfiguration(
        sets,
        pools,
        providers,
        backends,
        routing.policies(),
        routing.unavailablePolicies(),
        routing.tenants());
  }

  private static RoutingConfiguration.Pool withoutWorkers(RoutingConfiguration.Pool pool) {
    PoolSpec spec = pool.spec();
    return new RoutingConfiguration.Pool(
        pool.id(),
        new PoolSpec(
            spec.model(),
            List.of(),
            spec.objective(),
            spec.routing(),
            spec.limits(),
            spec.tokenizer()),
        pool.clusterName());
  }

  /** The clusters that use each worker set, by {@code namespace/name}. */
  private static Map<String, List<String>> clustersBySet(List<RoutingConfiguration.Pool> pools) {
    Map<String, List<String>> clusters = new HashMap<>();
    for (RoutingConfiguration.Pool pool : pools) {
      for (LocalRef reference : pool.spec().workerSets()) {
        clusters
            .computeIfAbsent(
                pool.id().namespace() + "/" + reference.name(), set -> new ArrayList<>())
            .add(pool.clusterName());
      }
    }
    return clusters;
  }

  private static RoutingConfiguration.WorkerSet withUsableWorkers(
      RoutingConfiguration.WorkerSet set, List<String> clusters, Names usable) {
    List<RoutingConfiguration.Worker> workers =
        set.workers().stream()
            .filter(worker ->
                clusters.stream()
                    .allMatch(cluster ->
                        usable
                            .endpoints()
                            .contains(new Names.EndpointName(cluster, Names.hostPort(worker)))))
            .toList();
    return workers.size() == set.workers().size()
        ? set
        : new RoutingConfiguration.WorkerSet(
            set.id(), set.engine(), set.metrics(), set.kvEvents(), set.profile(), workers);
  }
}
