package dev.warmpath.e2e.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * An Envoy configuration as Istio writes it for a gateway, as far as EnvoyFilter patches and a
 * VirtualService touch it: one listener, the routes, the clusters of the services that they name.
 * Patches are put in as Istio documents it: messages are merged, lists grow.
 */
public final class IstioGateway {

  private static final String HCM = "envoy.filters.network.http_connection_manager";
  private static final String TYPE = "@type";
  private static final String TYPES = "type.googleapis.com/envoy.extensions.";

  private final Map<String, Object> manager = new LinkedHashMap<>();
  private final List<Object> filters = new ArrayList<>();
  private final Map<String, Map<String, Object>> clusters = new LinkedHashMap<>();

  public IstioGateway() {
    manager.put(TYPE, TYPES + "filters.network.http_connection_manager.v3.HttpConnectionManager");
    manager.put("stat_prefix", "outbound_0.0.0.0_8080");
    filters.add(
        Map.of(
            "name",
            "envoy.filters.http.router",
            "typed_config",
            Map.of(TYPE, TYPES + "filters.http.router.v3.Router")));
  }

  /** A service that Istio knows, with the addresses of its endpoints. */
  public void service(String host, int port, boolean http2, List<Integer> ports) {
    String name = "outbound|" + port + "||" + host;
    List<Object> endpoints = new ArrayList<>();
    for (int endpoint : ports) {
      endpoints.add(Map.of("endpoint", Map.of("address", address(endpoint))));
    }
    Map<String, Object> cluster = new LinkedHashMap<>();
    cluster.put("name", name);
    cluster.put("type", "STATIC");
    cluster.put("connect_timeout", "2s");
    cluster.put("lb_policy", "LEAST_REQUEST");
    if (http2) {
      cluster.put(
          "typed_extension_protocol_options",
          Map.of(
              "envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
              Map.of(
                  TYPE,
                  TYPES + "upstreams.http.v3.HttpProtocolOptions",
                  "explicit_http_config",
                  Map.of("http2_protocol_options", Map.of()))));
    }
    cluster.put(
        "load_assignment",
        Map.of("cluster_name", name, "endpoints", List.of(Map.of("lb_endpoints", endpoints))));
    clusters.put(name, cluster);
  }

  /** The patches of an EnvoyFilter. A kind of patch that isn't known here is an error. */
  public void apply(Map<String, Object> envoyFilter) {
    for (Object entry : Tree.list(envoyFilter, "spec", "configPatches")) {
      Map<String, Object> value = Tree.map(entry, "patch", "value");
      String what = Tree.text(entry, "applyTo") + " " + Tree.text(entry, "patch", "operation");
      switch (what) {
        case "NETWORK_FILTER MERGE" -> merge(manager, Tree.map(value, "typed_config"));
        case "HTTP_FILTER INSERT_BEFORE" -> filters.add(filters.size() - 1, value);
        case "CLUSTER MERGE" -> {
          String service = "||" + Tree.text(entry, "match", "cluster", "service");
          Map<String, Object> cluster =
              clusters.values().stream()
                  .filter(known -> Tree.text(known, "name").endsWith(service))
                  .findFirst()
                  .orElseThrow();
          merge(cluster, value);
        }
        default -> throw new IllegalArgumentException("unknown patch: " + what);
      }
    }
  }

  /** The routes of a VirtualService. */
  public void routes(Map<String, Object> virtualService) {
    List<Object> routes = new ArrayList<>();
    for (Object entry : Tree.list(virtualService, "spec", "http")) {
      routes.add(route(Tree.map(entry)));
    }
    manager.put(
        "route_config",
        Map.of(
            "virtual_hosts",
            List.of(Map.of("name", "all", "domains", List.of("*"), "routes", routes))));
  }

  private Map<String, Object> route(Map<String, Object> http) {
    Map<String, Object> match = new LinkedHashMap<>(Map.of("prefix", "/"));
    if (http.containsKey("match")) {
      List<Object> headers = new ArrayList<>();
      Tree.map(http, "match", 0, "headers")
          .forEach((name, value) -> headers.add(Map.of("name", name, "string_match", value)));
      match.put("headers", headers);
    }
    if (http.containsKey("directResponse")) {
      return Map.of("match", match, "direct_response", Tree.map(http, "directResponse"));
    }
    String cluster =
        "outbound|%s||%s"
            .formatted(
                Tree.text(http, "route", 0, "destination", "port", "number"),
                Tree.text(http, "route", 0, "destination", "host"));
    assertThat(clusters).containsKey(cluster);
    Map<String, Object> action =
        Map.of(
            "cluster",
            cluster,
            "timeout",
            "0s", // Istio's default: none
            "retry_policy",
            Map.of(
                "retry_on",
                "connect-failure,refused-stream,reset,retriable-status-codes",
                "retriable_status_codes",
                List.of(503),
                "num_retries",
                Tree.at(http, "retries", "attempts")));
    return Map.of(
        "match",
        match,
        "route",
        action,
        "request_headers_to_remove",
        Tree.list(http, "headers", "request", "remove"));
  }

  /** The whole configuration; JSON is YAML to Envoy. */
  public String bootstrap(int listen, int admin) {
    Map<String, Object> complete = new LinkedHashMap<>(manager);
    complete.put("http_filters", filters);
    Map<String, Object> listener =
        Map.of(
            "name",
            "0.0.0.0_8080",
            "address",
            address(listen),
            "filter_chains",
            List.of(Map.of("filters", List.of(Map.of("name", HCM, "typed_config", complete)))));
    return Json.MAPPER.writeValueAsString(
        Map.of(
            "admin",
            Map.of("address", address(admin)),
            "static_resources",
            Map.of("listeners", List.of(listener), "clusters", List.copyOf(clusters.values()))));
  }

  private static Map<String, Object> address(int port) {
    return Map.of("socket_address", Map.of("address", "127.0.0.1", "port_value", port));
  }

  private static void merge(Map<String, Object> into, Map<String, Object> patch) {
    patch.forEach((key, value) -> {
      Object known = into.get(key);
      if (known instanceof Map<?, ?> && value instanceof Map<?, ?>) {
        Map<String, Object> deeper = new LinkedHashMap<>(Tree.map(known));
        merge(deeper, Tree.map(value));
        into.put(key, deeper);
      } else if (known instanceof List<?> && value instanceof List<?>) {
        List<Object> longer = new ArrayList<>(Tree.list(known));
        longer.addAll(Tree.list(value));
        into.put(key, longer);
      } else {
        into.put(key, value);
      }
    });
  }
}
