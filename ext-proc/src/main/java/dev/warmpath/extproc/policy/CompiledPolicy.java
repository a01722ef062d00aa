package dev.warmpath.extproc.policy;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.v1alpha1.PolicySpec;
import dev.warmpath.extproc.tenant.Globs;
import dev.warmpath.extproc.tenant.Tenant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A policy with its globs, selectors and expressions compiled.
 *
 * @param tiers backend indices and endpoint filters in order; null without a route
 */
record CompiledPolicy(
    RoutingConfiguration.Id id,
    int priority,
    boolean shadow,
    @Nullable Globs models,
    PolicySpec.@Nullable TenantMatch tenants,
    List<LabelCondition> labels,
    @Nullable Expression condition,
    List<CompiledConstraint> constraints,
    @Nullable List<CompiledTier> tiers,
    PolicySpec.@Nullable Route route,
    PolicySpec.OnNoCandidate onNoCandidate) {

  record LabelCondition(String key, Set<String> in) {}

  /**
   * One constraint.
   *
   * @param ordinal unique in the snapshot
   * @param excluded per backend, where {@code exclude} depends on the backend alone; null where it
   *     must be evaluated for each request
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record CompiledConstraint(
      int ordinal,
      String name,
      Expression when,
      Expression exclude,
      boolean @Nullable [] excluded,
      String message) {}

  @SuppressWarnings("ArrayRecordComponent") // never compared
  record CompiledTier(int[] backends, @Nullable Expression endpoints) {}

  /** The parts of the match that cost nothing: the requested name and the tenant. */
  boolean matchesNames(String model, Tenant tenant) {
    return (models == null || models.matches(model)) && matchesTenant(tenant);
  }

  /** Tenant names are references inside the policy's namespace, as every reference is. */
  private boolean matchesTenant(Tenant tenant) {
    if (tenants == null) {
      return true;
    }
    if (!tenants.names().isEmpty()
        && !(tenants.names().contains(tenant.name())
            && (tenant.namespace().isEmpty() || tenant.namespace().equals(id.namespace())))) {
      return false;
    }
    for (Map.Entry<String, String> label : tenants.labels().entrySet()) {
      if (!label.getValue().equals(tenant.labels().get(label.getKey()))) {
        return false;
      }
    }
    return true;
  }
}
