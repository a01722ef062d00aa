package dev.warmpath.extproc.route;

import dev.warmpath.extproc.candidate.ServedProvider;
import dev.warmpath.extproc.predict.ProviderModel;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What is learnt of providers: one {@link ProviderModel} for each of their clusters and models.
 *
 * <p>Not thread-safe: guarded by the router's lock.
 */
final class ProviderRegistry {
  private final Map<String, ProviderModel> models = new HashMap<>();

  ProviderModel model(Target target, ServedProvider provider) {
    return models.computeIfAbsent(
        prefix(target.clusterName()) + target.upstreamModel(),
        key -> new ProviderModel(provider.spec().expectedTtft().toNanos() * 1e-9));
  }

  /** Requests in flight at a provider, whatever the model. */
  int inFlight(String clusterName) {
    String prefix = prefix(clusterName);
    int sum = 0;
    for (Map.Entry<String, ProviderModel> entry : models.entrySet()) {
      if (entry.getKey().startsWith(prefix)) {
        sum += entry.getValue().inFlight();
      }
    }
    return sum;
  }

  /** One of the provider's models, or null before the first request. */
  @Nullable ProviderModel any(String clusterName) {
    String prefix = prefix(clusterName);
    for (Map.Entry<String, ProviderModel> entry : models.entrySet()) {
      if (entry.getKey().startsWith(prefix)) {
        return entry.getValue();
      }
    }
    return null;
  }

  private static String prefix(String clusterName) {
    return clusterName + '\n';
  }
}
