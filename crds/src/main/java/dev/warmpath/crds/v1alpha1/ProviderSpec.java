package dev.warmpath.crds.v1alpha1;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** An external API that becomes one TLS Envoy cluster. */
public record ProviderSpec(
    Type type,
    @Nullable String endpoint,
    @Nullable String region,
    @Nullable Credentials credentials,
    @Nullable Tls tls,
    Limits limits,
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
  public record Credentials(@Nullable ApiKey apiKey, @Nullable AwsKeys secret) {}

  public record ApiKey(SecretKeyRef secret) {}

  public record AwsKeys(String name, String accessKeyIdKey, String secretAccessKeyKey) {}

  public record Tls(CaBundle caBundle) {}

  public record CaBundle(SecretKeyRef secret) {}

  public record Limits(int concurrency) {}
}
