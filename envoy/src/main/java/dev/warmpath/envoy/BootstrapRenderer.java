package dev.warmpath.envoy;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Renders {@code bootstrap.yaml}. Each parameter becomes YAML flow syntax (which JSON is), so that
 * no value can change the structure.
 */
public final class BootstrapRenderer {
  private static final Pattern PARAMETER = Pattern.compile("\\$\\{([a-z_]+)}");

  /** Name of the bootstrap's own file. */
  static final String FILE = "envoy.yaml";

  private BootstrapRenderer() {}

  /** Envoy's configuration as YAML text. */
  public static String render(BootstrapOptions options) {
    Map<String, String> values = new TreeMap<>();
    values.put("parameters", "${parameters}"); // of the template's own comment
    values.put("node_id", quoted(options.nodeId()));
    values.put("node_cluster", quoted(options.nodeCluster()));
    values.put("listen_address", address(options.listen()));
    values.put("admin_address", address(options.admin()));
    values.put("processor_address", address(options.processor()));
    values.put("processor_type", discoveryType(options.processor()));
    values.put("xds_address", address(options.xds()));
    values.put("xds_type", discoveryType(options.xds()));
    values.put("xds_transport_socket", options.xdsSecurity().transportSocket(options.xds()));
    values.put("xds_http_filters", options.xdsSecurity().httpFilters());
    values.put("body_limit_bytes", Long.toString(options.bodyLimitBytes()));
    values.put(
        "decide_timeout",
        BigDecimal.valueOf(options.decideTimeout().toMillis(), 3).toPlainString() + "s");
    values.put("trusted_hops", Integer.toString(options.trustedHops()));
    values.put("max_connections", Integer.toString(options.maxConnections()));
    values.put("usage_lua", quoted(resource("usage.lua")));
    String identity = options.trustedIdentityHeader();
    values.put(
        "trusted_identity",
        identity == null
            ? ""
            : part("trusted-identity.yaml", "identity_header", identity)
                .replace("\n", "\n" + " ".repeat(14)));
    Address stats = options.stats();
    values.put("stats_listener", "");
    values.put("stats_cluster", "");
    if (stats != null) {
      values.put("stats_listener", part("stats-listener.yaml", "stats_address", address(stats)));
      values.put(
          "stats_cluster", part("stats-cluster.yaml", "admin_address", address(options.admin())));
    }
    return replace(resource("bootstrap.yaml"), values);
  }

  /** One list item on one line. */
  private static String part(String name, String parameter, String value) {
    return replace(resource(name).strip(), Map.of(parameter, value));
  }

  /** The files that Envoy starts from, by name: {@code envoy.yaml} and those it refers to. */
  public static Map<String, String> files(BootstrapOptions options) {
    Map<String, String> files = new TreeMap<>(options.xdsSecurity().sdsFiles());
    files.put(FILE, render(options));
    return files;
  }

  private static String replace(String template, Map<String, String> values) {
    Set<String> unused = new HashSet<>(values.keySet());
    Matcher matcher = PARAMETER.matcher(template);
    StringBuilder out = new StringBuilder(template.length() * 2);
    while (matcher.find()) {
      String name = matcher.group(1);
      String value = values.get(name);
      if (value == null) {
        throw new IllegalStateException("bootstrap.yaml uses an unknown parameter: " + name);
      }
      unused.remove(name);
      matcher.appendReplacement(out, Matcher.quoteReplacement(value));
    }
    matcher.appendTail(out);
    if (!unused.isEmpty()) {
      throw new IllegalStateException("bootstrap.yaml does not use the parameters " + unused);
    }
    return out.toString();
  }

  private static String address(Address address) {
    return switch (address) {
      case Address.Pipe pipe ->
          "{ pipe: { path: " + quoted(pipe.path().toString()) + ", mode: 0600 } }";
      case Address.Tcp tcp ->
          "{ socket_address: { address: "
              + quoted(tcp.host())
              + ", port_value: "
              + tcp.port()
              + " } }";
    };
  }

  /** A name is resolved again and again; a literal or a socket never changes. */
  private static String discoveryType(Address address) {
    return address instanceof Address.Tcp tcp && !tcp.isLiteral() ? "STRICT_DNS" : "STATIC";
  }

  /** A JSON string, which is a YAML double-quoted scalar. */
  static String quoted(String text) {
    StringBuilder out = new StringBuilder(text.length() + 16).append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '"' -> out.append("\\\"");
        case '\\' -> out.append("\\\\");
        case '\n' -> out.append("\\n");
        case '\t' -> out.append("\\t");
        case '\r' -> out.append("\\r");
        default -> {
          if (c < 0x20 || c > 0x7e) {
            out.append(String.format("\\u%04x", (int) c));
          } else {
            out.append(c);
          }
        }
      }
    }
    return out.append('"').toString();
  }

  static String resource(String name) {
    try (InputStream in = BootstrapRenderer.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException("not on the class path: dev/warmpath/envoy/" + name);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
