package dev.warmpath.crds.v1alpha1;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A target that a request can be sent to: names that clients ask for, and the pool or provider that
 * serves them.
 */
public record BackendSpec(
    List<String> models,
    @Nullable LocalRef pool,
    @Nullable ProviderTarget provider,
    Map<String, String> labels,
    Capabilities capabilities,
    @Nullable Pricing pricing,
    List<Route> routes) {

  public record ProviderTarget(String name, String model) {}

  /** Absent {@code contextTokens} means unknown, so it excludes nothing. */
  public record Capabilities(@Nullable Integer contextTokens, boolean tools, boolean vision) {}

  /** Prices for one million tokens. */
  public record Pricing(
      String currency,
      BigDecimal inputPerMillion,
      @Nullable BigDecimal cachedInputPerMillion,
      BigDecimal outputPerMillion) {}

  /** A host and path prefix of the operator's that leads to this backend's models. */
  public record Route(
      List<String> hosts,
      String pathPrefix,
      @Nullable String defaultModel,
      Map<String, String> labels) {}
}
