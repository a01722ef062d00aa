package dev.warmpath.crds.resource;

import dev.warmpath.crds.v1alpha1.Glob;
import dev.warmpath.crds.v1alpha1.PolicySpec;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;

/**
 * Finds routes that never decide, as a policy before them matches whatever they match. Says so only
 * where it is sure: conditions count as equal only if their text is.
 */
final class PolicyOrder {
  /** Higher priority first; equal ones by name, then namespace. */
  static final Comparator<Resource<PolicySpec>> ORDER =
      Comparator.<Resource<PolicySpec>>comparingInt(policy -> -policy.spec().priority())
          .thenComparing(Resource::name)
          .thenComparing(Resource::namespace);

  private final Findings findings;

  PolicyOrder(Findings findings) {
    this.findings = findings;
  }

  void run() {
    List<Resource<PolicySpec>> ordered = new ArrayList<>(findings.resources().policies());
    ordered.removeIf(
        policy -> policy.spec().route() == null || policy.spec().mode() != PolicySpec.Mode.Enforce);
    ordered.sort(ORDER);
    for (int later = 0; later < ordered.size(); later++) {
      Resource<PolicySpec> policy = ordered.get(later);
      for (Resource<PolicySpec> earlier : ordered.subList(0, later)) {
        if (covers(earlier.spec().match(), policy.spec().match())) {
          findings.warning(
              policy,
              "spec.route",
              Reason.UnreachablePolicy,
              "this route never decides: InferencePolicy "
                  + earlier.name()
                  + " (priority "
                  + earlier.spec().priority()
                  + ") matches every request that this policy matches, and comes first");
          break;
        }
      }
    }
  }

  private static boolean covers(PolicySpec.Match wide, PolicySpec.Match narrow) {
    return coversModels(wide.models(), narrow.models())
        && coversTenants(wide, narrow)
        && coversLabels(wide.labels(), narrow.labels())
        && (wide.condition() == null || wide.condition().equals(narrow.condition()));
  }

  private static boolean coversModels(List<String> wide, List<String> narrow) {
    if (wide.isEmpty()) {
      return true;
    }
    return !narrow.isEmpty()
        && narrow.stream().allMatch(glob -> wide.stream().anyMatch(w -> Glob.covers(w, glob)));
  }

  private static boolean coversTenants(PolicySpec.Match wide, PolicySpec.Match narrow) {
    PolicySpec.TenantMatch wideTenants = wide.tenants();
    if (wideTenants == null) {
      return true;
    }
    PolicySpec.TenantMatch narrowTenants = narrow.tenants();
    if (narrowTenants == null) {
      return false;
    }
    boolean names =
        wideTenants.names().isEmpty()
            || (!narrowTenants.names().isEmpty()
                && new HashSet<>(wideTenants.names()).containsAll(narrowTenants.names()));
    return names && narrowTenants.labels().entrySet().containsAll(wideTenants.labels().entrySet());
  }

  private static boolean coversLabels(
      List<PolicySpec.LabelMatch> wide, List<PolicySpec.LabelMatch> narrow) {
    return wide.stream()
        .allMatch(w ->
            narrow.stream()
                .anyMatch(
                    n -> n.key().equals(w.key()) && new HashSet<>(w.in()).containsAll(n.in())));
  }
}
