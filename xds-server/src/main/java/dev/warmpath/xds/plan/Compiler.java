package dev.warmpath.xds.plan;

import dev.warmpath.crds.config.GatewayNames;
import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.config.RoutingConfiguration.Worker;
import dev.warmpath.crds.resource.Kind;
import dev.warmpath.crds.resource.Problem;
import dev.warmpath.crds.resource.Reason;
import dev.warmpath.crds.resource.Resource;
import dev.warmpath.crds.resource.ResourceSet;
import dev.warmpath.crds.v1alpha1.BackendSpec;
import dev.warmpath.crds.v1alpha1.LocalRef;
import dev.warmpath.crds.v1alpha1.PolicySpec;
import dev.warmpath.crds.v1alpha1.PoolSpec;
import dev.warmpath.crds.v1alpha1.ProviderSpec;
import dev.warmpath.crds.v1alpha1.SecretKeyRef;
import dev.warmpath.crds.v1alpha1.TenantSpec;
import dev.warmpath.crds.v1alpha1.WorkerSetSpec;
import dev.warmpath.xds.model.Endpoint;
import dev.warmpath.xds.model.GatewayModel;
import dev.warmpath.xds.model.PoolCluster;
import dev.warmpath.xds.model.ProviderCluster;
import dev.warmpath.xds.model.Secret;
import dev.warmpath.xds.source.Secrets;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Resources in force to what Envoy is to have and what the processor is to know. Both sides come
 * from one pass, so that every cluster that is named exists. What a reference does not reach is
 * left out and reported.
 */
final class Compiler {
  private final ResourceSet resources;
  private final Map<Resource.Key, List<Worker>> workers;
  private final Secrets secretValues;
  private final Set<Resource.Key> written;
  private final List<Problem> problems = new ArrayList<>();
  private final List<PoolCluster> poolClusters = new ArrayList<>();
  private final List<ProviderCluster> providerClusters = new ArrayList<>();
  private final List<Secret> secrets = new ArrayList<>();

  record Compiled(GatewayModel model, RoutingConfiguration routing, List<Problem> problems) {}

  /** {@code written} holds what exists but need not be in force. */
  Compiler(
      ResourceSet resources,
      Map<Resource.Key, List<Worker>> workers,
      Secrets secretValues,
      Set<Resource.Key> written) {
    this.resources = resources;
    this.workers = workers;
    this.secretValues = secretValues;
    this.written = written;
  }

  Compiled compile() {
    List<RoutingConfiguration.WorkerSet> sets =
        resources.workerSets().stream().map(this::workerSet).toList();
    List<RoutingConfiguration.Pool> pools = resources.pools().stream().map(this::pool).toList();
    List<RoutingConfiguration.Provider> providers = providers();
    RoutingConfiguration routing =
        new RoutingConfiguration(
            sets,
            pools,
            providers,
            backends(providers),
            resources.policies().stream().map(Compiler::policy).toList(),
            List.of(),
            tenants());
    return new Compiled(
        new GatewayModel(
            poolClusters, providerClusters, secrets, TokenIssuers.of(resources.tenants())),
        routing,
        problems);
  }

  private RoutingConfiguration.WorkerSet workerSet(Resource<WorkerSetSpec> set) {
    return new RoutingConfiguration.WorkerSet(
        id(set),
        set.spec().engine(),
        set.spec().metrics(),
        set.spec().kvEvents(),
        set.spec().profile(),
        workers.getOrDefault(set.key(), List.of()));
  }

  private RoutingConfiguration.Pool pool(Resource<PoolSpec> pool) {
    PoolSpec spec = pool.spec();
    String cluster = GatewayNames.poolCluster(pool.namespace(), pool.name());
    List<LocalRef> found = new ArrayList<>();
    List<Endpoint> endpoints = new ArrayList<>();
    for (int i = 0; i < spec.workerSets().size(); i++) {
      LocalRef reference = spec.workerSets().get(i);
      Resource.Key key = new Resource.Key(Kind.WORKER_SET, pool.namespace(), reference.name());
      if (resources.get(key) == null) {
        problems.add(notFound(pool, "spec.workerSets[" + i + "].name", key));
        continue;
      }
      found.add(reference);
      workers.getOrDefault(key, List.of()).forEach(worker -> endpoints.add(endpoint(worker)));
    }
    poolClusters.add(new PoolCluster(pool.key(), cluster, endpoints));
    PoolSpec resolved =
        found.size() == spec.workerSets().size()
            ? spec
            : new PoolSpec(
                spec.model(),
                found,
                spec.objective(),
                spec.routing(),
                spec.limits(),
                spec.tokenizer());
    return new RoutingConfiguration.Pool(id(pool), resolved, cluster);
  }

  private static Endpoint endpoint(Worker worker) {
    return new Endpoint(
        worker.address(),
        worker.port(),
        switch (worker.state()) {
          case READY -> Endpoint.Health.HEALTHY;
          case NOT_READY -> Endpoint.Health.UNHEALTHY;
          case DRAINING -> Endpoint.Health.DRAINING;
        });
  }

  private List<RoutingConfiguration.Provider> providers() {
    List<RoutingConfiguration.Provider> providers = new ArrayList<>();
    for (Resource<ProviderSpec> provider : resources.providers()) {
      ProviderPlan.Planned planned = ProviderPlan.plan(provider, secretValues);
      problems.addAll(planned.problems());
      if (planned.cluster() != null) {
        providerClusters.add(planned.cluster());
        secrets.addAll(planned.secrets());
        providers.add(
            new RoutingConfiguration.Provider(
                id(provider), provider.spec(), planned.cluster().name()));
      }
    }
    return providers;
  }

  private List<RoutingConfiguration.Backend> backends(
      List<RoutingConfiguration.Provider> providers) {
    Set<String> usable = new HashSet<>();
    providers.forEach(p -> usable.add(p.id().namespace() + "/" + p.id().name()));
    List<RoutingConfiguration.Backend> backends = new ArrayList<>();
    for (Resource<BackendSpec> backend : resources.backends()) {
      BackendSpec spec = backend.spec();
      if (spec.pool() != null && resources.pool(backend.namespace(), spec.pool().name()) == null) {
        problems.add(
            notFound(
                backend,
                "spec.pool.name",
                new Resource.Key(Kind.POOL, backend.namespace(), spec.pool().name())));
      } else if (spec.provider() != null
          && !usable.contains(backend.namespace() + "/" + spec.provider().name())) {
        problems.add(
            notFound(
                backend,
                "spec.provider.name",
                new Resource.Key(Kind.PROVIDER, backend.namespace(), spec.provider().name())));
      } else {
        backends.add(new RoutingConfiguration.Backend(id(backend), spec));
      }
    }
    return backends;
  }

  private static RoutingConfiguration.Policy policy(Resource<PolicySpec> policy) {
    return new RoutingConfiguration.Policy(id(policy), policy.spec());
  }

  private List<RoutingConfiguration.Tenant> tenants() {
    Map<String, Resource<TenantSpec>> owners = new HashMap<>();
    List<RoutingConfiguration.Tenant> tenants = new ArrayList<>();
    for (Resource<TenantSpec> tenant : resources.tenants()) {
      List<String> hashes = new ArrayList<>();
      List<TenantSpec.ApiKey> keys = tenant.spec().apiKeys();
      for (int i = 0; i < keys.size(); i++) {
        String field = "spec.apiKeys[" + i + "].secret";
        SecretKeyRef reference = keys.get(i).secret();
        String value = secretValues.value(tenant.namespace(), reference.name(), reference.key());
        if (value == null) {
          problems.add(
              Problem.of(
                  Problem.Severity.ERROR,
                  tenant,
                  field,
                  Conditions.SECRET_NOT_FOUND,
                  "there is no secret "
                      + reference.name()
                      + " with a value under "
                      + reference.key()
                      + "; this key admits nobody"));
          continue;
        }
        String hash = sha256(value);
        Resource<TenantSpec> owner = owners.putIfAbsent(hash, tenant);
        if (owner == null) {
          hashes.add(hash);
        } else if (!owner.key().equals(tenant.key())) {
          problems.add(
              Problem.of(
                  Problem.Severity.ERROR,
                  tenant,
                  field,
                  Conditions.DUPLICATE_KEY,
                  "the same key identifies " + owner.key() + "; that one counts"));
        }
      }
      tenants.add(new RoutingConfiguration.Tenant(id(tenant), tenant.spec(), hashes));
    }
    return tenants;
  }

  private static RoutingConfiguration.Id id(Resource<?> resource) {
    return new RoutingConfiguration.Id(
        resource.namespace(), resource.name(), resource.generation());
  }

  private Problem notFound(Resource<?> resource, String field, Resource.Key target) {
    boolean there = written.contains(target) || resources.get(target) != null;
    Reason reason = there ? Reason.ReferenceInvalid : Reason.ReferenceNotFound;
    return Problem.of(
        Problem.Severity.ERROR,
        resource,
        field,
        reason.name(),
        there
            ? target + " can't be used; see its own problems"
            : "there is no " + target.kind() + " " + target.name());
  }

  private static String sha256(String value) {
    try {
      return HexFormat.of()
          .formatHex(
              MessageDigest.getInstance("SHA-256").digest(value.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
