package dev.warmpath.xds.translate;

import dev.warmpath.crds.config.GatewayNames;
import dev.warmpath.crds.resource.Resource;
import dev.warmpath.xds.model.GatewayModel;
import java.util.ArrayList;
import java.util.List;

/**
 * The whole of a gateway's model as Envoy resources. The result depends on the model alone; what is
 * remembered only saves work. Not thread-safe.
 */
public final class EnvoyTranslator {
  private final String systemBundlePath;
  private final TranslationCache cache = new TranslationCache();

  private record PoolIdentity(Resource.Key owner, String name) {}

  /**
   * Makes a translator.
   *
   * @param systemBundlePath PEM file with the authorities that Envoy's machine trusts; read by
   *     Envoy
   */
  public EnvoyTranslator(String systemBundlePath) {
    this.systemBundlePath = systemBundlePath;
  }

  public EnvoyResources translate(GatewayModel model) {
    cache.nextRound();
    List<XdsResource> resources = new ArrayList<>();
    model
        .pools()
        .forEach(pool -> {
          resources.add(
              cache.get(
                  XdsType.CLUSTER,
                  pool.name(),
                  new PoolIdentity(pool.owner(), pool.name()),
                  () -> PoolClusters.translate(pool)));
          resources.add(
              cache.get(
                  XdsType.ENDPOINT, pool.name(), pool, () -> LoadAssignments.translate(pool)));
        });
    model
        .providers()
        .forEach(provider ->
            resources.add(
                cache.get(
                    XdsType.CLUSTER,
                    provider.name(),
                    provider,
                    () -> ProviderClusters.translate(provider, systemBundlePath))));
    model
        .secrets()
        .forEach(secret ->
            resources.add(
                cache.get(
                    XdsType.SECRET,
                    secret.name(),
                    secret,
                    () -> SecretResources.translate(secret))));
    model
        .issuers()
        .forEach(issuer -> {
          if (!TokenFilter.isFile(issuer)) {
            resources.add(
                cache.get(
                    XdsType.CLUSTER,
                    GatewayNames.keysCluster(issuer.name()),
                    issuer,
                    () -> ProviderClusters.keys(issuer, systemBundlePath)));
          }
        });
    if (!model.issuers().isEmpty()) {
      resources.add(
          cache.get(
              XdsType.EXTENSION,
              GatewayNames.TOKENS_EXTENSION,
              model.issuers(),
              () -> TokenFilter.translate(model.issuers())));
    }
    return new EnvoyResources(resources);
  }
}
