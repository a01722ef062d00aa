package dev.warmpath.cli;

import dev.warmpath.cli.input.CommandException;
import dev.warmpath.envoy.Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What a gateway trusts and shows at the control plane; the same flags for both of its parts. */
final class XdsSecurityFlags {
  @Option(
      names = "--xds-ca",
      paramLabel = "FILE",
      description =
          "TLS to the control plane: PEM file with the authorities of its certificate. This and the"
              + " following files may be replaced while it runs.")
  private @Nullable Path authorities;

  @Option(
      names = "--xds-cert",
      paramLabel = "FILE",
      description = "PEM file with the certificate to show the control plane.")
  private @Nullable Path certificate;

  @Option(names = "--xds-key", paramLabel = "FILE", description = "PEM file with its private key.")
  private @Nullable Path key;

  @Option(
      names = "--xds-token-file",
      paramLabel = "FILE",
      description = "File with the token to show the control plane.")
  private @Nullable Path token;

  @Option(
      names = "--xds-server-name",
      paramLabel = "NAME",
      description = "Name in the control plane's certificate (default: the host of --xds).")
  private @Nullable String serverName;

  @Option(
      names = "--insecure",
      description = "Allow plain text to a control plane on another machine.")
  private boolean insecure;

  @Nullable Path authorities() {
    return authorities;
  }

  @Nullable Path certificate() {
    return certificate;
  }

  @Nullable Path key() {
    return key;
  }

  @Nullable Path token() {
    return token;
  }

  @Nullable String serverName() {
    return serverName;
  }

  /** Refuses what would let anybody on the way read or change the configuration. */
  void check(Address xds) {
    if (xds instanceof Address.Pipe && (authorities != null || token != null)) {
      throw new CommandException(
          2, "--xds " + xds + " is a socket of this machine: it takes no certificate or token");
    }
    if (xds instanceof Address.Tcp tcp
        && authorities == null
        && !insecure
        && !isLoopback(tcp.host())) {
      throw new CommandException(
          2,
          "--xds "
              + xds
              + " is on another machine: give --xds-ca FILE for TLS, or --insecure for plain text");
    }
  }

  /** Whether what is sent there stays on this machine. */
  static boolean isLoopback(String host) {
    if (host.equals("localhost")) {
      return true;
    }
    try {
      // Only literals: a name could resolve to anything later.
      return (host.indexOf(':') >= 0 || host.matches("[0-9.]+"))
          && InetAddress.getByName(host).isLoopbackAddress();
    } catch (UnknownHostException e) {
      return false;
    }
  }
}
