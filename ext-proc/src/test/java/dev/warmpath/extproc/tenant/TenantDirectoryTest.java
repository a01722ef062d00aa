package dev.warmpath.extproc.tenant;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.crds.config.GatewayNames;
import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.v1alpha1.TenantSpec;
import dev.warmpath.extproc.tenant.Identification.Identified;
import dev.warmpath.extproc.tenant.Identification.Means;
import dev.warmpath.extproc.tenant.Identification.Unauthorized;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class TenantDirectoryTest {
  private static final String ISSUER = "https://login.example";

  @Test
  void withoutAnyTenantResourceEverybodyIsAnonymous() {
    TenantDirectory directory = directory();

    Identification caller = directory.identify(Map.of(), VerifiedIdentity.NONE);

    assertThat(directory.open()).isTrue();
    assertThat(caller).isEqualTo(new Identified(Tenant.ANONYMOUS, Means.OPEN_GATEWAY));
    assertThat(Tenant.ANONYMOUS.mayUse("anything")).isTrue();
  }

  @Test
  void eitherHeaderCarriesTheKey() {
    TenantDirectory directory = directory(tenant("a", "wp-key-1", "wp-key-2"), tenant("b", "wp-b"));

    assertThat(name(directory, Map.of("authorization", "Bearer wp-key-1"))).isEqualTo("a");
    assertThat(name(directory, Map.of("authorization", "bearer  wp-key-2 "))).isEqualTo("a");
    assertThat(name(directory, Map.of("x-api-key", "wp-b"))).isEqualTo("b");
    assertThat(name(directory, Map.of("x-api-key", "wp-b", "authorization", "Bearer dummy")))
        .isEqualTo("b");
    assertThat(name(directory, Map.of("x-api-key", "dummy", "authorization", "Bearer wp-b")))
        .isEqualTo("b");
  }

  @Test
  void aMissingOrWrongKeyIsUnauthorizedAndTheReasonHoldsNoKey() {
    TenantDirectory directory = directory(tenant("a", "wp-key-1"));

    for (Map<String, String> headers :
        List.of(
            Map.<String, String>of(),
            Map.of("authorization", "Bearer wrong-secret"),
            Map.of("authorization", "Basic d3Ata2V5LTE="),
            Map.of("authorization", "wp-key-1"),
            Map.of("x-api-key", "wrong-secret"),
            Map.of("x-api-key", ""))) {
      Identification caller = directory.identify(headers, VerifiedIdentity.NONE);
      assertThat(caller).isInstanceOf(Unauthorized.class);
      assertThat(((Unauthorized) caller).reason()).doesNotContain("wrong-secret");
    }
  }

  @Test
  void rotationIsANewDirectory() {
    TenantDirectory before = directory(tenant("a", "old"));
    TenantDirectory during = directory(tenant("a", "old", "new"));
    TenantDirectory after = directory(tenant("a", "new"));

    assertThat(name(before, Map.of("x-api-key", "new"))).isNull();
    assertThat(name(during, Map.of("x-api-key", "old"))).isEqualTo("a");
    assertThat(name(during, Map.of("x-api-key", "new"))).isEqualTo("a");
    assertThat(name(after, Map.of("x-api-key", "old"))).isNull();
  }

  @Test
  void everyListedClaimMustBeEqualAndMoreClaimsWin() {
    TenantDirectory directory =
        directory(
            jwtTenant("everybody", ISSUER, Map.of()),
            jwtTenant("team", ISSUER, Map.of("team", "a", "level", "3")),
            jwtTenant("group", ISSUER, Map.of("groups", "ml")));

    assertThat(byClaims(directory, ISSUER, Map.of("team", "a"))).isEqualTo("everybody");
    assertThat(byClaims(directory, ISSUER, Map.of("team", "a", "level", 3.0))).isEqualTo("team");
    assertThat(byClaims(directory, ISSUER, Map.of("groups", List.of("x", "ml"))))
        .isEqualTo("group");
    assertThat(byClaims(directory, "https://other.example", Map.of("team", "a", "level", "3")))
        .isNull();
  }

  @Test
  void aMeshIdentityCountsOnlyWhereTheHeadSaysThatItIsTrusted() {
    String principal = "spiffe://cluster.local/ns/ml/sa/batch";
    TenantDirectory directory = directory(meshTenant("mesh", principal));

    Identification trusted =
        directory.identify(Map.of(), new VerifiedIdentity(List.of(), principal));
    Identification header =
        directory.identify(
            Map.of("x-forwarded-client-cert", "URI=" + principal), VerifiedIdentity.NONE);

    assertThat(trusted).isInstanceOf(Identified.class);
    assertThat(header).isInstanceOf(Unauthorized.class);
  }

  @Test
  void aPrincipalMayBeAPrefixAndTheLongestCounts() {
    TenantDirectory directory =
        directory(
            meshTenant("all", "spiffe://cluster.local/*"),
            meshTenant("ml", "spiffe://cluster.local/ns/ml/*"),
            meshTenant("one", "spiffe://cluster.local/ns/ml/sa/one"));

    assertThat(byPrincipal(directory, "spiffe://cluster.local/ns/ml/sa/one")).isEqualTo("one");
    assertThat(byPrincipal(directory, "spiffe://cluster.local/ns/ml/sa/two")).isEqualTo("ml");
    assertThat(byPrincipal(directory, "spiffe://cluster.local/ns/mlx/sa/a")).isEqualTo("all");
    assertThat(byPrincipal(directory, "spiffe://other.local/ns/ml/sa/one")).isNull();
    assertThat(
            directory.identify(
                Map.of(), new VerifiedIdentity(List.of(), "spiffe://other.local/ns/ml/sa/one")))
        .isInstanceOf(Identification.Forbidden.class);
  }

  private static @Nullable String byPrincipal(TenantDirectory directory, String principal) {
    return nameOf(directory.identify(Map.of(), new VerifiedIdentity(List.of(), principal)));
  }

  @Test
  void denyWinsOverAllowAndAnEmptyAllowListAllowsEverything() {
    Tenant limited = Tenant.of(tenant("a", List.of("qwen-*", "gpt-?o"), List.of("*-secret")));
    Tenant unlimited = Tenant.of(tenant("b", List.of(), List.of("*-secret")));

    assertThat(limited.mayUse("qwen-27b")).isTrue();
    assertThat(limited.mayUse("gpt-4o")).isTrue();
    assertThat(limited.mayUse("gpt-4o-mini")).isFalse();
    assertThat(limited.mayUse("qwen-27b-secret")).isFalse();
    assertThat(unlimited.mayUse("whatever")).isTrue();
    assertThat(unlimited.mayUse("qwen-secret")).isFalse();
  }

  @Test
  void aGlobWithManyStarsStaysFast() {
    Globs glob = Globs.of(List.of("*a".repeat(40) + "b"));

    assertThat(glob.matches("a".repeat(20_000))).isFalse();
    assertThat(Globs.of(List.of("a*b*c")).matches("axxbyyc")).isTrue();
    assertThat(Globs.of(List.of("a.c")).matches("abc")).isFalse();
    assertThat(Globs.of(List.of("")).matches("")).isTrue();
  }

  private static @Nullable String name(TenantDirectory directory, Map<String, String> headers) {
    return nameOf(directory.identify(headers, VerifiedIdentity.NONE));
  }

  private static @Nullable String byClaims(
      TenantDirectory directory, String issuer, Map<String, Object> claims) {
    String name = GatewayNames.tokenIssuer(issuer, issuer + "/.well-known/jwks.json");
    return nameOf(
        directory.identify(
            Map.of(),
            new VerifiedIdentity(List.of(new VerifiedIdentity.Token(name, claims)), null)));
  }

  private static @Nullable String nameOf(Identification identification) {
    return switch (identification) {
      case Identified identified -> identified.tenant().name();
      case Unauthorized unauthorized -> null;
      case Identification.Forbidden forbidden -> null;
    };
  }

  private static TenantDirectory directory(RoutingConfiguration.Tenant... tenants) {
    return TenantDirectory.compile(
        new RoutingConfiguration(
            List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), List.of(tenants)));
  }

  private static RoutingConfiguration.Tenant tenant(String name, String... keys) {
    return new RoutingConfiguration.Tenant(
        new RoutingConfiguration.Id("default", name, 1),
        spec(null, null, new TenantSpec.Models(List.of(), List.of())),
        Arrays.stream(keys).map(TenantDirectoryTest::sha256).toList());
  }

  private static RoutingConfiguration.Tenant tenant(
      String name, List<String> allow, List<String> deny) {
    return new RoutingConfiguration.Tenant(
        new RoutingConfiguration.Id("default", name, 1),
        spec(null, null, new TenantSpec.Models(allow, deny)),
        List.of());
  }

  private static RoutingConfiguration.Tenant jwtTenant(
      String name, String issuer, Map<String, String> claims) {
    return new RoutingConfiguration.Tenant(
        new RoutingConfiguration.Id("default", name, 1),
        spec(
            new TenantSpec.Jwt(issuer, null, List.of(), claims),
            null,
            new TenantSpec.Models(List.of(), List.of())),
        List.of());
  }

  private static RoutingConfiguration.Tenant meshTenant(String name, String principal) {
    return new RoutingConfiguration.Tenant(
        new RoutingConfiguration.Id("default", name, 1),
        spec(
            null,
            new TenantSpec.TrustedIdentity(List.of(principal)),
            new TenantSpec.Models(List.of(), List.of())),
        List.of());
  }

  private static TenantSpec spec(
      TenantSpec.@Nullable Jwt jwt,
      TenantSpec.@Nullable TrustedIdentity trusted,
      TenantSpec.Models models) {
    return new TenantSpec(
        List.of(),
        jwt,
        trusted,
        models,
        Map.of(),
        new TenantSpec.Limits(null, null, null),
        null,
        0,
        false);
  }

  private static String sha256(String key) {
    try {
      return HexFormat.of()
          .formatHex(
              MessageDigest.getInstance("SHA-256").digest(key.getBytes(StandardCharsets.UTF_8)));
    } catch (java.security.NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }
}
