package dev.warmpath.envoy;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** Where a socket is: a Unix socket's path, or host and port. */
public sealed interface Address {

  /** A Unix domain socket. */
  record Pipe(Path path) implements Address {
    /** Linux: sizeof(sun_path) less the final zero byte. Longer paths fail in bind and connect. */
    private static final int MAX_PATH_BYTES = 107;

    public Pipe {
      path = path.toAbsolutePath().normalize();
      int bytes = path.toString().getBytes(StandardCharsets.UTF_8).length;
      if (bytes > MAX_PATH_BYTES) {
        throw new IllegalArgumentException(
            "socket path has " + bytes + " bytes, the limit is " + MAX_PATH_BYTES + ": " + path);
      }
    }

    @Override
    public String toString() {
      return "unix:" + path;
    }
  }

  /** A TCP socket. Port 0 lets the operating system choose, where the address is listened on. */
  record Tcp(String host, int port) implements Address {
    public Tcp {
      if (host.isBlank() || port < 0 || port > 65535) {
        throw new IllegalArgumentException("not a host and port: '" + host + "' " + port);
      }
    }

    @Override
    public String toString() {
      return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
    }

    /** True where the host needs no name resolution. */
    boolean isLiteral() {
      return host.indexOf(':') >= 0 || host.matches("[0-9]+(\\.[0-9]+){3}");
    }
  }

  /** Reads {@code unix:/path} or {@code host:port}. */
  static Address parse(String text) {
    if (text.startsWith("unix:")) {
      return new Pipe(Path.of(text.substring("unix:".length())));
    }
    int colon = text.lastIndexOf(':');
    if (colon <= 0) {
      throw new IllegalArgumentException(
          "'" + text + "' is neither host:port nor unix:/path/of/socket");
    }
    String host = text.substring(0, colon);
    if (host.startsWith("[") && host.endsWith("]")) {
      host = host.substring(1, host.length() - 1);
    }
    try {
      return new Tcp(host, Integer.parseInt(text.substring(colon + 1)));
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("'" + text + "' does not end with a port number", e);
    }
  }
}
