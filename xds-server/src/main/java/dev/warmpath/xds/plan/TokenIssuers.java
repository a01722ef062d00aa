package dev.warmpath.xds.plan;

import dev.warmpath.crds.config.GatewayNames;
import dev.warmpath.crds.resource.Resource;
import dev.warmpath.crds.v1alpha1.TenantSpec;
import dev.warmpath.xds.model.TokenIssuer;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/** The token issuers that tenants name, each once. */
final class TokenIssuers {
  private TokenIssuers() {}

  static List<TokenIssuer> of(List<Resource<TenantSpec>> tenants) {
    Map<String, List<Resource<TenantSpec>>> byName = new TreeMap<>();
    for (Resource<TenantSpec> tenant : tenants) {
      TenantSpec.Jwt jwt = tenant.spec().jwt();
      if (jwt != null) {
        byName
            .computeIfAbsent(
                GatewayNames.tokenIssuer(jwt.issuer(), jwt.keysUri()), name -> new ArrayList<>())
            .add(tenant);
      }
    }
    List<TokenIssuer> issuers = new ArrayList<>();
    byName.forEach((name, naming) -> issuers.add(issuer(name, naming)));
    return issuers;
  }

  private static TokenIssuer issuer(String name, List<Resource<TenantSpec>> tenants) {
    TreeSet<String> audiences = new TreeSet<>();
    boolean any = false;
    TenantSpec.Jwt first = null;
    for (Resource<TenantSpec> tenant : tenants) {
      TenantSpec.Jwt jwt = tenant.spec().jwt();
      if (jwt != null) {
        first = first == null ? jwt : first;
        any |= jwt.audiences().isEmpty();
        audiences.addAll(jwt.audiences());
      }
    }
    if (first == null) {
      throw new IllegalArgumentException("no tenant has tokens of " + name);
    }
    return new TokenIssuer(
        tenants.getFirst().key(),
        name,
        first.issuer(),
        URI.create(first.keysUri()),
        any ? List.of() : List.copyOf(audiences));
  }
}
