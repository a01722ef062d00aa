package dev.warmpath.xds.translate;

import dev.warmpath.xds.model.GatewayModel;
import java.util.ArrayList;
import java.util.List;

/** The whole of a gateway's model as Envoy resources. */
public final class EnvoyTranslator {
  private final String systemBundlePath;

  /**
   * @param systemBundlePath PEM file with the authorities that Envoy's machine trusts; read by
   *     Envoy
   */
  public EnvoyTranslator(String systemBundlePath) {
    this.systemBundlePath = systemBundlePath;
  }

  public EnvoyResources translate(GatewayModel model) {
    List<XdsResource> resources = new ArrayList<>();
    model
        .pools()
        .forEach(pool -> {
          resources.add(PoolClusters.translate(pool));
          resources.add(LoadAssignments.translate(pool));
        });
    model
        .providers()
        .forEach(provider -> resources.add(ProviderClusters.translate(provider, systemBundlePath)));
    model.secrets().forEach(secret -> resources.add(SecretResources.translate(secret)));
    return new EnvoyResources(resources);
  }
}
