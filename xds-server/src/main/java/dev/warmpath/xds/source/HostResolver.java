package dev.warmpath.xds.source;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Host names of workers to addresses. An answer is good for {@link #REFRESH}; a name that no longer
 * resolves keeps its last address, since a name server's failure is not the worker's.
 */
public final class HostResolver {
  static final Duration REFRESH = Duration.ofSeconds(10);

  private final NanoClock clock;
  private final Lookup lookup;
  private final Map<String, Answer> answers = new HashMap<>();

  /** A blocking look-up: IP literal, or null. */
  @FunctionalInterface
  interface Lookup {
    @Nullable String address(String host);
  }

  private record Answer(@Nullable String address, long atNanos) {}

  HostResolver(NanoClock clock, Lookup lookup) {
    this.clock = clock;
    this.lookup = lookup;
  }

  /** Asks the system's resolver. */
  public static HostResolver system(NanoClock clock) {
    return new HostResolver(
        clock,
        host -> {
          try {
            return literal(InetAddress.getByName(host));
          } catch (UnknownHostException e) {
            return null;
          }
        });
  }

  /** The address of an IP literal or host name; null if it never resolved. */
  public @Nullable String resolve(String host) {
    if (isLiteral(host)) {
      return host;
    }
    Answer known = answers.get(host);
    long now = clock.nanoTime();
    if (known != null && now - known.atNanos < REFRESH.toNanos()) {
      return known.address;
    }
    String address = lookup.address(host);
    if (address == null && known != null) {
      address = known.address;
    }
    answers.put(host, new Answer(address, now));
    return address;
  }

  private static String literal(InetAddress address) {
    String text = address.getHostAddress();
    int zone = text.indexOf('%');
    return zone < 0 ? text : text.substring(0, zone);
  }

  static boolean isLiteral(String host) {
    return host.indexOf(':') >= 0 || host.chars().allMatch(c -> c == '.' || (c >= '0' && c <= '9'));
  }
}
