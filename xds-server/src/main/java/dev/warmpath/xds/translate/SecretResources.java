package dev.warmpath.xds.translate;

import dev.warmpath.xds.model.Secret;
import io.envoyproxy.envoy.config.core.v3.DataSource;
import io.envoyproxy.envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext;
import io.envoyproxy.envoy.extensions.transport_sockets.tls.v3.GenericSecret;

/** Credentials and certificate bundles as SDS resources. */
final class SecretResources {
  private SecretResources() {}

  static XdsResource translate(Secret secret) {
    DataSource value = DataSource.newBuilder().setInlineString(secret.value()).build();
    var resource =
        io.envoyproxy.envoy.extensions.transport_sockets.tls.v3.Secret.newBuilder()
            .setName(secret.name());
    switch (secret.use()) {
      case CREDENTIAL -> resource.setGenericSecret(GenericSecret.newBuilder().setSecret(value));
      case CERTIFICATE_AUTHORITIES ->
          resource.setValidationContext(
              CertificateValidationContext.newBuilder().setTrustedCa(value));
    }
    return XdsResource.of(XdsType.SECRET, secret.name(), resource.build(), secret.owner());
  }
}
