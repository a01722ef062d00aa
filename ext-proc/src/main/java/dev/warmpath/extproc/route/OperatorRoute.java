package dev.warmpath.extproc.route;

import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A host and path prefix of the operator's, and what it means for a request that comes this way.
 *
 * @param pathPrefix without a slash at its end; empty for every path
 * @param models the only names that may be asked for
 * @param defaultModel of a request that names none; null where such a request is refused
 * @param labels of every request; what a tenant's own trusted header says counts more
 */
public record OperatorRoute(
    String pathPrefix,
    Set<String> models,
    @Nullable String defaultModel,
    Map<String, String> labels) {
  public OperatorRoute {
    models = Set.copyOf(models);
    labels = Map.copyOf(labels);
  }

  /** Whether the path is the prefix itself or below it. */
  boolean covers(String path) {
    return path.startsWith(pathPrefix)
        && (path.length() == pathPrefix.length() || path.charAt(pathPrefix.length()) == '/');
  }

  /** The API's own path. */
  String stripped(String path) {
    String rest = path.substring(pathPrefix.length());
    return rest.isEmpty() ? "/" : rest;
  }
}
