package dev.warmpath.e2e.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.HashSet;
import java.util.Set;

/** Free loopback ports, each given out once. */
public final class Ports {

  private static final Set<Integer> GIVEN = new HashSet<>();

  private Ports() {}

  /** A port that nobody listens on; the caller should use it soon. */
  public static synchronized int free() {
    while (true) {
      try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
        if (GIVEN.add(probe.getLocalPort())) {
          return probe.getLocalPort();
        }
      } catch (IOException none) {
        throw new UncheckedIOException(none);
      }
    }
  }
}
