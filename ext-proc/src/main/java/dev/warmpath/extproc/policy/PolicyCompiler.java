package dev.warmpath.extproc.policy;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.v1alpha1.PolicySpec;
import dev.warmpath.extproc.policy.CompiledPolicy.CompiledConstraint;
import dev.warmpath.extproc.policy.CompiledPolicy.CompiledTier;
import dev.warmpath.extproc.policy.CompiledPolicy.LabelCondition;
import dev.warmpath.extproc.tenant.Globs;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Compiles the policies of one configuration against its backends. */
final class PolicyCompiler {
  private final BackendCatalog backends;
  private final ExpressionCompiler expressions;
  private int constraints;

  PolicyCompiler(BackendCatalog backends, ExpressionCompiler expressions) {
    this.backends = backends;
    this.expressions = expressions;
  }

  /** In order of precedence: higher priority first, equal by name, then by namespace. */
  List<CompiledPolicy> compile(List<RoutingConfiguration.Policy> policies) {
    return policies.stream()
        .sorted(
            Comparator.comparingInt(
                    (RoutingConfiguration.Policy policy) -> policy.spec().priority())
                .reversed()
                .thenComparing(policy -> policy.id().name())
                .thenComparing(policy -> policy.id().namespace()))
        .map(this::compile)
        .toList();
  }

  /** Number of constraints compiled so far; their ordinals are below it. */
  int constraintCount() {
    return constraints;
  }

  private CompiledPolicy compile(RoutingConfiguration.Policy policy) {
    PolicySpec spec = policy.spec();
    PolicySpec.Match match = spec.match();
    PolicySpec.Route route = spec.route();
    String condition = match.condition();
    return new CompiledPolicy(
        policy.id(),
        spec.priority(),
        spec.mode() == PolicySpec.Mode.Shadow,
        match.models().isEmpty() ? null : Globs.of(match.models()),
        match.tenants(),
        match.labels().stream()
            .map(label -> new LabelCondition(label.key(), Set.copyOf(label.in())))
            .toList(),
        condition == null ? null : expressions.condition(condition),
        spec.constraints().stream().map(this::compile).toList(),
        route == null
            ? null
            : route.tiers().stream().map(tier -> compile(policy.id().namespace(), tier)).toList(),
        route,
        spec.onNoCandidate());
  }

  private CompiledConstraint compile(PolicySpec.Constraint constraint) {
    Expression exclude = expressions.exclude(constraint.exclude());
    return new CompiledConstraint(
        constraints++,
        constraint.name(),
        expressions.when(constraint.when()),
        exclude,
        exclude.readsOnlyBackend() ? excluded(exclude) : null,
        constraint.message());
  }

  /** A failure counts as excluded; it is evaluated again for each request so that it is seen. */
  private boolean @Nullable [] excluded(Expression exclude) {
    List<BackendTarget> all = backends.all();
    boolean[] excluded = new boolean[all.size()];
    Scope scope = Scope.forBackendsOnly();
    for (int i = 0; i < excluded.length; i++) {
      scope.candidate(all.get(i), null);
      int outcome = exclude.test(scope);
      if (outcome == Expression.FAILED) {
        return null;
      }
      excluded[i] = outcome == Expression.TRUE;
    }
    return excluded;
  }

  private CompiledTier compile(String namespace, PolicySpec.Tier tier) {
    String endpoints = tier.endpoints();
    return new CompiledTier(
        select(namespace, tier.backends()),
        endpoints == null ? null : expressions.endpoints(endpoints));
  }

  /** By name: in the order written. By label: in order of name. Neither: nothing. */
  private int[] select(String namespace, PolicySpec.BackendSelector selector) {
    List<Integer> selected = new ArrayList<>();
    if (!selector.names().isEmpty()) {
      for (String name : selector.names()) {
        int index = backends.index(namespace, name);
        if (index >= 0 && hasLabels(index, selector.labels()) && !selected.contains(index)) {
          selected.add(index);
        }
      }
    } else if (!selector.labels().isEmpty()) {
      for (int i = 0; i < backends.all().size(); i++) {
        if (backends.all().get(i).id().namespace().equals(namespace)
            && hasLabels(i, selector.labels())) {
          selected.add(i);
        }
      }
    }
    return selected.stream().mapToInt(Integer::intValue).toArray();
  }

  private boolean hasLabels(int backend, Map<String, String> wanted) {
    Map<String, String> labels = backends.all().get(backend).labels();
    for (Map.Entry<String, String> label : wanted.entrySet()) {
      if (!label.getValue().equals(labels.get(label.getKey()))) {
        return false;
      }
    }
    return true;
  }
}
