package dev.warmpath.xds.translate;

import com.google.protobuf.Any;
import com.google.protobuf.Message;
import io.envoyproxy.envoy.config.common.mutation_rules.v3.HeaderMutation;
import io.envoyproxy.envoy.config.core.v3.DataSource;
import io.envoyproxy.envoy.config.core.v3.TypedExtensionConfig;
import io.envoyproxy.envoy.extensions.filters.http.credential_injector.v3.CredentialInjector;
import io.envoyproxy.envoy.extensions.filters.http.header_mutation.v3.Mutations;
import io.envoyproxy.envoy.extensions.filters.http.lua.v3.Lua;
import io.envoyproxy.envoy.extensions.filters.http.upstream_codec.v3.UpstreamCodec;
import io.envoyproxy.envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter;
import io.envoyproxy.envoy.extensions.http.injected_credentials.generic.v3.Generic;
import java.util.ArrayList;
import java.util.List;

/**
 * Filters that run for each attempt, inside the cluster that the attempt goes to.
 *
 * <p>A later attempt starts from the headers that an earlier attempt's filters left behind,
 * credentials included. So <em>every</em> cluster first removes all credentials (in native code:
 * unlike a script it can't fail halfway), then puts path and host right, then adds its own
 * credential; the codec must be last.
 */
final class UpstreamFilters {
  /** Whatever a client or another cluster may have put there to identify itself. */
  private static final List<String> CREDENTIALS =
      List.of("authorization", "x-api-key", "api-key", "cookie", "proxy-authorization");

  /** What a provider outside must not learn of the client, the tenant or the gateway. */
  private static final List<String> PRIVATE =
      List.of(
          "forwarded",
          "x-forwarded-for",
          "x-forwarded-proto",
          "x-forwarded-host",
          "x-real-ip",
          "x-envoy-external-address",
          "x-envoy-internal",
          "x-envoy-attempt-count",
          "x-envoy-expected-rq-timeout-ms",
          "x-envoy-original-path",
          "openai-organization",
          "openai-project");

  private UpstreamFilters() {}

  static List<HttpFilter> pool(String script) {
    return List.of(remove(CREDENTIALS), lua(script), codec());
  }

  static List<HttpFilter> provider(String script, List<HttpFilter> credential) {
    List<String> removed = new ArrayList<>(CREDENTIALS);
    removed.addAll(PRIVATE);
    List<HttpFilter> filters = new ArrayList<>();
    filters.add(remove(removed));
    filters.add(lua(script));
    filters.addAll(credential);
    filters.add(codec());
    return filters;
  }

  /** Adds the secret of that name; a request for which Envoy has no secret is refused with 401. */
  static HttpFilter credential(String header, String secretName) {
    Generic generic =
        Generic.newBuilder()
            .setHeader(header)
            .setCredential(SecretReferences.ads(secretName))
            .build();
    CredentialInjector injector =
        CredentialInjector.newBuilder()
            .setOverwrite(true)
            .setCredential(
                TypedExtensionConfig.newBuilder()
                    .setName("envoy.http.injected_credentials.generic")
                    .setTypedConfig(Any.pack(generic)))
            .build();
    return filter("envoy.filters.http.credential_injector", injector);
  }

  private static HttpFilter remove(List<String> headers) {
    Mutations.Builder mutations = Mutations.newBuilder();
    for (String header : headers) {
      mutations.addRequestMutations(HeaderMutation.newBuilder().setRemove(header));
    }
    return filter(
        "envoy.filters.http.header_mutation",
        io.envoyproxy.envoy.extensions.filters.http.header_mutation.v3.HeaderMutation.newBuilder()
            .setMutations(mutations)
            .build());
  }

  private static HttpFilter lua(String script) {
    return filter(
        "envoy.filters.http.lua",
        Lua.newBuilder()
            .setDefaultSourceCode(DataSource.newBuilder().setInlineString(script))
            .build());
  }

  private static HttpFilter codec() {
    return filter("envoy.filters.http.upstream_codec", UpstreamCodec.getDefaultInstance());
  }

  private static HttpFilter filter(String name, Message config) {
    return HttpFilter.newBuilder().setName(name).setTypedConfig(Any.pack(config)).build();
  }
}
