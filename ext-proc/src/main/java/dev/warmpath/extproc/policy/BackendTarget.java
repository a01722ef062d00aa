package dev.warmpath.extproc.policy;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.v1alpha1.BackendSpec;
import dev.warmpath.extproc.request.Dialect;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A GatewayBackend with its reference resolved.
 *
 * @param models client-visible names
 * @param kind pool or provider
 * @param resource the pool or provider
 * @param clusterName its Envoy cluster
 * @param upstreamModel the name that the upstream knows the model under
 * @param dialects the APIs that it answers in; nothing is translated
 * @param labels the resource's own, and {@code external}, which can't be written
 */
public record BackendTarget(
    RoutingConfiguration.Id id,
    List<String> models,
    Kind kind,
    RoutingConfiguration.Id resource,
    String clusterName,
    String upstreamModel,
    Set<Dialect> dialects,
    Map<String, String> labels,
    BackendSpec.Capabilities capabilities,
    BackendSpec.@Nullable Pricing pricing) {
  public enum Kind {
    POOL,
    PROVIDER
  }

  public BackendTarget {
    models = List.copyOf(models);
    dialects = Set.copyOf(dialects);
    Map<String, String> all = new HashMap<>(labels);
    all.put("external", Boolean.toString(kind == Kind.PROVIDER));
    labels = Map.copyOf(all);
  }

  /** A request that goes there leaves the cluster. */
  public boolean external() {
    return kind == Kind.PROVIDER;
  }

  public String name() {
    return id.name();
  }
}
