package dev.warmpath.extproc.tenant;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.v1alpha1.TenantSpec;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A caller, as policies, queues and limits see it. Immutable. */
public final class Tenant {
  /** The tenant of an open gateway: no tenant resource exists, so everybody may use everything. */
  public static final Tenant ANONYMOUS =
      new Tenant(
          new RoutingConfiguration.Id("", "anonymous", 0),
          Globs.ALL,
          Globs.NONE,
          Map.of(),
          new TenantSpec.Limits(null, null, null),
          null,
          0,
          false);

  private final RoutingConfiguration.Id id;
  private final Globs allow;
  private final Globs deny;
  private final Map<String, String> labels;
  private final TenantSpec.Limits limits;
  private final TenantSpec.@Nullable Budget budget;
  private final int priority;
  private final boolean trustLabelHeader;

  private Tenant(
      RoutingConfiguration.Id id,
      Globs allow,
      Globs deny,
      Map<String, String> labels,
      TenantSpec.Limits limits,
      TenantSpec.@Nullable Budget budget,
      int priority,
      boolean trustLabelHeader) {
    this.id = id;
    this.allow = allow;
    this.deny = deny;
    this.labels = Map.copyOf(labels);
    this.limits = limits;
    this.budget = budget;
    this.priority = priority;
    this.trustLabelHeader = trustLabelHeader;
  }

  /** Compiles the globs of a tenant resource; an empty allow list allows every model. */
  public static Tenant of(RoutingConfiguration.Tenant tenant) {
    TenantSpec spec = tenant.spec();
    TenantSpec.Models models = spec.models();
    return new Tenant(
        tenant.id(),
        models.allow().isEmpty() ? Globs.ALL : Globs.of(models.allow()),
        Globs.of(models.deny()),
        spec.labels(),
        spec.limits(),
        spec.budget(),
        spec.priority(),
        spec.trustLabelHeader());
  }

  public RoutingConfiguration.Id id() {
    return id;
  }

  public String name() {
    return id.name();
  }

  /** Empty for the anonymous tenant. */
  public String namespace() {
    return id.namespace();
  }

  public Map<String, String> labels() {
    return labels;
  }

  public TenantSpec.Limits limits() {
    return limits;
  }

  public TenantSpec.@Nullable Budget budget() {
    return budget;
  }

  /** Below zero is sheddable. */
  public int priority() {
    return priority;
  }

  public boolean trustLabelHeader() {
    return trustLabelHeader;
  }

  /** Whether this tenant may know and use that client-visible model name; deny wins. */
  public boolean mayUse(String model) {
    return allow.matches(model) && !deny.matches(model);
  }

  @Override
  public String toString() {
    return id.namespace().isEmpty() ? id.name() : id.namespace() + "/" + id.name();
  }
}
