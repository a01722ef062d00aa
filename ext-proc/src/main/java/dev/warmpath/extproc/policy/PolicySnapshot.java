package dev.warmpath.extproc.policy;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.extproc.label.LabelSource;
import dev.warmpath.extproc.tenant.Tenant;
import java.util.List;

/** Every policy and backend of one configuration, compiled. Immutable and thread-safe. */
public final class PolicySnapshot {
  private final BackendCatalog backends;
  private final DefaultRoute defaultRoute;

  private PolicySnapshot(BackendCatalog backends) {
    this.backends = backends;
    this.defaultRoute = new DefaultRoute(backends);
  }

  public static PolicySnapshot compile(RoutingConfiguration configuration) {
    return new PolicySnapshot(BackendCatalog.of(configuration));
  }

  /** Client-visible names that this tenant may use, sorted. */
  public List<String> models(Tenant tenant) {
    return backends.models().stream().filter(tenant::mayUse).toList();
  }

  /**
   * The plan of one request. Thread-safe; blocks on nothing; evaluates only those labels that a
   * policy which can still match refers to.
   */
  public PolicyPlan plan(
      RequestFacts request, Tenant tenant, LabelSource labels, ClusterState state) {
    if (!tenant.mayUse(request.model())) {
      return new PolicyPlan.UnknownModel(PolicyTrace.EMPTY);
    }
    return defaultRoute.plan(request, state);
  }
}
