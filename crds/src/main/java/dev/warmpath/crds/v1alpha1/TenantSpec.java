package dev.warmpath.crds.v1alpha1;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Who may call, and what. */
@ValidationRule(
    value =
        "(has(self.apiKeys) && size(self.apiKeys) > 0) || has(self.jwt) ||"
            + " has(self.trustedIdentity)",
    message = "one of apiKeys, jwt and trustedIdentity is required: nobody could be this tenant")
public record TenantSpec(
    @Size(max = 16)
        @JsonPropertyDescription(
            "Keys of this tenant; several for rotation. They are kept and compared as SHA-256.")
        List<ApiKey> apiKeys,
    @JsonPropertyDescription("Signed tokens of this tenant.") @Nullable Jwt jwt,
    @JsonPropertyDescription(
            "Identity given by a mesh; honoured only on a listener that is configured to trust it.")
        @Nullable TrustedIdentity trustedIdentity,
    @Default("{}") @JsonPropertyDescription("Models that the tenant may use.") Models models,
    @Size(max = 32) @JsonPropertyDescription("Free labels that policies select by (tenant.labels).")
        Map<String, String> labels,
    @Default("{}") @JsonPropertyDescription("Rates and concurrency. Absent values are unlimited.")
        Limits limits,
    @JsonPropertyDescription("Money that the tenant may spend in a period. Absent: unlimited.")
        @Nullable Budget budget,
    @Default("0")
        @Min(-1000)
        @Max(1000)
        @JsonPropertyDescription(
            "Priority of the tenant's requests when the gateway is full, -1000 to 1000. Below 0 is"
                + " batch work that is shed first. Default 0.")
        int priority,
    @Default("false")
        @JsonPropertyDescription(
            "Whether labels that the tenant sends in a request header are believed. Default false.")
        boolean trustLabelHeader) {

  public record ApiKey(
      @Required @JsonPropertyDescription("Secret entry that holds the key.") SecretKeyRef secret) {}

  /** Token claims that identify this tenant; every listed claim must be equal. */
  @ValidationRule(
      value =
          "self.issuer.matches('^(https://[^/?#@ ]+|http://(localhost|127[.]0[.]0[.]1)(:[0-9]+)?)(/[^?# ]*)?$')",
      message = "issuer must be an https URL (or http on this machine)",
      fieldPath = ".issuer")
  @ValidationRule(
      value =
          "!has(self.jwksUri) || self.jwksUri.matches('^(https://[^/?#@ ]+|http://(localhost|127[.]0[.]0[.]1)(:[0-9]+)?|file://)/[^# ]*$')",
      message = "jwksUri must be an https URL (or http on this machine), or file:///path",
      fieldPath = ".jwksUri")
  @ValidationRule(
      value = "size(self.claims) > 0",
      message =
          "claims must hold at least one claim: else every token of the issuer is this tenant",
      fieldPath = ".claims")
  public record Jwt(
      @Required
          @Size(min = 1, max = 1024)
          @JsonPropertyDescription("The iss claim that tokens must have: an https URL.")
          String issuer,
      @Size(min = 1, max = 1024)
          @JsonPropertyDescription(
              "Where the issuer's public keys are: an https URL (http on this machine), or"
                  + " file:///… on Envoy's machine. Default: the issuer's URL with"
                  + " /.well-known/jwks.json.")
          @Nullable String jwksUri,
      @Size(max = 16)
          @JsonPropertyDescription(
              "Audiences of which a token must name one. Absent: any audience is taken.")
          List<@Size(min = 1, max = 1024) String> audiences,
      @Required
          @Size(max = 16)
          @JsonPropertyDescription("Claims that tokens must have, all of them, with these values.")
          Map<String, String> claims) {

    /** Where the keys are, whether written or not. */
    public String keysUri() {
      String written = jwksUri;
      if (written != null) {
        return written;
      }
      return (issuer.endsWith("/") ? issuer : issuer + "/") + ".well-known/jwks.json";
    }
  }

  /** Identity given by a mesh; honoured only on a listener that is configured to trust it. */
  public record TrustedIdentity(
      @Required
          @Size(min = 1, max = 64)
          @JsonPropertyDescription(
              "Principals, for example spiffe://cluster.local/ns/team-a/sa/app; exact, or a prefix"
                  + " that ends in *.")
          List<@Size(min = 1, max = 253) String> principals) {}

  /** Globs over client-visible model names; {@code deny} wins. */
  public record Models(
      @Default("[\"*\"]")
          @Size(min = 1, max = 64)
          @JsonPropertyDescription(
              "Globs (* and ?) over model names. Default [\"*\"]: every model.")
          List<@Size(min = 1, max = 253) String> allow,
      @Size(max = 64)
          @JsonPropertyDescription("Globs over model names that are refused; wins over allow.")
          List<@Size(min = 1, max = 253) String> deny) {}

  /** Absent means unlimited. */
  public record Limits(
      @Min(1) @JsonPropertyDescription("Requests in one minute. Absent: unlimited.")
          @Nullable Long requestsPerMinute,
      @Min(1)
          @JsonPropertyDescription("Prompt and generated tokens in one minute. Absent: unlimited.")
          @Nullable Long tokensPerMinute,
      @Min(1) @JsonPropertyDescription("Requests that may run at one time. Absent: unlimited.")
          @Nullable Integer concurrentRequests) {}

  public record Budget(
      @Required
          @Min(value = 0, inclusive = false)
          @JsonPropertyDescription("Amount of money for one period, above 0.")
          BigDecimal amount,
      @Default("USD")
          @Pattern("^[A-Z]{3}$")
          @JsonPropertyDescription(
              "Currency as three capital letters (ISO 4217); that of the backends' prices. Default"
                  + " USD.")
          String currency,
      @Default("Month")
          @JsonPropertyDescription(
              "Calendar period (UTC) after which it starts again. Default Month.")
          Period period) {
    public enum Period {
      Day,
      Week,
      Month
    }
  }
}
