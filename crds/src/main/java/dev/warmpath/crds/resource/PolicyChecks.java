package dev.warmpath.crds.resource;

import dev.warmpath.crds.cel.CelEnvironments;
import dev.warmpath.crds.cel.CelEnvironments.Scope;
import dev.warmpath.crds.cel.CelProblem;
import dev.warmpath.crds.cel.Compiled;
import dev.warmpath.crds.v1alpha1.BackendSpec;
import dev.warmpath.crds.v1alpha1.Glob;
import dev.warmpath.crds.v1alpha1.PolicySpec;
import dev.warmpath.crds.v1alpha1.TenantSpec;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Policies one by one: their expressions, what they name, and what they can leave. */
final class PolicyChecks {
  private static final int SHOWN_MODELS = 3;

  private final Findings findings;

  PolicyChecks(Findings findings) {
    this.findings = findings;
  }

  void run() {
    for (Resource<PolicySpec> policy : findings.resources().policies()) {
      new OnePolicy(policy).check();
    }
    new PolicyOrder(findings).run();
  }

  private final class OnePolicy {
    private final Resource<PolicySpec> policy;
    private final List<BackendCandidate> backends;

    OnePolicy(Resource<PolicySpec> policy) {
      this.policy = policy;
      this.backends =
          findings.resources().backends().stream()
              .filter(backend -> backend.namespace().equals(policy.namespace()))
              .map(backend -> BackendCandidate.of(backend, findings.resources()))
              .toList();
    }

    void check() {
      checkMatch(policy.spec().match());
      PolicySpec.Route route = policy.spec().route();
      if (route != null) {
        checkRoute(route);
      }
      List<PolicySpec.Constraint> constraints = policy.spec().constraints();
      for (int i = 0; i < constraints.size(); i++) {
        checkConstraint(FieldPath.item("spec.constraints", i), constraints.get(i));
      }
    }

    private void checkMatch(PolicySpec.Match match) {
      if (match.condition() != null) {
        compile("spec.match.condition", match.condition(), Scope.MATCH_CONDITION);
      }
      for (int i = 0; i < match.labels().size(); i++) {
        PolicySpec.LabelMatch label = match.labels().get(i);
        String field = FieldPath.item("spec.match.labels", i) + ".in";
        for (int j = 0; j < label.in().size(); j++) {
          checkLabelValue(FieldPath.item(field, j), label.key(), label.in().get(j));
        }
      }
      checkModels(match.models());
      checkTenants(match.tenants());
    }

    private void checkModels(List<String> globs) {
      for (int i = 0; i < globs.size(); i++) {
        if (!findings.matchesModel(globs.get(i))) {
          findings.warning(
              policy,
              FieldPath.item("spec.match.models", i),
              globs.size() == 1 ? Reason.UnreachablePolicy : Reason.NoMatchingModel,
              globs.get(i) + " matches no model of any GatewayBackend");
        }
      }
    }

    private void checkTenants(PolicySpec.@Nullable TenantMatch match) {
      if (match == null) {
        return;
      }
      Set<String> known = new HashSet<>();
      findings.resources().tenants().forEach(tenant -> known.add(tenant.name()));
      if (known.isEmpty()) {
        // Without any tenant the gateway is open, and every caller is this one.
        known.add("anonymous");
      }
      for (int i = 0; i < match.names().size(); i++) {
        String name = match.names().get(i);
        if (!known.contains(name)) {
          findings.warning(
              policy,
              FieldPath.item("spec.match.tenants.names", i),
              match.names().size() == 1 ? Reason.UnreachablePolicy : Reason.ReferenceNotFound,
              "there is no InferenceTenant " + name + Nearest.hint(name, known));
        }
      }
    }

    private void checkRoute(PolicySpec.Route route) {
      Set<BackendCandidate> takenBefore = new HashSet<>();
      for (int i = 0; i < route.tiers().size(); i++) {
        PolicySpec.Tier tier = route.tiers().get(i);
        String field = FieldPath.item("spec.route.tiers", i);
        if (tier.endpoints() != null) {
          compile(field + ".endpoints", tier.endpoints(), Scope.ENDPOINTS);
        }
        boolean allKnown = checkNames(field, tier.backends());
        Set<BackendCandidate> selected = new HashSet<>(selected(tier));
        if (selected.isEmpty()) {
          if (allKnown) {
            findings.warning(
                policy,
                field + ".backends",
                Reason.NoMatchingBackend,
                "no GatewayBackend in namespace " + policy.namespace() + " is selected");
          }
        } else if (takenBefore.containsAll(selected)) {
          findings.warning(
              policy,
              field,
              Reason.UnreachableTier,
              "every backend of this tier is in an earlier one without endpoints filter, which"
                  + " decides first");
        }
        if (tier.endpoints() == null) {
          takenBefore.addAll(selected);
        }
        if (route.choose() == PolicySpec.Choose.Cheapest) {
          checkPrices(field, selected);
        }
      }
    }

    private boolean checkNames(String field, PolicySpec.BackendSelector selector) {
      boolean allKnown = true;
      for (int i = 0; i < selector.names().size(); i++) {
        allKnown &=
            findings.reference(
                policy,
                FieldPath.item(field + ".backends.names", i),
                Kind.BACKEND,
                selector.names().get(i),
                Reason.UnknownBackend);
      }
      return allKnown;
    }

    private List<BackendCandidate> selected(PolicySpec.Tier tier) {
      return backends.stream().filter(backend -> backend.selectedBy(tier.backends())).toList();
    }

    private void checkPrices(String field, Set<BackendCandidate> selected) {
      if (selected.size() < 2) {
        return;
      }
      Set<String> currencies = new TreeSet<>();
      for (BackendCandidate backend : selected) {
        BackendSpec.Pricing pricing = backend.resource().spec().pricing();
        if (pricing == null) {
          findings.warning(
              policy,
              field,
              Reason.MissingPrice,
              "GatewayBackend "
                  + backend.resource().name()
                  + " has no pricing to choose Cheapest by");
        } else {
          currencies.add(pricing.currency());
        }
      }
      if (currencies.size() > 1) {
        findings.warning(
            policy,
            field,
            Reason.MissingPrice,
            "prices in " + String.join(" and ", currencies) + " can't be compared for Cheapest");
      }
    }

    private void checkConstraint(String field, PolicySpec.Constraint constraint) {
      compile(field + ".when", constraint.when(), Scope.WHEN);
      Compiled exclude = compile(field + ".exclude", constraint.exclude(), Scope.EXCLUDE);
      if (exclude == null) {
        return;
      }
      List<String> without = modelsWithoutLocalTarget(exclude);
      if (!without.isEmpty()) {
        findings.warning(
            policy,
            field + ".exclude",
            Reason.NoLocalTarget,
            "where this holds, nothing inside the cluster is left for "
                + shown(without)
                + ": such requests are refused, or leave the cluster");
      }
    }

    /** Model names that the policy is for, of which the constraint leaves no pool. */
    private List<String> modelsWithoutLocalTarget(Compiled exclude) {
      return backends.stream()
          .flatMap(backend -> backend.resource().spec().models().stream())
          .filter(this::isMatched)
          .distinct()
          .sorted()
          .filter(model ->
              candidates(model).stream().noneMatch(c -> c.isLocal() && !c.alwaysCutBy(exclude)))
          .toList();
    }

    private boolean isMatched(String model) {
      List<String> globs = policy.spec().match().models();
      return globs.isEmpty() || globs.stream().anyMatch(glob -> Glob.matches(glob, model));
    }

    /** What this policy's own route could choose for the model; without one, who has the name. */
    private List<BackendCandidate> candidates(String model) {
      PolicySpec.Route route = policy.spec().route();
      if (route != null) {
        List<BackendCandidate> all = new ArrayList<>();
        route.tiers().forEach(tier -> all.addAll(selected(tier)));
        return all;
      }
      return backends.stream()
          .filter(backend -> backend.resource().spec().models().contains(model))
          .toList();
    }

    private @Nullable Compiled compile(String field, String expression, Scope scope) {
      return switch (CelEnvironments.compile(expression, scope)) {
        case Compiled compiled -> {
          for (Compiled.LabelValue compared : compiled.labelValues()) {
            checkLabelValue(field, compared.key(), compared.value());
          }
          yield compiled;
        }
        case CelProblem problem -> {
          findings.error(policy, field, Reason.InvalidExpression, problem.toString());
          yield null;
        }
      };
    }

    /**
     * Not only classifiers give labels: an operator's route may give any value, and so may the
     * header of a tenant that is trusted with one.
     */
    private void checkLabelValue(String field, String label, String value) {
      String impossible = KnownLabels.impossible(label, value);
      boolean ofRoute =
          backends.stream()
              .flatMap(backend -> backend.resource().spec().routes().stream())
              .anyMatch(route -> value.equals(route.labels().get(label)));
      if (impossible != null && !ofRoute && !(KnownLabels.sendable(value) && isForSender())) {
        findings.warning(policy, field, Reason.ImpossibleLabelValue, impossible);
      }
    }

    /** Whether some tenant that the policy is for may send labels itself. */
    private boolean isForSender() {
      PolicySpec.TenantMatch match = policy.spec().match().tenants();
      return findings.resources().tenants().stream()
          .filter(tenant -> tenant.spec().trustLabelHeader())
          .anyMatch(tenant -> match == null || matches(match, tenant));
    }

    private boolean matches(PolicySpec.TenantMatch match, Resource<TenantSpec> tenant) {
      boolean named =
          match.names().isEmpty()
              || (match.names().contains(tenant.name())
                  && tenant.namespace().equals(policy.namespace()));
      return named && tenant.spec().labels().entrySet().containsAll(match.labels().entrySet());
    }

    private static String shown(List<String> models) {
      String first = String.join(", ", models.subList(0, Math.min(SHOWN_MODELS, models.size())));
      int more = models.size() - SHOWN_MODELS;
      return more > 0 ? first + " and " + more + " more" : first;
    }
  }
}
