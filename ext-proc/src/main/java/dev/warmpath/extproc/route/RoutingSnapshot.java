package dev.warmpath.extproc.route;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.extproc.candidate.ServedPool;
import dev.warmpath.extproc.candidate.ServedProvider;
import dev.warmpath.extproc.candidate.ServedWorker;
import dev.warmpath.extproc.candidate.WorkerId;
import dev.warmpath.extproc.policy.PolicySnapshot;
import dev.warmpath.extproc.tenant.TenantDirectory;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * A routing configuration, compiled once for look-ups. Immutable; a request reads one snapshot from
 * start to end. What is learnt of workers lives outside, keyed by their identity.
 */
public record RoutingSnapshot(
    String version,
    RoutingConfiguration configuration,
    TenantDirectory tenants,
    PolicySnapshot policies,
    List<ServedWorker> workers,
    Map<String, ServedPool> pools,
    Map<String, ServedProvider> providers,
    OperatorRoutes routes) {

  public RoutingSnapshot {
    workers = List.copyOf(workers);
    pools = Map.copyOf(pools);
    providers = Map.copyOf(providers);
  }

  /**
   * Compiles a configuration that the control plane has validated.
   *
   * @param wallClock what policies see as now
   * @param ordinals gives each worker identity its number
   */
  public static RoutingSnapshot compile(
      RoutingConfiguration configuration,
      String version,
      InstantSource wallClock,
      ToIntFunction<WorkerId> ordinals) {
    Map<String, List<ServedWorker>> bySet = new HashMap<>();
    List<ServedWorker> workers = new ArrayList<>();
    for (RoutingConfiguration.WorkerSet set : configuration.workerSets()) {
      List<ServedWorker> ofSet = new ArrayList<>();
      for (RoutingConfiguration.Worker worker : set.workers()) {
        WorkerId id =
            new WorkerId(set.id().namespace(), set.id().name(), worker.name(), worker.epoch());
        ofSet.add(
            new ServedWorker(
                id,
                ordinals.applyAsInt(id),
                endpoint(worker.address(), worker.port()),
                worker.state(),
                set.engine(),
                set.profile()));
      }
      workers.addAll(ofSet);
      bySet.put(set.id().namespace() + "/" + set.id().name(), ofSet);
    }
    Map<String, ServedPool> pools = new HashMap<>();
    for (RoutingConfiguration.Pool pool : configuration.pools()) {
      List<ServedWorker> members = new ArrayList<>();
      pool.spec()
          .workerSets()
          .forEach(ref ->
              members.addAll(
                  bySet.getOrDefault(pool.id().namespace() + "/" + ref.name(), List.of())));
      pools.put(
          pool.clusterName(), new ServedPool(pool.id(), pool.spec(), pool.clusterName(), members));
    }
    Map<String, ServedProvider> providers = new HashMap<>();
    configuration
        .providers()
        .forEach(p ->
            providers.put(p.clusterName(), new ServedProvider(p.id(), p.spec(), p.clusterName())));
    return new RoutingSnapshot(
        version,
        configuration,
        TenantDirectory.compile(configuration),
        PolicySnapshot.compile(configuration, wallClock),
        workers,
        pools,
        providers,
        OperatorRoutes.compile(configuration));
  }

  private static String endpoint(String address, int port) {
    return address.indexOf(':') >= 0 && !address.startsWith("[")
        ? "[" + address + "]:" + port
        : address + ":" + port;
  }

  /** Whether this is a configuration at all, and not the nothing that a processor starts with. */
  public boolean isInForce() {
    return !version.isEmpty();
  }

  /** The pool with that Envoy cluster name, or null. */
  public @Nullable ServedPool pool(String clusterName) {
    return pools.get(clusterName);
  }

  /** The provider with that Envoy cluster name, or null. */
  public @Nullable ServedProvider provider(String clusterName) {
    return providers.get(clusterName);
  }
}
