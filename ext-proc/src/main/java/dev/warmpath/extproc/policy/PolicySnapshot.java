package dev.warmpath.extproc.policy;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.extproc.label.LabelSource;
import dev.warmpath.extproc.tenant.Globs;
import dev.warmpath.extproc.tenant.Tenant;
import java.time.InstantSource;
import java.util.List;

/**
 * Every policy and backend of one configuration, compiled. Immutable and thread-safe: a request
 * reads one snapshot once and is decided by exactly that generation of every policy.
 */
public final class PolicySnapshot {
  /** Shared by every snapshot of the process, so that a reload compiles only what is new. */
  private static final ExpressionCompiler EXPRESSIONS = new ExpressionCompiler();

  private final BackendCatalog backends;
  private final List<CompiledPolicy> policies;
  private final List<Unavailable> unavailable;
  private final int constraintCount;
  private final InstantSource wallClock;

  /** A policy that can't be evaluated; {@code models} null means every model. */
  record Unavailable(RoutingConfiguration.Id id, Globs models, String reason) {}

  private PolicySnapshot(
      BackendCatalog backends,
      List<CompiledPolicy> policies,
      int constraintCount,
      List<Unavailable> unavailable,
      InstantSource wallClock) {
    this.backends = backends;
    this.policies = policies;
    this.constraintCount = constraintCount;
    this.unavailable = unavailable;
    this.wallClock = wallClock;
  }

  /**
   * Compiles a configuration. Never throws for a bad expression: what can't be compiled here always
   * fails, which always narrows.
   *
   * @param wallClock what {@code now} is in expressions
   */
  public static PolicySnapshot compile(
      RoutingConfiguration configuration, InstantSource wallClock) {
    BackendCatalog backends = BackendCatalog.of(configuration);
    PolicyCompiler compiler = new PolicyCompiler(backends, EXPRESSIONS);
    List<CompiledPolicy> policies = compiler.compile(configuration.policies());
    List<Unavailable> unavailable =
        configuration.unavailablePolicies().stream()
            .map(policy ->
                new Unavailable(
                    policy.id(),
                    policy.models().isEmpty() ? Globs.ALL : Globs.of(policy.models()),
                    policy.reason()))
            .toList();
    return new PolicySnapshot(
        backends, policies, compiler.constraintCount(), unavailable, wallClock);
  }

  /** Client-visible names that this tenant may use, sorted. */
  public List<String> models(Tenant tenant) {
    return backends.models().stream().filter(tenant::mayUse).toList();
  }

  /** Every backend whose reference resolves, sorted by namespace and name. */
  public List<BackendTarget> backends() {
    return backends.all();
  }

  /**
   * The plan of one request. Thread-safe; blocks on nothing; evaluates only those labels that a
   * policy which can still match refers to.
   */
  public PolicyPlan plan(
      RequestFacts request, Tenant tenant, LabelSource labels, ClusterState state) {
    Scope scope = new Scope(request, tenant, labels, wallClock.instant());
    return new Planner(backends, policies, unavailable, constraintCount, scope, state).plan();
  }
}
