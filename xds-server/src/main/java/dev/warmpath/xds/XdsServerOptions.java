package dev.warmpath.xds;

import dev.warmpath.xds.rollout.RolloutTimes;
import dev.warmpath.xds.serve.ServerSecurity;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How the control plane runs.
 *
 * @param configuration folder with the resources; null where another source is given
 * @param socket Unix socket of the gRPC server, or null
 * @param listen TCP address of the gRPC server, or null; port 0 takes any
 * @param security what the TCP listener demands; the Unix socket is its owner's alone
 * @param webhook the validating webhook, or null
 * @param admin address of the admin pages; port 0 takes any
 * @param systemBundlePath PEM file with the certificate authorities that Envoy's machine trusts
 * @param times how long one side of a gateway waits for the other
 */
public record XdsServerOptions(
    @Nullable Path configuration,
    @Nullable Path socket,
    @Nullable InetSocketAddress listen,
    ServerSecurity security,
    @Nullable Webhook webhook,
    InetSocketAddress admin,
    String systemBundlePath,
    RolloutTimes times) {

  /** Where systems keep their bundle: Debian and Alpine, Red Hat, SUSE, macOS. */
  private static final List<String> BUNDLES =
      List.of(
          "/etc/ssl/certs/ca-certificates.crt",
          "/etc/pki/tls/certs/ca-bundle.crt",
          "/etc/ssl/ca-bundle.pem",
          "/etc/ssl/cert.pem");

  /**
   * An HTTPS listener for the API server.
   *
   * @param certificate PEM file, with {@code key}; both may be replaced while it runs
   */
  public record Webhook(InetSocketAddress listen, Path certificate, Path key) {}

  public XdsServerOptions {
    if (socket == null && listen == null) {
      throw new IllegalArgumentException("a Unix socket, a TCP address or both are needed");
    }
  }

  /** A folder served on a Unix socket, with admin pages on any loopback port. */
  public static XdsServerOptions standalone(Path configuration, Path socket) {
    return new XdsServerOptions(
        configuration,
        socket,
        null,
        ServerSecurity.none(),
        null,
        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
        defaultSystemBundle(),
        RolloutTimes.defaults());
  }

  /** The first usual bundle that this machine has; right where Envoy runs on the same machine. */
  public static String defaultSystemBundle() {
    return BUNDLES.stream()
        .filter(bundle -> Files.isReadable(Path.of(bundle)))
        .findFirst()
        .orElse(BUNDLES.getFirst());
  }

  public XdsServerOptions withTimes(RolloutTimes newTimes) {
    return new XdsServerOptions(
        configuration, socket, listen, security, webhook, admin, systemBundlePath, newTimes);
  }

  public XdsServerOptions withAdmin(InetSocketAddress newAdmin) {
    return new XdsServerOptions(
        configuration, socket, listen, security, webhook, newAdmin, systemBundlePath, times);
  }

  public XdsServerOptions withListen(@Nullable InetSocketAddress newListen) {
    return new XdsServerOptions(
        configuration, socket, newListen, security, webhook, admin, systemBundlePath, times);
  }

  /** What the TCP listener demands. */
  public XdsServerOptions withSecurity(ServerSecurity newSecurity) {
    return new XdsServerOptions(
        configuration, socket, listen, newSecurity, webhook, admin, systemBundlePath, times);
  }

  /** With a validating webhook. */
  public XdsServerOptions withWebhook(@Nullable Webhook newWebhook) {
    return new XdsServerOptions(
        configuration, socket, listen, security, newWebhook, admin, systemBundlePath, times);
  }
}
