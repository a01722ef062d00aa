package dev.warmpath.xds.status;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.resource.Kind;
import dev.warmpath.crds.resource.Resource;
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

  private static Resource.Key key(Kind kind, RoutingConfiguration.Id id) {
    return new Resource.Key(kind, id.namespace(), id.name());
  }
}
