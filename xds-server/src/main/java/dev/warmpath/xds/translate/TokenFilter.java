package dev.warmpath.xds.translate;

import com.google.protobuf.Any;
import com.google.protobuf.Duration;
import com.google.protobuf.Empty;
import com.google.protobuf.util.Durations;
import dev.warmpath.crds.config.GatewayNames;
import dev.warmpath.xds.model.TokenIssuer;
import io.envoyproxy.envoy.config.core.v3.DataSource;
import io.envoyproxy.envoy.config.core.v3.HttpUri;
import io.envoyproxy.envoy.config.core.v3.TypedExtensionConfig;
import io.envoyproxy.envoy.config.route.v3.RouteMatch;
import io.envoyproxy.envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication;
import io.envoyproxy.envoy.extensions.filters.http.jwt_authn.v3.JwtHeader;
import io.envoyproxy.envoy.extensions.filters.http.jwt_authn.v3.JwtProvider;
import io.envoyproxy.envoy.extensions.filters.http.jwt_authn.v3.JwtRequirement;
import io.envoyproxy.envoy.extensions.filters.http.jwt_authn.v3.JwtRequirementOrList;
import io.envoyproxy.envoy.extensions.filters.http.jwt_authn.v3.RemoteJwks;
import io.envoyproxy.envoy.extensions.filters.http.jwt_authn.v3.RequirementRule;
import java.util.List;

/**
 * The configuration of Envoy's own token filter. It verifies and passes claims on as metadata; it
 * never answers. A token that is missing or bad proves nothing, which the processor refuses in the
 * client's dialect, and an API key in the same header is none of the filter's business.
 */
final class TokenFilter {
  private static final Duration FETCH_TIMEOUT = Durations.fromSeconds(5);

  /** How soon a rotated key is known. */
  private static final Duration KEYS_LIFETIME = Durations.fromSeconds(300);

  private TokenFilter() {}

  static boolean isFile(TokenIssuer issuer) {
    return "file".equals(issuer.keys().getScheme());
  }

  /** At least one issuer. */
  static XdsResource translate(List<TokenIssuer> issuers) {
    JwtAuthentication.Builder filter = JwtAuthentication.newBuilder();
    JwtRequirementOrList.Builder any = JwtRequirementOrList.newBuilder();
    for (TokenIssuer issuer : issuers) {
      filter.putProviders(issuer.name(), provider(issuer));
      any.addRequirements(JwtRequirement.newBuilder().setProviderName(issuer.name()));
    }
    any.addRequirements(
        JwtRequirement.newBuilder().setAllowMissingOrFailed(Empty.getDefaultInstance()));
    filter.addRules(
        RequirementRule.newBuilder()
            .setMatch(RouteMatch.newBuilder().setPrefix("/"))
            .setRequires(JwtRequirement.newBuilder().setRequiresAny(any)));
    return XdsResource.of(
        XdsType.EXTENSION,
        GatewayNames.TOKENS_EXTENSION,
        TypedExtensionConfig.newBuilder()
            .setName(GatewayNames.TOKENS_EXTENSION)
            .setTypedConfig(
                Any.newBuilder()
                    .setTypeUrl(
                        "type.googleapis.com/" + JwtAuthentication.getDescriptor().getFullName())
                    .setValue(XdsResource.deterministic(filter.build())))
            .build(),
        issuers.getFirst().owner());
  }

  private static JwtProvider provider(TokenIssuer issuer) {
    JwtProvider.Builder provider =
        JwtProvider.newBuilder()
            .setIssuer(issuer.issuer())
            .addAllAudiences(issuer.audiences())
            // The default would take a token from the URL too, where logs show it.
            .addFromHeaders(
                JwtHeader.newBuilder().setName("authorization").setValuePrefix("Bearer "))
            .setPayloadInMetadata(issuer.name());
    if (isFile(issuer)) {
      provider.setLocalJwks(DataSource.newBuilder().setFilename(issuer.keys().getPath()));
    } else {
      provider.setRemoteJwks(
          RemoteJwks.newBuilder()
              .setHttpUri(
                  HttpUri.newBuilder()
                      .setUri(issuer.keys().toString())
                      .setCluster(GatewayNames.keysCluster(issuer.name()))
                      .setTimeout(FETCH_TIMEOUT))
              .setCacheDuration(KEYS_LIFETIME));
    }
    return provider.build();
  }
}
