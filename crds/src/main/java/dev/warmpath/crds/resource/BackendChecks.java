package dev.warmpath.crds.resource;

import dev.warmpath.crds.v1alpha1.BackendSpec;
import dev.warmpath.crds.v1alpha1.LocalRef;
import dev.warmpath.crds.v1alpha1.PoolSpec;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Backends: their targets, and that what they serve together is unambiguous. */
final class BackendChecks {
  private final Findings findings;

  BackendChecks(Findings findings) {
    this.findings = findings;
  }

  void run() {
    Set<Resource.Key> usedPools = new HashSet<>();
    for (Resource<BackendSpec> backend : findings.resources().backends()) {
      checkTarget(backend, usedPools);
      findings.distinct(backend, "spec.models", backend.spec().models(), "", "model");
      checkHosts(backend);
    }
    for (Resource<PoolSpec> pool : findings.resources().pools()) {
      if (!usedPools.contains(pool.key())) {
        findings.warning(
            pool, "metadata.name", Reason.UnusedResource, "no GatewayBackend uses this pool");
      }
    }
    checkSameTarget();
    checkNamespaces();
    checkRoutes();
  }

  private void checkTarget(Resource<BackendSpec> backend, Set<Resource.Key> usedPools) {
    LocalRef pool = backend.spec().pool();
    if (pool != null) {
      usedPools.add(new Resource.Key(Kind.POOL, backend.namespace(), pool.name()));
      findings.reference(
          backend, "spec.pool.name", Kind.POOL, pool.name(), Reason.ReferenceNotFound);
    }
    BackendSpec.ProviderTarget provider = backend.spec().provider();
    if (provider != null) {
      findings.reference(
          backend, "spec.provider.name", Kind.PROVIDER, provider.name(), Reason.ReferenceNotFound);
    }
  }

  private void checkHosts(Resource<BackendSpec> backend) {
    List<BackendSpec.Route> routes = backend.spec().routes();
    for (int r = 0; r < routes.size(); r++) {
      List<String> hosts = routes.get(r).hosts();
      for (int h = 0; h < hosts.size(); h++) {
        String host = hosts.get(h);
        String name = host.startsWith("*.") ? host.substring(2) : host;
        if (!Hosts.isHostName(name) && !Hosts.isIpLiteral(host)) {
          findings.error(
              backend,
              FieldPath.item(FieldPath.item("spec.routes", r) + ".hosts", h),
              Reason.InvalidAddress,
              "must be a host name such as llm.example.com or *.example.com, got \"" + host + "\"");
        }
      }
    }
  }

  /** Two ways to one target under one name would differ in labels and prices only by chance. */
  private void checkSameTarget() {
    record Way(String namespace, String model, String target) {}
    Map<Way, String> first = new HashMap<>();
    for (Resource<BackendSpec> backend : findings.backendsByClaim()) {
      BackendSpec spec = backend.spec();
      String target;
      if (spec.pool() != null) {
        target = "pool " + spec.pool().name();
      } else if (spec.provider() != null) {
        target = "provider " + spec.provider().name() + " model " + spec.provider().model();
      } else {
        continue;
      }
      Set<String> own = new HashSet<>();
      for (int i = 0; i < spec.models().size(); i++) {
        String model = spec.models().get(i);
        if (!own.add(model)) {
          continue;
        }
        String other =
            first.putIfAbsent(new Way(backend.namespace(), model, target), backend.name());
        if (other != null) {
          findings.error(
              backend,
              FieldPath.item("spec.models", i),
              Reason.AliasClash,
              "GatewayBackend " + other + " already sends " + model + " to " + target);
        }
      }
    }
  }

  /** Clients see one list of names, so that a name of two namespaces mixes their targets. */
  private void checkNamespaces() {
    Map<String, Resource<BackendSpec>> first = new HashMap<>();
    for (Resource<BackendSpec> backend : findings.resources().backends()) {
      for (int i = 0; i < backend.spec().models().size(); i++) {
        String model = backend.spec().models().get(i);
        Resource<BackendSpec> other = first.putIfAbsent(model, backend);
        if (other != null && !other.namespace().equals(backend.namespace())) {
          findings.warning(
              backend,
              FieldPath.item("spec.models", i),
              Reason.AliasClash,
              "GatewayBackend "
                  + other.name()
                  + " of namespace "
                  + other.namespace()
                  + " also serves "
                  + model
                  + ": requests may go to either");
        }
      }
    }
  }

  private void checkRoutes() {
    record Prefix(String host, String path) {}
    Map<Prefix, Resource<BackendSpec>> first = new HashMap<>();
    for (Resource<BackendSpec> backend : findings.backendsByClaim()) {
      List<BackendSpec.Route> routes = backend.spec().routes();
      for (int i = 0; i < routes.size(); i++) {
        List<String> hosts = routes.get(i).hosts();
        String prefix = routes.get(i).pathPrefix();
        // A slash at the end changes nothing, nor do capitals in a host.
        String path = prefix.endsWith("/") ? prefix.substring(0, prefix.length() - 1) : prefix;
        for (String host : hosts.isEmpty() ? List.of("*") : hosts) {
          Resource<BackendSpec> other =
              first.putIfAbsent(new Prefix(host.toLowerCase(Locale.ROOT), path), backend);
          if (other != null) {
            findings.error(
                backend,
                FieldPath.item("spec.routes", i),
                Reason.AliasClash,
                host
                    + prefix
                    + " already leads to GatewayBackend "
                    + other.namespace()
                    + "/"
                    + other.name());
          }
        }
      }
    }
  }
}
