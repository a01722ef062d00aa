package dev.warmpath.crds.resource;

import dev.warmpath.crds.v1alpha1.BackendSpec;
import dev.warmpath.crds.v1alpha1.ProviderSpec;
import java.net.URI;
import java.net.URISyntaxException;
import org.jspecify.annotations.Nullable;

/** Providers: what of an endpoint the schema's pattern can't tell. */
final class ProviderChecks {
  private static final int MAX_PORT = 65535;

  private final Findings findings;

  ProviderChecks(Findings findings) {
    this.findings = findings;
  }

  void run() {
    for (Resource<ProviderSpec> provider : findings.resources().providers()) {
      String endpoint = provider.spec().endpoint();
      String fault = endpoint == null ? null : fault(endpoint);
      if (fault != null) {
        findings.error(provider, "spec.endpoint", Reason.InvalidAddress, fault);
      }
      if (!isUsed(provider)) {
        findings.warning(
            provider,
            "metadata.name",
            Reason.UnusedResource,
            "no GatewayBackend uses this provider");
      }
    }
  }

  private static @Nullable String fault(String endpoint) {
    try {
      URI uri = new URI(endpoint);
      String host = uri.getHost();
      if (host == null) {
        return "has no valid host";
      }
      String literal = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
      if (!Hosts.isIpLiteral(literal) && !Hosts.isHostName(host)) {
        return host + " is neither an IP address nor a host name";
      }
      if (uri.getPort() == 0 || uri.getPort() > MAX_PORT) {
        return "the port must be between 1 and " + MAX_PORT;
      }
      return null;
    } catch (URISyntaxException e) {
      return "is not a URL: " + e.getReason();
    }
  }

  private boolean isUsed(Resource<ProviderSpec> provider) {
    for (Resource<BackendSpec> backend : findings.resources().backends()) {
      BackendSpec.ProviderTarget target = backend.spec().provider();
      if (target != null
          && target.name().equals(provider.name())
          && backend.namespace().equals(provider.namespace())) {
        return true;
      }
    }
    return false;
  }
}
