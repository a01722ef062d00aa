package dev.warmpath.xds.model;

import dev.warmpath.crds.resource.Resource;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The cluster of an InferenceProvider.
 *
 * @param host DNS name or IP literal
 * @param trust how the provider's certificate is verified; null is plain HTTP, which the plan
 *     allows for loopback only
 * @param path how the request path becomes the provider's
 * @param credential what Envoy adds to each request, or null
 * @param concurrency most requests at one time from one gateway
 */
public record ProviderCluster(
    Resource.Key owner,
    String name,
    String host,
    int port,
    @Nullable Trust trust,
    Path path,
    @Nullable Credential credential,
    int concurrency) {

  /** The authorities that may sign the provider's certificate. */
  public sealed interface Trust {
    /** The bundle of the system that Envoy runs on. */
    record SystemBundle() implements Trust {}

    /** A bundle that Envoy gets as the secret of that name. */
    record SecretBundle(String secretName) implements Trust {}
  }

  /**
   * {@code base} stands in front of the path; with {@code replacesVersion} it takes the place of
   * the leading {@code /v1}, as the base URL of OpenAI's SDKs does. Empty changes nothing.
   */
  public record Path(String base, boolean replacesVersion) {
    public static final Path UNCHANGED = new Path("", false);
  }

  /** The request header that carries the secret of that name. */
  public record Credential(String header, String secretName) {}

  /** The secrets that the cluster needs before it can be used. */
  public List<String> secretNames() {
    List<String> names = new ArrayList<>();
    if (credential != null) {
      names.add(credential.secretName());
    }
    if (trust instanceof Trust.SecretBundle bundle) {
      names.add(bundle.secretName());
    }
    return names;
  }

  /** The value of the Host header. */
  public String authority() {
    String name = host.indexOf(':') >= 0 ? "[" + host + "]" : host;
    int standard = trust == null ? 80 : 443;
    return port == standard ? name : name + ":" + port;
  }
}
