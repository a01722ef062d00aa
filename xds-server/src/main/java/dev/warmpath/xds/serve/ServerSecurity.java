package dev.warmpath.xds.serve;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * What the TCP listener demands. All files are read again when they are replaced: new connections
 * (for the token: new streams) go by the new content, those that exist live on.
 *
 * @param certificate PEM file with the server's certificate and its chain; null for plain text
 * @param key PEM file with its private key; given exactly where {@code certificate} is
 * @param clientAuthorities PEM file with the authorities of gateways' certificates; null asks for
 *     none. Only with {@code certificate}
 * @param tokens file with the tokens that gateways may show, one a line; null asks for none
 */
public record ServerSecurity(
    @Nullable Path certificate,
    @Nullable Path key,
    @Nullable Path clientAuthorities,
    @Nullable Path tokens) {
  public ServerSecurity {
    if ((certificate == null) != (key == null)) {
      throw new IllegalArgumentException("a certificate needs its key, and a key its certificate");
    }
    if (clientAuthorities != null && certificate == null) {
      throw new IllegalArgumentException("only TLS can ask for certificates of clients");
    }
  }

  /** Plain text, open to everybody who can connect. */
  public static ServerSecurity none() {
    return new ServerSecurity(null, null, null, null);
  }
}
