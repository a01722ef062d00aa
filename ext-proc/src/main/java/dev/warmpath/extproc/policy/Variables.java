package dev.warmpath.extproc.policy;

import dev.warmpath.crds.v1alpha1.BackendSpec;
import dev.warmpath.extproc.policy.ClusterState.PoolState;
import dev.warmpath.extproc.policy.Scope.PoolMeans;
import java.math.BigDecimal;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The variables of policies, field by field: {@code request.promptTokens} to the node that reads
 * it. Both evaluators read through this table, so they can't disagree about a field.
 */
final class Variables {
  private static final Map<String, Node> REQUEST =
      Map.ofEntries(
          text("model", scope -> scope.request.model()),
          text("path", scope -> scope.request.path()),
          text("dialect", scope -> scope.request.dialect().name().toLowerCase(Locale.ROOT)),
          integer("promptTokens", scope -> scope.request.promptTokens()),
          integer("maxTokens", scope -> scope.request.maxTokens()),
          bool("stream", scope -> scope.request.stream()),
          bool("tools", scope -> scope.request.tools()),
          integer("images", scope -> scope.request.images()),
          integer("priority", scope -> scope.request.priority()));

  private static final Map<String, Node> TENANT =
      Map.ofEntries(text("name", scope -> scope.tenant.name()));

  private static final Map<String, Node> BACKEND =
      Map.ofEntries(
          text("name", scope -> scope.backend == null ? null : scope.backend.name()),
          text("model", scope -> scope.backend == null ? null : scope.backend.upstreamModel()),
          Map.entry("external", (Node.Bool) Variables::external),
          text("pool", scope -> resource(scope, BackendTarget.Kind.POOL)),
          text("provider", scope -> resource(scope, BackendTarget.Kind.PROVIDER)));

  private static final Map<String, Node> PRICING =
      Map.ofEntries(
          text("currency", scope -> currency(pricing(scope))),
          real("inputPerMillion", scope -> price(pricing(scope), Price.INPUT)),
          real("cachedInputPerMillion", scope -> price(pricing(scope), Price.CACHED_INPUT)),
          real("outputPerMillion", scope -> price(pricing(scope), Price.OUTPUT)));

  private static final Map<String, Node> POOL =
      Map.ofEntries(
          integer("queuedPrompts", scope -> mean(scope, means -> means.queuedPrompts)),
          integer("runningRequests", scope -> mean(scope, means -> means.runningRequests)),
          integer("readyWorkers", scope -> mean(scope, means -> means.readyWorkers)),
          real("kvCacheUsage", Variables::poolKvCacheUsage));

  private static final Map<String, Node> ENDPOINT =
      Map.ofEntries(
          text("name", scope -> none(scope) ? null : pool(scope).name(scope.endpoint)),
          text("set", scope -> none(scope) ? null : pool(scope).set(scope.endpoint)),
          text("hardware", scope -> none(scope) ? null : pool(scope).hardware(scope.endpoint)),
          integer(
              "queuedPrompts",
              scope -> none(scope) ? -1 : pool(scope).queuedPrompts(scope.endpoint)),
          integer(
              "runningRequests",
              scope -> none(scope) ? -1 : pool(scope).runningRequests(scope.endpoint)),
          integer(
              "cachedTokens", scope -> none(scope) ? -1 : pool(scope).cachedTokens(scope.endpoint)),
          real(
              "kvCacheUsage",
              scope -> none(scope) ? Double.NaN : pool(scope).kvCacheUsage(scope.endpoint)),
          Map.entry("predictedTtft", (Node.Span) Variables::predictedTtft));

  private static final Map<String, Map<String, Node>> ROOTS =
      Map.of(
          "request", REQUEST,
          "tenant", TENANT,
          "backend", BACKEND,
          "backend.pricing", PRICING,
          "pool", POOL,
          "endpoint", ENDPOINT);

  private Variables() {}

  /** The node of {@code root.field}, or null where there is no such scalar. */
  static @Nullable Node field(String root, String field) {
    Map<String, Node> fields = ROOTS.get(root);
    return fields == null ? null : fields.get(field);
  }

  /**
   * The node of one entry of a map of strings ({@code labels}, {@code tenant.labels}, {@code
   * backend.labels}), or null where the map is none of these.
   */
  static Node.@Nullable Text entry(String map, String key) {
    return switch (map) {
      case "labels" -> scope -> scope.label(key);
      case "tenant.labels" -> scope -> scope.tenant.labels().get(key);
      case "backend.labels" ->
          scope -> scope.backend == null ? null : scope.backend.labels().get(key);
      default -> null;
    };
  }

  private static int external(Scope scope) {
    if (scope.backend == null) {
      return Expression.FAILED;
    }
    return scope.backend.external() ? Expression.TRUE : Expression.FALSE;
  }

  /** The name of the pool or provider; empty where the backend is of the other kind. */
  private static @Nullable String resource(Scope scope, BackendTarget.Kind kind) {
    BackendTarget backend = scope.backend;
    if (backend == null) {
      return null;
    }
    return backend.kind() == kind ? backend.resource().name() : "";
  }

  private static BackendSpec.@Nullable Pricing pricing(Scope scope) {
    return scope.backend == null ? null : scope.backend.pricing();
  }

  private static @Nullable String currency(BackendSpec.@Nullable Pricing pricing) {
    return pricing == null ? null : pricing.currency();
  }

  private enum Price {
    INPUT,
    CACHED_INPUT,
    OUTPUT
  }

  private static double price(BackendSpec.@Nullable Pricing pricing, Price which) {
    if (pricing == null) {
      return Double.NaN;
    }
    BigDecimal cached = pricing.cachedInputPerMillion();
    return switch (which) {
      case INPUT -> pricing.inputPerMillion().doubleValue();
      case CACHED_INPUT -> cached == null ? Double.NaN : cached.doubleValue();
      case OUTPUT -> pricing.outputPerMillion().doubleValue();
    };
  }

  private static long mean(Scope scope, ToLongFunction<PoolMeans> field) {
    PoolMeans means = scope.poolMeans();
    return means == null ? -1 : field.applyAsLong(means);
  }

  private static double poolKvCacheUsage(Scope scope) {
    PoolMeans means = scope.poolMeans();
    return means == null ? Double.NaN : means.kvCacheUsage;
  }

  private static boolean none(Scope scope) {
    return scope.pool == null || scope.endpoint < 0;
  }

  private static PoolState pool(Scope scope) {
    PoolState pool = scope.pool;
    if (pool == null) {
      throw new IllegalStateException("asked only where none() is false");
    }
    return pool;
  }

  private static long predictedTtft(Scope scope) {
    long nanos = none(scope) ? -1 : pool(scope).predictedTtftNanos(scope.endpoint);
    return nanos < 0 ? Node.Int.FAILED : nanos;
  }

  private static Map.Entry<String, Node> text(String name, Node.Text node) {
    return Map.entry(name, node);
  }

  private static Map.Entry<String, Node> real(String name, ToDoubleFunction<Scope> value) {
    return Map.entry(name, (Node.Real) value::applyAsDouble);
  }

  /** An unknown count is -1 in the state; priorities may be negative and are always known. */
  private static Map.Entry<String, Node> integer(String name, ToLongFunction<Scope> value) {
    if (name.equals("priority")) {
      return Map.entry(name, (Node.Int) value::applyAsLong);
    }
    return Map.entry(
        name,
        (Node.Int)
            scope -> {
              long known = value.applyAsLong(scope);
              return known < 0 ? Node.Int.FAILED : known;
            });
  }

  private static Map.Entry<String, Node> bool(
      String name, java.util.function.Predicate<Scope> value) {
    return Map.entry(
        name, (Node.Bool) scope -> value.test(scope) ? Expression.TRUE : Expression.FALSE);
  }
}
