package dev.warmpath.xds.plan;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.resource.Kind;
import dev.warmpath.crds.resource.RejectedResource;
import dev.warmpath.crds.resource.Resource;
import dev.warmpath.crds.v1alpha1.PolicySpec;
import dev.warmpath.crds.v1alpha1.TenantSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What stands for resources that are written but never were good. A policy that could constrain
 * takes its models out of service; a tenant that can't be read still means that the gateway is not
 * open to everybody.
 */
final class FailClosed {
  private FailClosed() {}

  static RoutingConfiguration add(
      RoutingConfiguration routing, List<Resource<?>> refused, List<RejectedResource> rejected) {
    List<RoutingConfiguration.UnavailablePolicy> unavailable =
        new ArrayList<>(routing.unavailablePolicies());
    List<RoutingConfiguration.Tenant> tenants = new ArrayList<>(routing.tenants());
    for (Resource<?> resource : refused) {
      RoutingConfiguration.Id id =
          new RoutingConfiguration.Id(resource.namespace(), resource.name(), resource.generation());
      switch (resource.spec()) {
        case PolicySpec policy when Planner.constrains(policy) ->
            unavailable.add(
                new RoutingConfiguration.UnavailablePolicy(
                    id, policy.match().models(), "the policy is not accepted"));
        case TenantSpec _ -> tenants.add(nobody(id));
        default -> {}
      }
    }
    for (RejectedResource resource : rejected) {
      RoutingConfiguration.Id id =
          new RoutingConfiguration.Id(resource.namespace(), resource.name(), resource.generation());
      if (resource.kind() == Kind.POLICY && resource.mayConstrain()) {
        unavailable.add(
            new RoutingConfiguration.UnavailablePolicy(
                id, resource.policyModels(), "the policy can't be read"));
      } else if (resource.kind() == Kind.TENANT) {
        tenants.add(nobody(id));
      }
    }
    return new RoutingConfiguration(
        routing.workerSets(),
        routing.pools(),
        routing.providers(),
        routing.backends(),
        routing.policies(),
        unavailable,
        tenants);
  }

  /** A tenant that no request can be: no keys, no claims, no models. */
  private static RoutingConfiguration.Tenant nobody(RoutingConfiguration.Id id) {
    return new RoutingConfiguration.Tenant(
        id,
        new TenantSpec(
            List.of(),
            null,
            null,
            new TenantSpec.Models(List.of(), List.of("*")),
            Map.of(),
            new TenantSpec.Limits(null, null, null),
            null,
            0,
            false),
        List.of());
  }
}
