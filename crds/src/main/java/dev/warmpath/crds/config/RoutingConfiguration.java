package dev.warmpath.crds.config;

import dev.warmpath.crds.v1alpha1.BackendSpec;
import dev.warmpath.crds.v1alpha1.PolicySpec;
import dev.warmpath.crds.v1alpha1.PoolSpec;
import dev.warmpath.crds.v1alpha1.ProviderSpec;
import dev.warmpath.crds.v1alpha1.TenantSpec;
import dev.warmpath.crds.v1alpha1.WorkerSetSpec;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Everything the external processor routes by, as one immutable value. The control plane has
 * validated it; every reference in it resolves. Names are unique inside a kind and carry their
 * namespace.
 */
public record RoutingConfiguration(
    List<WorkerSet> workerSets,
    List<Pool> pools,
    List<Provider> providers,
    List<Backend> backends,
    List<Policy> policies,
    List<UnavailablePolicy> unavailablePolicies,
    List<Tenant> tenants) {

  /** Namespace and name of a resource, and the generation that is in force. */
  public record Id(String namespace, String name, long generation) {}

  /** A worker set with its resolved workers. */
  public record WorkerSet(
      Id id,
      WorkerSetSpec.Engine engine,
      WorkerSetSpec.Metrics metrics,
      WorkerSetSpec.KvEvents kvEvents,
      WorkerSetSpec.Profile profile,
      List<Worker> workers) {}

  /**
   * One engine process. {@code address} is an IP literal; {@code epoch} differs after a restart
   * where the source can tell (Pod UID and restart count), else it is empty.
   */
  public record Worker(String name, String address, int port, String epoch, State state) {
    public enum State {
      READY,
      NOT_READY,
      DRAINING
    }
  }

  /**
   * {@code clusterName} is the Envoy cluster; it is acknowledged by Envoy before this value names
   * it.
   */
  public record Pool(Id id, PoolSpec spec, String clusterName) {}

  public record Provider(Id id, ProviderSpec spec, String clusterName) {}

  public record Backend(Id id, BackendSpec spec) {}

  public record Policy(Id id, PolicySpec spec) {}

  /**
   * A policy that never was valid and has constraints: the models it could match fail closed.
   *
   * @param models the globs of its match; empty means every model
   */
  public record UnavailablePolicy(Id id, List<String> models, String reason) {}

  /**
   * {@code apiKeySha256} holds lower-case hex digests of the keys' UTF-8 bytes; the keys never
   * travel.
   */
  public record Tenant(Id id, TenantSpec spec, List<String> apiKeySha256) {}

  /** An empty configuration: nothing is served. */
  public static RoutingConfiguration empty() {
    return new RoutingConfiguration(
        List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), List.of());
  }

  /** The worker set of that name in that namespace, or null. */
  public @Nullable WorkerSet workerSet(String namespace, String name) {
    for (WorkerSet set : workerSets) {
      if (set.id().namespace().equals(namespace) && set.id().name().equals(name)) {
        return set;
      }
    }
    return null;
  }
}
