package dev.warmpath.extproc.route;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.v1alpha1.BackendSpec;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * All routes of a configuration. The most specific host decides (its exact name, then the longest
 * {@code *.} suffix, then every host), and of its routes the longest prefix; a host without a
 * fitting prefix leaves the request to the less specific ones. Immutable.
 */
final class OperatorRoutes {
  private static final String ANY = "*";
  private static final Comparator<OperatorRoute> LONGEST_FIRST =
      Comparator.comparingInt(route -> -route.pathPrefix().length());

  private final Map<String, List<OperatorRoute>> byHost = new HashMap<>();

  private OperatorRoutes() {}

  static OperatorRoutes compile(RoutingConfiguration configuration) {
    OperatorRoutes routes = new OperatorRoutes();
    for (RoutingConfiguration.Backend backend : configuration.backends()) {
      for (BackendSpec.Route route : backend.spec().routes()) {
        OperatorRoute compiled =
            new OperatorRoute(
                withoutSlash(route.pathPrefix()),
                new HashSet<>(backend.spec().models()),
                route.defaultModel(),
                route.labels());
        for (String host : route.hosts().isEmpty() ? List.of(ANY) : route.hosts()) {
          routes
              .byHost
              .computeIfAbsent(host.toLowerCase(Locale.ROOT), h -> new ArrayList<>())
              .add(compiled);
        }
      }
    }
    routes.byHost.values().forEach(list -> list.sort(LONGEST_FIRST));
    return routes;
  }

  private static String withoutSlash(String prefix) {
    return prefix.endsWith("/") ? prefix.substring(0, prefix.length() - 1) : prefix;
  }

  /** The head with its route and the API's own path; the same head where no route fits. */
  RequestHead applied(RequestHead head) {
    if (byHost.isEmpty()) {
      return head;
    }
    OperatorRoute route = match(head.headers().getOrDefault(":authority", ""), head.path());
    return route == null ? head : head.via(route);
  }

  private @Nullable OperatorRoute match(String authority, String path) {
    String host = host(authority);
    OperatorRoute found = match(byHost.get(host), path);
    for (int dot = host.indexOf('.'); found == null && dot >= 0; dot = host.indexOf('.', dot + 1)) {
      found = match(byHost.get(ANY + host.substring(dot)), path);
    }
    return found == null ? match(byHost.get(ANY), path) : found;
  }

  private static @Nullable OperatorRoute match(@Nullable List<OperatorRoute> routes, String path) {
    if (routes != null) {
      for (OperatorRoute route : routes) {
        if (route.covers(path)) {
          return route;
        }
      }
    }
    return null;
  }

  /** Without port; an IPv6 literal keeps no brackets, as in the resources. */
  private static String host(String authority) {
    String host = authority;
    int close = host.indexOf(']');
    if (host.startsWith("[") && close > 0) {
      host = host.substring(1, close);
    } else if (host.indexOf(':') >= 0) {
      host = host.substring(0, host.indexOf(':'));
    }
    return host.toLowerCase(Locale.ROOT);
  }
}
