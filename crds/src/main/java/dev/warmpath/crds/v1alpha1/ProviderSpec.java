package dev.warmpath.crds.v1alpha1;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.crd.generator.annotation.SchemaFrom;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** An external API that becomes one TLS Envoy cluster. */
@ValidationRule(
    value =
        "!has(self.endpoint) || self.endpoint.matches('^https?://[^/?#@ ]+(:[0-9]+)?(/[^?# ]*)?$')",
    message =
        "endpoint must be a URL such as https://api.example.com, without user, query or fragment",
    fieldPath = ".endpoint")
@ValidationRule(
    value =
        "!has(self.endpoint) || !self.endpoint.startsWith('http://') ||"
            + " self.endpoint.matches('^http://(localhost|127[.][0-9]+[.][0-9]+[.][0-9]+|[[]::1[]])(:[0-9]+)?(/.*)?$')",
    message =
        "endpoint must use https: plain http is for loopback addresses only, as credentials and"
            + " prompts would travel unprotected",
    fieldPath = ".endpoint")
@ValidationRule(
    value = "self.type in ['OpenAI', 'Anthropic', 'Bedrock'] || has(self.endpoint)",
    message = "endpoint is required for type AzureOpenAI and OpenAICompatible",
    reason = "FieldValueRequired")
@ValidationRule(
    value = "self.type != 'Bedrock' || has(self.region)",
    message = "region is required for type Bedrock (requests are signed for it)",
    reason = "FieldValueRequired")
@ValidationRule(
    value =
        "self.type == 'OpenAICompatible' || (has(self.credentials) &&"
            + " (has(self.credentials.apiKey) || has(self.credentials.secret)))",
    message = "credentials are required for every type but OpenAICompatible",
    reason = "FieldValueRequired")
@ValidationRule(
    value = "!has(self.credentials) || !has(self.credentials.secret) || self.type == 'Bedrock'",
    message = "credentials.secret (AWS access keys) is for type Bedrock; use credentials.apiKey")
@ValidationRule(
    value = "!has(self.credentials) || !has(self.credentials.apiKey) || self.type != 'Bedrock'",
    message =
        "credentials.apiKey is not for type Bedrock; use credentials.secret (AWS access keys)")
@ValidationRule(
    value = "!has(self.expectedTtft) || duration(self.expectedTtft) > duration('0s')",
    message = "expectedTtft must be longer than 0s",
    fieldPath = ".expectedTtft")
public record ProviderSpec(
    @Required
        @JsonPropertyDescription(
            "Which API the provider speaks; decides paths, authentication and dialect.")
        Type type,
    @Size(max = 1024)
        @JsonPropertyDescription(
            "Base URL. Default: the public endpoint of the type (Bedrock: of the region). Plain http"
                + " is accepted for loopback addresses only.")
        @Nullable String endpoint,
    @Size(min = 1, max = 63)
        @Pattern("^[a-z0-9-]+$")
        @JsonPropertyDescription("AWS region, for type Bedrock.")
        @Nullable String region,
    @JsonPropertyDescription(
            "How the gateway authenticates. Values go to Envoy as secrets and never into a route, a"
                + " log or a status.")
        @Nullable Credentials credentials,
    @JsonPropertyDescription(
            "Trust settings of the connection. Default: the system's certificate bundle.")
        @Nullable Tls tls,
    @Default("{}") @JsonPropertyDescription("When the provider counts as full.") Limits limits,
    @Default("1s")
        @SchemaFrom(type = String.class)
        @Pattern(Durations.PATTERN)
        @JsonPropertyDescription(
            "Time to first token assumed until it has been measured. Duration. Default 1s.")
        Duration expectedTtft) {

  public enum Type {
    OpenAI,
    Anthropic,
    AzureOpenAI,
    Bedrock,
    OpenAICompatible
  }

  /**
   * {@code secret} for AWS access keys, {@code apiKey} for every other type; at most one is set.
   */
  @ValidationRule(
      value = "!(has(self.apiKey) && has(self.secret))",
      message = "at most one of apiKey and secret may be set")
  public record Credentials(
      @JsonPropertyDescription("API key, for every type but Bedrock.") @Nullable ApiKey apiKey,
      @JsonPropertyDescription("AWS access keys, for type Bedrock.") @Nullable AwsKeys secret) {}

  public record ApiKey(
      @Required @JsonPropertyDescription("Secret entry that holds the key.") SecretKeyRef secret) {}

  public record AwsKeys(
      @Required
          @Size(min = 1, max = 253)
          @JsonPropertyDescription("Name of a Secret in the same namespace.")
          String name,
      @Required
          @Size(min = 1, max = 253)
          @JsonPropertyDescription("Key of the Secret that holds the access key id.")
          String accessKeyIdKey,
      @Required
          @Size(min = 1, max = 253)
          @JsonPropertyDescription("Key of the Secret that holds the secret access key.")
          String secretAccessKeyKey) {}

  public record Tls(
      @Required @JsonPropertyDescription("Certificates to trust instead of the system's bundle.")
          CaBundle caBundle) {}

  public record CaBundle(
      @Required @JsonPropertyDescription("Secret entry with PEM certificates.")
          SecretKeyRef secret) {}

  public record Limits(
      @Default("200")
          @Min(1)
          @JsonPropertyDescription(
              "Requests that may run at the provider at one time. Default 200.")
          int concurrency) {}
}
