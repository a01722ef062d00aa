package dev.warmpath.extproc.policy;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.v1alpha1.BackendSpec;
import dev.warmpath.crds.v1alpha1.ProviderSpec;
import dev.warmpath.extproc.policy.BackendTarget.Kind;
import dev.warmpath.extproc.policy.CompiledPolicy.CompiledTier;
import dev.warmpath.extproc.request.Dialect;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The backends of one configuration by client-visible name. Sorted by namespace and name, so that
 * the order of files changes nothing.
 */
final class BackendCatalog {
  private final List<BackendTarget> all;
  private final Map<String, CompiledTier> defaultTiers = new HashMap<>();
  private final TreeMap<String, List<Integer>> byModel = new TreeMap<>();
  private final Map<String, Integer> byKey = new HashMap<>();

  private BackendCatalog(List<BackendTarget> all) {
    this.all = List.copyOf(all);
    for (int i = 0; i < all.size(); i++) {
      byKey.put(key(all.get(i).id()), i);
      for (String model : all.get(i).models()) {
        byModel.computeIfAbsent(model, name -> new ArrayList<>()).add(i);
      }
    }
    byModel.forEach((model, serving) -> defaultTiers.put(model, defaultTier(serving)));
  }

  static BackendCatalog of(RoutingConfiguration configuration) {
    Map<String, RoutingConfiguration.Pool> pools = new HashMap<>();
    configuration.pools().forEach(pool -> pools.put(key(pool.id()), pool));
    Map<String, RoutingConfiguration.Provider> providers = new HashMap<>();
    configuration.providers().forEach(provider -> providers.put(key(provider.id()), provider));
    List<BackendTarget> targets = new ArrayList<>();
    for (RoutingConfiguration.Backend backend : configuration.backends()) {
      BackendSpec spec = backend.spec();
      String namespace = backend.id().namespace();
      if (spec.pool() != null) {
        RoutingConfiguration.Pool pool = pools.get(key(namespace, spec.pool().name()));
        if (pool != null) {
          targets.add(
              target(
                  backend,
                  Kind.POOL,
                  pool.id(),
                  pool.clusterName(),
                  pool.spec().model(),
                  EnumSet.allOf(Dialect.class)));
        }
      } else if (spec.provider() != null) {
        RoutingConfiguration.Provider provider =
            providers.get(key(namespace, spec.provider().name()));
        if (provider != null) {
          targets.add(
              target(
                  backend,
                  Kind.PROVIDER,
                  provider.id(),
                  provider.clusterName(),
                  spec.provider().model(),
                  dialects(provider.spec().type())));
        }
      }
    }
    targets.sort(
        Comparator.comparing((BackendTarget target) -> target.id().namespace())
            .thenComparing(BackendTarget::name));
    return new BackendCatalog(targets);
  }

  /** The APIs that a provider of that type answers in. */
  private static Set<Dialect> dialects(ProviderSpec.Type type) {
    return switch (type) {
      case OpenAI, AzureOpenAI, OpenAICompatible -> EnumSet.of(Dialect.OPENAI);
      case Anthropic -> EnumSet.of(Dialect.ANTHROPIC);
      case Bedrock -> EnumSet.noneOf(Dialect.class);
    };
  }

  private static BackendTarget target(
      RoutingConfiguration.Backend backend,
      Kind kind,
      RoutingConfiguration.Id resource,
      String clusterName,
      String upstreamModel,
      Set<Dialect> dialects) {
    BackendSpec spec = backend.spec();
    return new BackendTarget(
        backend.id(),
        spec.models(),
        kind,
        resource,
        clusterName,
        upstreamModel,
        dialects,
        spec.labels(),
        spec.capabilities(),
        spec.pricing());
  }

  private static String key(RoutingConfiguration.Id id) {
    return key(id.namespace(), id.name());
  }

  private static String key(String namespace, String name) {
    return namespace + "/" + name;
  }

  List<BackendTarget> all() {
    return all;
  }

  /** Position in {@link #all}, or -1. */
  int index(String namespace, String name) {
    return byKey.getOrDefault(key(namespace, name), -1);
  }

  /**
   * Where a request goes without any policy: to the pool backends with the requested name; to
   * provider backends only if no pool backend has it. Null where nobody has the name.
   */
  @Nullable CompiledTier defaultTier(String model) {
    return defaultTiers.get(model);
  }

  private CompiledTier defaultTier(List<Integer> serving) {
    int[] pools = serving.stream().mapToInt(i -> i).filter(i -> !all.get(i).external()).toArray();
    return new CompiledTier(
        pools.length > 0 ? pools : serving.stream().mapToInt(i -> i).toArray(), null);
  }

  /** Sorted. */
  List<String> models() {
    return List.copyOf(byModel.keySet());
  }
}
