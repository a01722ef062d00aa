package dev.warmpath.envoy;

import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What Envoy trusts and shows when it connects to the control plane. It follows the files: a file
 * that is moved into place (or the link that a mounted Secret is) counts for the next connection,
 * and the one that exists lives on.
 *
 * <p>Envoy follows files only through SDS, so each secret is a small file of its own in {@code
 * sdsDirectory}, which holds paths and no secret.
 *
 * @param authorities PEM file with the authorities of the control plane's certificate; null for
 *     plain text
 * @param certificate PEM file with Envoy's own certificate; null to show none
 * @param key PEM file with its private key; given exactly where {@code certificate} is
 * @param token file with the token, without a line feed at its end; null to show none
 * @param serverName name in the control plane's certificate; null for the host of the address
 * @param sdsDirectory where Envoy finds the files of {@link #sdsFiles}
 */
public record XdsSecurity(
    @Nullable Path authorities,
    @Nullable Path certificate,
    @Nullable Path key,
    @Nullable Path token,
    @Nullable String serverName,
    Path sdsDirectory) {
  private static final String TYPE = "type.googleapis.com/envoy.extensions.";
  private static final String SECRET = TYPE + "transport_sockets.tls.v3.Secret";

  private static final String AUTHORITIES = "warmpath_xds_authorities";
  private static final String CERTIFICATE = "warmpath_xds_certificate";
  private static final String TOKEN = "warmpath_xds_token";

  public XdsSecurity {
    if ((certificate == null) != (key == null)) {
      throw new IllegalArgumentException("a certificate needs its key, and a key its certificate");
    }
    if (certificate != null && authorities == null) {
      throw new IllegalArgumentException("only TLS can show a certificate");
    }
    sdsDirectory = sdsDirectory.toAbsolutePath().normalize();
  }

  /** Plain text. */
  public static XdsSecurity none(Path sdsDirectory) {
    return new XdsSecurity(null, null, null, null, null, sdsDirectory);
  }

  /** Content of the files that Envoy reads, by file name; none for plain text without a token. */
  public Map<String, String> sdsFiles() {
    Map<String, String> files = new TreeMap<>();
    if (authorities != null) {
      files.put(
          file(AUTHORITIES),
          secret(AUTHORITIES, "validation_context: { trusted_ca: " + followed(authorities) + " }"));
    }
    if (certificate != null && key != null) {
      files.put(
          file(CERTIFICATE),
          secret(
              CERTIFICATE,
              "tls_certificate: { certificate_chain: { filename: "
                  + path(certificate)
                  + " }, private_key: { filename: "
                  + path(key)
                  + " }, watched_directory: { path: "
                  + folder(certificate)
                  + " } }"));
    }
    if (token != null) {
      files.put(file(TOKEN), secret(TOKEN, "generic_secret: { secret: " + followed(token) + " }"));
    }
    return files;
  }

  /** The cluster's transport socket as a YAML flow value. */
  String transportSocket(Address address) {
    if (authorities == null) {
      return "{ name: envoy.transport_sockets.raw_buffer, typed_config: { \"@type\": "
          + TYPE
          + "transport_sockets.raw_buffer.v3.RawBuffer } }";
    }
    String host = serverName;
    if (host == null && address instanceof Address.Tcp tcp) {
      host = tcp.host();
    }
    boolean literal = host != null && serverName == null && isLiteral(address);
    StringBuilder tls = new StringBuilder();
    tls.append("{ name: envoy.transport_sockets.tls, typed_config: { \"@type\": ")
        .append(TYPE)
        .append("transport_sockets.tls.v3.UpstreamTlsContext, max_session_keys: 0");
    if (host != null && !literal) {
      tls.append(", sni: ").append(BootstrapRenderer.quoted(host));
    }
    tls.append(", common_tls_context: { tls_params: { tls_minimum_protocol_version: TLSv1_2 }")
        .append(", alpn_protocols: [ h2 ]");
    if (certificate != null) {
      tls.append(", tls_certificate_sds_secret_configs: [ ").append(sds(CERTIFICATE)).append(" ]");
    }
    tls.append(", combined_validation_context: { validation_context_sds_secret_config: ")
        .append(sds(AUTHORITIES))
        .append(", default_validation_context: {");
    if (host != null) {
      tls.append(" match_typed_subject_alt_names: [ { san_type: ")
          .append(literal ? "IP_ADDRESS" : "DNS")
          .append(", matcher: { exact: ")
          .append(BootstrapRenderer.quoted(host))
          .append(" } } ] ");
    }
    return tls.append("} } } } }").toString();
  }

  /** The cluster's own HTTP filters as a YAML flow value: they put the token on each stream. */
  String httpFilters() {
    if (token == null) {
      return "[]";
    }
    return "[ { name: envoy.filters.http.credential_injector, typed_config: { \"@type\": "
        + TYPE
        + "filters.http.credential_injector.v3.CredentialInjector, overwrite: true, credential: {"
        + " name: envoy.http.injected_credentials.generic, typed_config: { \"@type\": "
        + TYPE
        + "http.injected_credentials.generic.v3.Generic, header_value_prefix: \"Bearer \","
        + " credential: "
        + sds(TOKEN)
        + " } } } }, { name: envoy.filters.http.upstream_codec, typed_config: { \"@type\": "
        + TYPE
        + "filters.http.upstream_codec.v3.UpstreamCodec } } ]";
  }

  private String sds(String name) {
    return "{ name: "
        + name
        + ", sds_config: { resource_api_version: V3, path_config_source: { path: "
        + path(sdsDirectory.resolve(file(name)))
        + " } } }";
  }

  private static String secret(String name, String content) {
    return "resources:\n- \"@type\": " + SECRET + "\n  name: " + name + "\n  " + content + "\n";
  }

  private static String followed(Path file) {
    return "{ filename: " + path(file) + ", watched_directory: { path: " + folder(file) + " } }";
  }

  private static String file(String name) {
    return name + ".yaml";
  }

  private static String path(Path path) {
    return BootstrapRenderer.quoted(path.toAbsolutePath().normalize().toString());
  }

  private static String folder(Path file) {
    Path folder = file.toAbsolutePath().normalize().getParent();
    return path(folder == null ? Path.of("/") : folder);
  }

  private static boolean isLiteral(Address address) {
    return address instanceof Address.Tcp tcp && tcp.isLiteral();
  }
}
