package dev.warmpath.xds.kubernetes;

import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One of the processes that together are a control plane.
 *
 * @param namespace where the Leases are that they agree by; in a Pod its own
 * @param lease name of the Lease whose holder writes status, the same for all of them
 * @param identity of this one; no other has it
 */
public record Replica(String namespace, String lease, String identity) {
  public static final String DEFAULT_LEASE = "warmpath-xds";

  /** A Lease's name is the group's and this; both together must be a name. */
  private static final int MAX_HOST_LENGTH = 63;

  /**
   * This process.
   *
   * @param environment {@code POD_NAMESPACE} and {@code POD_NAME} (or {@code HOSTNAME}) count
   * @param watched the namespace whose resources are served, for use outside of a cluster
   */
  public static Replica of(Map<String, String> environment, String watched, String lease) {
    String namespace = text(environment.get("POD_NAMESPACE"), watched);
    String host = text(environment.get("POD_NAME"), text(environment.get("HOSTNAME"), "xds"));
    String name =
        host.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9-]", "-").replaceAll("^-+|-+$", "");
    String shortened = name.substring(0, Math.min(MAX_HOST_LENGTH, name.length()));
    // A container that starts again in its Pod is another process.
    byte[] random = new byte[4];
    new SecureRandom().nextBytes(random);
    return new Replica(namespace, lease, shortened + "-" + HexFormat.of().formatHex(random));
  }

  private static String text(@Nullable String value, String otherwise) {
    return value == null || value.isBlank() ? otherwise : value;
  }
}
