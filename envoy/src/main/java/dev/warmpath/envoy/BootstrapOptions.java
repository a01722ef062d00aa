package dev.warmpath.envoy;

import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What differs between one gateway's Envoy and another's.
 *
 * @param nodeId unique for this Envoy; the processor beside it reports the same
 * @param nodeCluster which gateway this is a replica of
 * @param listen where clients connect
 * @param admin Envoy's admin interface; a Unix socket (mode 0600) or a loopback port
 * @param processor gRPC server of the external processor: decide, watch, access log
 * @param xds gRPC server of the control plane
 * @param xdsSecurity what is trusted and shown there
 * @param bodyLimitBytes a larger request body is answered with 413
 * @param decideTimeout how long Envoy waits for one answer of the processor; it may ask for more
 * @param trustedHops how many proxies before this one write X-Forwarded-For
 * @param maxConnections downstream connections in all; further ones are refused
 * @param stats where GET /stats/prometheus is answered, and nothing else of the admin interface;
 *     null for nowhere
 * @param trustedIdentityHeader request header in which a mesh in front says who calls; only where
 *     nobody but that mesh can reach the listener. Null trusts none
 */
public record BootstrapOptions(
    String nodeId,
    String nodeCluster,
    Address listen,
    Address admin,
    Address processor,
    Address xds,
    XdsSecurity xdsSecurity,
    long bodyLimitBytes,
    Duration decideTimeout,
    int trustedHops,
    int maxConnections,
    @Nullable Address stats,
    @Nullable String trustedIdentityHeader) {

  public static final String DEFAULT_CLUSTER = "warmpath";

  /** Name of the listener that clients connect to. */
  public static final String LISTENER = "warmpath";

  public static final long DEFAULT_BODY_LIMIT_BYTES = 64L << 20;

  /** Long enough for a 20 MB body to be sent, read and decided on a busy machine. */
  public static final Duration DEFAULT_DECIDE_TIMEOUT = Duration.ofSeconds(15);

  public static final int DEFAULT_MAX_CONNECTIONS = 50_000;

  /** Names of the sockets in a run directory. */
  public static final String PROCESSOR_SOCKET = "ext-proc.sock";

  public static final String XDS_SOCKET = "xds.sock";
  public static final String ADMIN_SOCKET = "envoy-admin.sock";

  private static final Pattern HEADER_NAME = Pattern.compile("[a-z0-9][a-z0-9-]*");

  public BootstrapOptions {
    if (nodeId.isBlank() || nodeCluster.isBlank()) {
      throw new IllegalArgumentException("node id and node cluster must not be empty");
    }
    if (bodyLimitBytes < 1 << 20) {
      // Envoy's per-route limit only raises the connection's buffer limit of 1 MiB.
      throw new IllegalArgumentException(
          "body limit must be at least 1048576 bytes, is " + bodyLimitBytes);
    }
    if (decideTimeout.toMillis() < 1) {
      throw new IllegalArgumentException("decide timeout must be positive, is " + decideTimeout);
    }
    if (trustedIdentityHeader != null && !HEADER_NAME.matcher(trustedIdentityHeader).matches()) {
      throw new IllegalArgumentException("not a header name: " + trustedIdentityHeader);
    }
    if (trustedHops < 0 || maxConnections < 1) {
      throw new IllegalArgumentException("trusted hops or connection limit out of range");
    }
  }

  /** Everything on this machine: sockets in {@code runDirectory}, clients at {@code listen}. */
  public static BootstrapOptions local(String nodeId, Address listen, Path runDirectory) {
    return new BootstrapOptions(
        nodeId,
        DEFAULT_CLUSTER,
        listen,
        new Address.Pipe(runDirectory.resolve(ADMIN_SOCKET)),
        new Address.Pipe(runDirectory.resolve(PROCESSOR_SOCKET)),
        new Address.Pipe(runDirectory.resolve(XDS_SOCKET)),
        XdsSecurity.none(runDirectory),
        DEFAULT_BODY_LIMIT_BYTES,
        DEFAULT_DECIDE_TIMEOUT,
        0,
        DEFAULT_MAX_CONNECTIONS,
        null,
        null);
  }

  public BootstrapOptions withAdmin(Address value) {
    return with(draft -> draft.admin = value);
  }

  public BootstrapOptions withProcessor(Address value) {
    return with(draft -> draft.processor = value);
  }

  public BootstrapOptions withXds(Address value) {
    return with(draft -> draft.xds = value);
  }

  public BootstrapOptions withXdsSecurity(XdsSecurity value) {
    return with(draft -> draft.xdsSecurity = value);
  }

  public BootstrapOptions withBodyLimitBytes(long value) {
    return with(draft -> draft.bodyLimitBytes = value);
  }

  public BootstrapOptions withDecideTimeout(Duration value) {
    return with(draft -> draft.decideTimeout = value);
  }

  public BootstrapOptions withTrustedHops(int value) {
    return with(draft -> draft.trustedHops = value);
  }

  public BootstrapOptions withStats(@Nullable Address value) {
    return with(draft -> draft.stats = value);
  }

  public BootstrapOptions withTrustedIdentityHeader(@Nullable String value) {
    return with(draft -> draft.trustedIdentityHeader = value);
  }

  private BootstrapOptions with(Consumer<Draft> change) {
    Draft draft = new Draft(this);
    change.accept(draft);
    return draft.build();
  }

  /** One mutable copy, so that each {@code with} names only what it changes. */
  private static final class Draft {
    private final String nodeId;
    private final String nodeCluster;
    private final Address listen;
    private Address admin;
    private Address processor;
    private Address xds;
    private XdsSecurity xdsSecurity;
    private long bodyLimitBytes;
    private Duration decideTimeout;
    private int trustedHops;
    private final int maxConnections;
    private @Nullable Address stats;
    private @Nullable String trustedIdentityHeader;

    Draft(BootstrapOptions from) {
      nodeId = from.nodeId;
      nodeCluster = from.nodeCluster;
      listen = from.listen;
      admin = from.admin;
      processor = from.processor;
      xds = from.xds;
      xdsSecurity = from.xdsSecurity;
      bodyLimitBytes = from.bodyLimitBytes;
      decideTimeout = from.decideTimeout;
      trustedHops = from.trustedHops;
      maxConnections = from.maxConnections;
      stats = from.stats;
      trustedIdentityHeader = from.trustedIdentityHeader;
    }

    BootstrapOptions build() {
      return new BootstrapOptions(
          nodeId,
          nodeCluster,
          listen,
          admin,
          processor,
          xds,
          xdsSecurity,
          bodyLimitBytes,
          decideTimeout,
          trustedHops,
          maxConnections,
          stats,
          trustedIdentityHeader);
    }
  }
}
