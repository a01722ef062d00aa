package dev.warmpath.xds.translate;

import io.envoyproxy.envoy.config.core.v3.AggregatedConfigSource;
import io.envoyproxy.envoy.config.core.v3.ApiVersion;
import io.envoyproxy.envoy.config.core.v3.ConfigSource;
import io.envoyproxy.envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig;

/** References to what arrives on the same stream. */
final class SecretReferences {
  private SecretReferences() {}

  static ConfigSource ads() {
    return ConfigSource.newBuilder()
        .setAds(AggregatedConfigSource.getDefaultInstance())
        .setResourceApiVersion(ApiVersion.V3)
        .build();
  }

  static SdsSecretConfig ads(String secretName) {
    return SdsSecretConfig.newBuilder().setName(secretName).setSdsConfig(ads()).build();
  }
}
