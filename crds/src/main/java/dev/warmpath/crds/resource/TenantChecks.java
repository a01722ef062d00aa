package dev.warmpath.crds.resource;

import dev.warmpath.crds.v1alpha1.SecretKeyRef;
import dev.warmpath.crds.v1alpha1.TenantSpec;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Tenants: that a caller can be one of them only, and that their models exist. */
final class TenantChecks {
  private final Findings findings;
  private final Map<Object, Resource<TenantSpec>> byIdentity = new HashMap<>();

  TenantChecks(Findings findings) {
    this.findings = findings;
  }

  void run() {
    for (Resource<TenantSpec> tenant : findings.resources().tenants()) {
      checkIdentities(tenant);
      checkGlobs(tenant, "spec.models.allow", tenant.spec().models().allow());
      checkGlobs(tenant, "spec.models.deny", tenant.spec().models().deny());
    }
  }

  private void checkIdentities(Resource<TenantSpec> tenant) {
    record KeyIdentity(String namespace, SecretKeyRef secret) {}
    record TokenIdentity(String issuer, Map<String, String> claims) {}
    record Principal(String name) {}
    TenantSpec spec = tenant.spec();
    for (int i = 0; i < spec.apiKeys().size(); i++) {
      claim(
          tenant,
          FieldPath.item("spec.apiKeys", i),
          new KeyIdentity(tenant.namespace(), spec.apiKeys().get(i).secret()),
          "API key");
    }
    if (spec.jwt() != null) {
      claim(
          tenant,
          "spec.jwt",
          new TokenIdentity(spec.jwt().issuer(), spec.jwt().claims()),
          "issuer with these claims");
    }
    if (spec.trustedIdentity() != null) {
      List<String> principals = spec.trustedIdentity().principals();
      for (int i = 0; i < principals.size(); i++) {
        claim(
            tenant,
            FieldPath.item("spec.trustedIdentity.principals", i),
            new Principal(principals.get(i)),
            "principal");
      }
    }
  }

  private void claim(Resource<TenantSpec> tenant, String field, Object identity, String what) {
    Resource<TenantSpec> other = byIdentity.putIfAbsent(identity, tenant);
    if (other != null) {
      String owner =
          other.key().equals(tenant.key())
              ? "this tenant"
              : "InferenceTenant " + other.namespace() + "/" + other.name();
      findings.error(
          tenant, field, Reason.DuplicateIdentity, "this " + what + " already belongs to " + owner);
    }
  }

  private void checkGlobs(Resource<TenantSpec> tenant, String field, List<String> globs) {
    for (int i = 0; i < globs.size(); i++) {
      if (!findings.matchesModel(globs.get(i))) {
        findings.warning(
            tenant,
            FieldPath.item(field, i),
            Reason.NoMatchingModel,
            globs.get(i) + " matches no model of any GatewayBackend");
      }
    }
  }
}
