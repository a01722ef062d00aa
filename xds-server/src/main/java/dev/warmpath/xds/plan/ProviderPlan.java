package dev.warmpath.xds.plan;

import dev.warmpath.crds.config.GatewayNames;
import dev.warmpath.crds.resource.Problem;
import dev.warmpath.crds.resource.Resource;
import dev.warmpath.crds.v1alpha1.ProviderSpec;
import dev.warmpath.crds.v1alpha1.SecretKeyRef;
import dev.warmpath.xds.model.ProviderCluster;
import dev.warmpath.xds.model.Secret;
import dev.warmpath.xds.source.Secrets;
import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One InferenceProvider: where it is, how it is trusted, what it is told. */
final class ProviderPlan {
  private static final int MAX_CONCURRENCY = 50_000;

  private final Resource<ProviderSpec> resource;
  private final Secrets values;
  private final String clusterName;
  private final List<Secret> secrets = new ArrayList<>();
  private final List<Problem> problems = new ArrayList<>();

  /** {@code cluster} is null where a problem forbids the provider's use. */
  record Planned(@Nullable ProviderCluster cluster, List<Secret> secrets, List<Problem> problems) {}

  private ProviderPlan(Resource<ProviderSpec> resource, Secrets values) {
    this.resource = resource;
    this.values = values;
    clusterName = GatewayNames.providerCluster(resource.namespace(), resource.name());
  }

  static Planned plan(Resource<ProviderSpec> resource, Secrets values) {
    ProviderPlan plan = new ProviderPlan(resource, values);
    ProviderCluster cluster = plan.cluster();
    boolean usable = plan.problems.stream().noneMatch(Problem::isError);
    return new Planned(usable ? cluster : null, usable ? plan.secrets : List.of(), plan.problems);
  }

  private @Nullable ProviderCluster cluster() {
    ProviderSpec spec = resource.spec();
    if (spec.credentials() != null && spec.credentials().secret() != null) {
      error(
          "spec.credentials.secret",
          Conditions.NOT_SUPPORTED,
          "requests signed with AWS keys are not supported yet");
      return null;
    }
    URI endpoint = endpoint(spec);
    String host = endpoint == null ? null : endpoint.getHost();
    if (endpoint == null || host == null) {
      error("spec.endpoint", "InvalidFormat", "the endpoint must be an absolute URL with a host");
      return null;
    }
    if (host.startsWith("[")) {
      host = host.substring(1, host.length() - 1);
    }
    boolean tls = "https".equals(endpoint.getScheme());
    if (!tls && !isLoopback(host)) {
      error(
          "spec.endpoint", "RuleViolated", "plain http is for loopback addresses only; use https");
      return null;
    }
    int port = endpoint.getPort() > 0 ? endpoint.getPort() : tls ? 443 : 80;
    return new ProviderCluster(
        resource.key(),
        clusterName,
        host,
        port,
        tls ? trust(spec) : null,
        path(spec, endpoint),
        credential(spec),
        Math.clamp(spec.limits().concurrency(), 1, MAX_CONCURRENCY));
  }

  private static @Nullable URI endpoint(ProviderSpec spec) {
    String text = spec.endpoint();
    if (text == null) {
      text =
          switch (spec.type()) {
            case OpenAI -> "https://api.openai.com";
            case Anthropic -> "https://api.anthropic.com";
            case Bedrock -> "https://bedrock-runtime." + spec.region() + ".amazonaws.com";
            case AzureOpenAI, OpenAICompatible -> "";
          };
    }
    try {
      return new URI(text);
    } catch (URISyntaxException e) {
      return null;
    }
  }

  /**
   * The endpoint's path, if any, is a base URL as the provider's own SDK takes it: OpenAI's holds
   * the version, Anthropic's does not.
   */
  private static ProviderCluster.Path path(ProviderSpec spec, URI endpoint) {
    String base = endpoint.getRawPath() == null ? "" : endpoint.getRawPath();
    while (base.endsWith("/")) {
      base = base.substring(0, base.length() - 1);
    }
    if (base.isEmpty()) {
      return spec.type() == ProviderSpec.Type.AzureOpenAI
          ? new ProviderCluster.Path("/openai", false)
          : ProviderCluster.Path.UNCHANGED;
    }
    return new ProviderCluster.Path(base, spec.type() != ProviderSpec.Type.Anthropic);
  }

  private ProviderCluster.Trust trust(ProviderSpec spec) {
    if (spec.tls() == null) {
      return new ProviderCluster.Trust.SystemBundle();
    }
    String name = clusterName + "/ca";
    String bundle = value("spec.tls.caBundle.secret", spec.tls().caBundle().secret());
    if (bundle != null) {
      secrets.add(new Secret(resource.key(), name, Secret.Use.CERTIFICATE_AUTHORITIES, bundle));
    }
    return new ProviderCluster.Trust.SecretBundle(name);
  }

  private ProviderCluster.@Nullable Credential credential(ProviderSpec spec) {
    if (spec.credentials() == null || spec.credentials().apiKey() == null) {
      return null;
    }
    String name = clusterName + "/api-key";
    String key = value("spec.credentials.apiKey.secret", spec.credentials().apiKey().secret());
    if (key == null) {
      return null;
    }
    if (key.chars().anyMatch(c -> c < 0x21 || c > 0x7e)) {
      error(
          "spec.credentials.apiKey.secret",
          "InvalidFormat",
          "the key holds blanks, line breaks or other characters that a header can't carry");
      return null;
    }
    String header =
        switch (spec.type()) {
          case Anthropic -> "x-api-key";
          case AzureOpenAI -> "api-key";
          case OpenAI, Bedrock, OpenAICompatible -> "authorization";
        };
    String value = header.equals("authorization") ? "Bearer " + key : key;
    secrets.add(new Secret(resource.key(), name, Secret.Use.CREDENTIAL, value));
    return new ProviderCluster.Credential(header, name);
  }

  private @Nullable String value(String field, SecretKeyRef reference) {
    String value = values.value(resource.namespace(), reference.name(), reference.key());
    if (value == null) {
      error(
          field,
          Conditions.SECRET_NOT_FOUND,
          "there is no secret " + reference.name() + " with a value under " + reference.key());
    }
    return value;
  }

  private void error(String field, String reason, String message) {
    problems.add(Problem.of(Problem.Severity.ERROR, resource, field, reason, message));
  }

  private static boolean isLoopback(String host) {
    if (host.equals("localhost")) {
      return true;
    }
    boolean literal =
        host.indexOf(':') >= 0 || host.chars().allMatch(c -> c == '.' || (c >= '0' && c <= '9'));
    if (!literal) {
      return false;
    }
    try {
      // A literal is parsed, never looked up.
      return InetAddress.getByName(host).isLoopbackAddress();
    } catch (UnknownHostException e) {
      return false;
    }
  }
}
