package dev.warmpath.crds.v1alpha1;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Who may call, and what. */
public record TenantSpec(
    List<ApiKey> apiKeys,
    @Nullable Jwt jwt,
    @Nullable TrustedIdentity trustedIdentity,
    Models models,
    Map<String, String> labels,
    Limits limits,
    @Nullable Budget budget,
    int priority,
    boolean trustLabelHeader) {

  public record ApiKey(SecretKeyRef secret) {}

  /** Token claims that identify this tenant; every listed claim must be equal. */
  public record Jwt(String issuer, @Nullable String jwksUri, Map<String, String> claims) {}

  /** Identity given by a mesh; honoured only on a listener that is configured to trust it. */
  public record TrustedIdentity(List<String> principals) {}

  /** Globs over client-visible model names; {@code deny} wins. */
  public record Models(List<String> allow, List<String> deny) {}

  /** Absent means unlimited. */
  public record Limits(
      @Nullable Long requestsPerMinute,
      @Nullable Long tokensPerMinute,
      @Nullable Integer concurrentRequests) {}

  public record Budget(BigDecimal amount, String currency, Period period) {
    public enum Period {
      Day,
      Week,
      Month
    }
  }
}
