package dev.warmpath.xds.status;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.config.RoutingConfiguration.Worker;
import dev.warmpath.crds.resource.Kind;
import dev.warmpath.crds.resource.Resource;
import dev.warmpath.crds.v1alpha1.BackendSpec;
import dev.warmpath.crds.v1alpha1.LocalRef;
import dev.warmpath.xds.status.ResourceStatus.Facts;
import java.util.HashMap;
import java.util.Map;

/** The parts of a routing configuration by the resource that each comes from. */
final class RoutedResources {
  private RoutedResources() {}

  static Map<Resource.Key, Object> byKey(RoutingConfiguration routing) {
    Map<Resource.Key, Object> parts = new HashMap<>();
    routing.workerSets().forEach(part -> parts.put(key(Kind.WORKER_SET, part.id()), part));
    routing.pools().forEach(part -> parts.put(key(Kind.POOL, part.id()), part));
    routing.providers().forEach(part -> parts.put(key(Kind.PROVIDER, part.id()), part));
    routing.backends().forEach(part -> parts.put(key(Kind.BACKEND, part.id()), part));
    routing.policies().forEach(part -> parts.put(key(Kind.POLICY, part.id()), part));
    routing.tenants().forEach(part -> parts.put(key(Kind.TENANT, part.id()), part));
    return parts;
  }

  /** What can be counted of each part. */
  static Map<Resource.Key, Facts> facts(RoutingConfiguration routing) {
    Map<Resource.Key, Facts> facts = new HashMap<>();
    for (RoutingConfiguration.WorkerSet set : routing.workerSets()) {
      long ready =
          set.workers().stream().filter(worker -> worker.state() == Worker.State.READY).count();
      facts.put(key(Kind.WORKER_SET, set.id()), Facts.ofWorkers(set.workers().size(), (int) ready));
    }
    for (RoutingConfiguration.Pool pool : routing.pools()) {
      int workers = 0;
      int ready = 0;
      for (LocalRef set : pool.spec().workerSets()) {
        Facts found =
            facts.get(new Resource.Key(Kind.WORKER_SET, pool.id().namespace(), set.name()));
        if (found != null && found.workers() != null && found.ready() != null) {
          workers += found.workers();
          ready += found.ready();
        }
      }
      facts.put(key(Kind.POOL, pool.id()), Facts.ofWorkers(workers, ready));
    }
    for (RoutingConfiguration.Backend backend : routing.backends()) {
      BackendSpec spec = backend.spec();
      String target =
          spec.pool() != null
              ? "pool/" + spec.pool().name()
              : spec.provider() != null ? "provider/" + spec.provider().name() : null;
      facts.put(
          key(Kind.BACKEND, backend.id()),
          new Facts(null, null, spec.models().size(), target, null));
    }
    for (RoutingConfiguration.Tenant tenant : routing.tenants()) {
      facts.put(
          key(Kind.TENANT, tenant.id()),
          new Facts(null, null, null, null, tenant.apiKeySha256().size()));
    }
    return facts;
  }

  private static Resource.Key key(Kind kind, RoutingConfiguration.Id id) {
    return new Resource.Key(kind, id.namespace(), id.name());
  }
}
