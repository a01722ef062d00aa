package dev.warmpath.xds.translate;

import dev.warmpath.crds.config.GatewayNames;
import dev.warmpath.xds.model.PoolCluster;
import dev.warmpath.xds.model.ProviderCluster;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/** The Lua text of a cluster's upstream filter: constants of the cluster, then one script. */
final class UpstreamScript {
  private static final String SCRIPT = read("upstream.lua");

  private UpstreamScript() {}

  static String of(PoolCluster pool) {
    Map<String, String> constants = common(pool.name(), "pool");
    return render(constants);
  }

  static String of(ProviderCluster provider) {
    Map<String, String> constants = common(provider.name(), "provider");
    constants.put("HOST", quoted(provider.authority()));
    constants.put("SCHEME", quoted(provider.trust() == null ? "http" : "https"));
    constants.put("BASE", quoted(provider.path().base()));
    constants.put("REPLACES_VERSION", Boolean.toString(provider.path().replacesVersion()));
    return render(constants);
  }

  private static Map<String, String> common(String cluster, String mode) {
    Map<String, String> constants = new LinkedHashMap<>();
    constants.put("CLUSTER", quoted(cluster));
    constants.put("MODE", quoted(mode));
    constants.put("DECISION", quoted(GatewayNames.METADATA_NAMESPACE));
    constants.put("ORIGINAL", quoted(GatewayNames.ORIGINAL_NAMESPACE));
    constants.put("MODELS", quoted(GatewayNames.MODELS_KEY));
    constants.put("MODEL_START", quoted(GatewayNames.MODEL_START_KEY));
    constants.put("MODEL_END", quoted(GatewayNames.MODEL_END_KEY));
    return constants;
  }

  private static String render(Map<String, String> constants) {
    StringBuilder text = new StringBuilder();
    constants.forEach((name, value) ->
        text.append("local ").append(name).append(" = ").append(value).append('\n'));
    return text.append(SCRIPT).toString();
  }

  /** A Lua string literal; every byte that could end or change it is written by number. */
  static String quoted(String value) {
    StringBuilder text = new StringBuilder("\"");
    for (byte b : value.getBytes(StandardCharsets.UTF_8)) {
      boolean plain = b >= 0x20 && b < 0x7f && b != '"' && b != '\\';
      if (plain) {
        text.append((char) b);
      } else {
        text.append('\\').append(String.format("%03d", b & 0xff));
      }
    }
    return text.append('"').toString();
  }

  private static String read(String name) {
    try (InputStream in = UpstreamScript.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException("missing from the class path: " + name);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
