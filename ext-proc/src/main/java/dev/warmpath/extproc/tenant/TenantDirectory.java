package dev.warmpath.extproc.tenant;

import dev.warmpath.crds.config.GatewayNames;
import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.v1alpha1.TenantSpec;
import dev.warmpath.extproc.tenant.Identification.Forbidden;
import dev.warmpath.extproc.tenant.Identification.Identified;
import dev.warmpath.extproc.tenant.Identification.Means;
import dev.warmpath.extproc.tenant.Identification.Unauthorized;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Every tenant of one configuration, found by API key, verified token or mesh identity. Immutable
 * and thread-safe; a rotated key is a new directory.
 *
 * <p>Keys are compared by their SHA-256 digest. The look-up goes through a hash table on the first
 * eight bytes of the digest and then compares whole digests in constant time. What an attacker can
 * learn from timing is bits of a digest, and those can't be chosen without inverting SHA-256.
 */
public final class TenantDirectory {
  private static final String MISSING =
      "No credentials: send an API key as 'Authorization: Bearer KEY' or 'x-api-key: KEY'.";
  private static final String NO_TENANT =
      "You are known, but no tenant of this gateway is for you.";
  private static final String INVALID = "The API key or token is not valid here.";

  private final boolean open;
  private final Map<Long, List<KeyEntry>> byDigestPrefix = new HashMap<>();
  private final List<TokenEntry> tokens = new ArrayList<>();
  private final Map<String, Tenant> byPrincipal = new HashMap<>();
  private final TreeMap<String, Tenant> byPrefix = new TreeMap<>();

  private TenantDirectory(RoutingConfiguration configuration) {
    open = configuration.tenants().isEmpty();
    for (RoutingConfiguration.Tenant resource : configuration.tenants()) {
      Tenant tenant = Tenant.of(resource);
      for (String hex : resource.apiKeySha256()) {
        byte[] digest = HexFormat.of().parseHex(hex);
        byDigestPrefix
            .computeIfAbsent(prefix(digest), key -> new ArrayList<>(1))
            .add(new KeyEntry(digest, tenant));
      }
      TenantSpec.Jwt jwt = resource.spec().jwt();
      if (jwt != null) {
        tokens.add(
            new TokenEntry(
                GatewayNames.tokenIssuer(jwt.issuer(), jwt.keysUri()),
                jwt.audiences(),
                Map.copyOf(jwt.claims()),
                tenant));
      }
      TenantSpec.TrustedIdentity trusted = resource.spec().trustedIdentity();
      if (trusted != null) {
        for (String principal : trusted.principals()) {
          if (principal.endsWith("*")) {
            byPrefix.putIfAbsent(principal.substring(0, principal.length() - 1), tenant);
          } else {
            byPrincipal.putIfAbsent(principal, tenant);
          }
        }
      }
    }
    // More claims first, so that a tenant for one team wins over one for the whole issuer.
    tokens.sort((a, b) -> Integer.compare(b.claims().size(), a.claims().size()));
  }

  public static TenantDirectory compile(RoutingConfiguration configuration) {
    return new TenantDirectory(configuration);
  }

  /** True where no tenant resource exists, so that everybody is {@link Tenant#ANONYMOUS}. */
  public boolean open() {
    return open;
  }

  /**
   * Finds the caller. What the proxy has verified (a token, then a mesh identity) comes before an
   * API key; a key that is sent and wrong is never ignored in favour of nothing.
   *
   * @param headers lower-case names
   */
  public Identification identify(Map<String, String> headers, VerifiedIdentity verified) {
    if (open) {
      return new Identified(Tenant.ANONYMOUS, Means.OPEN_GATEWAY);
    }
    for (VerifiedIdentity.Token token : verified.tokens()) {
      for (TokenEntry entry : tokens) {
        if (entry.matches(token)) {
          return new Identified(entry.tenant(), Means.TOKEN);
        }
      }
    }
    String principal = verified.principal();
    if (principal != null) {
      Tenant tenant = byPrincipal(principal);
      if (tenant != null) {
        return new Identified(tenant, Means.MESH_IDENTITY);
      }
    }
    String bearer = bearer(headers.get("authorization"));
    String apiKey = headers.get("x-api-key");
    boolean known = !verified.tokens().isEmpty() || principal != null;
    if (bearer == null && apiKey == null) {
      return known ? new Forbidden(NO_TENANT) : new Unauthorized(MISSING);
    }
    // Both headers may be set: vendor SDKs send a dummy in the one that they don't use.
    Tenant tenant = bearer == null ? null : byKey(bearer);
    if (tenant == null && apiKey != null) {
      tenant = byKey(apiKey.strip());
    }
    if (tenant != null) {
      return new Identified(tenant, Means.API_KEY);
    }
    return known ? new Forbidden(NO_TENANT) : new Unauthorized(INVALID);
  }

  /** The exact name, else the longest prefix. */
  private @Nullable Tenant byPrincipal(String principal) {
    Tenant exact = byPrincipal.get(principal);
    if (exact != null) {
      return exact;
    }
    for (Map.Entry<String, Tenant> entry : byPrefix.descendingMap().entrySet()) {
      // In descending order the longer of two prefixes of one name comes first.
      if (principal.startsWith(entry.getKey())) {
        return entry.getValue();
      }
    }
    return null;
  }

  private static @Nullable String bearer(@Nullable String authorization) {
    if (authorization == null
        || !authorization.regionMatches(/* ignoreCase= */ true, 0, "Bearer ", 0, 7)) {
      return null;
    }
    String key = authorization.substring(7).strip();
    return key.isEmpty() ? null : key;
  }

  private @Nullable Tenant byKey(String key) {
    byte[] digest = sha256(key);
    Tenant found = null;
    for (KeyEntry entry : byDigestPrefix.getOrDefault(prefix(digest), List.of())) {
      if (MessageDigest.isEqual(entry.digest(), digest)) {
        found = entry.tenant();
      }
    }
    return found;
  }

  private static byte[] sha256(String key) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(key.getBytes(StandardCharsets.UTF_8));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  private static long prefix(byte[] digest) {
    long value = 0;
    for (int i = 0; i < Long.BYTES; i++) {
      value = (value << 8) | (digest[i] & 0xff);
    }
    return value;
  }

  @SuppressWarnings("ArrayRecordComponent") // compared by MessageDigest.isEqual only
  private record KeyEntry(byte[] digest, Tenant tenant) {}

  private record TokenEntry(
      String issuer, List<String> audiences, Map<String, String> claims, Tenant tenant) {
    boolean matches(VerifiedIdentity.Token token) {
      if (!issuer.equals(token.issuer())) {
        return false;
      }
      if (!audiences.isEmpty()
          && audiences.stream().noneMatch(wanted -> holds(token.claims().get("aud"), wanted))) {
        return false;
      }
      for (Map.Entry<String, String> wanted : claims.entrySet()) {
        if (!holds(token.claims().get(wanted.getKey()), wanted.getValue())) {
          return false;
        }
      }
      return true;
    }

    /** A list claim (groups, roles) holds a value when it contains it. */
    private static boolean holds(@Nullable Object claim, String wanted) {
      return switch (claim) {
        case null -> false;
        case String text -> text.equals(wanted);
        case Boolean flag -> flag.toString().equals(wanted);
        case Number number -> number(number.doubleValue()).equals(wanted);
        case List<?> list -> list.stream().anyMatch(item -> holds(item, wanted));
        default -> false;
      };
    }

    /** A Struct has doubles only; a whole number is compared as the user wrote it. */
    private static String number(double value) {
      return value == Math.rint(value) && Math.abs(value) < 1e15
          ? Long.toString((long) value)
          : Double.toString(value);
    }
  }
}
