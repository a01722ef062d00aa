package dev.warmpath.xds.translate;

import com.google.protobuf.Any;
import com.google.protobuf.UInt32Value;
import com.google.protobuf.util.Durations;
import dev.warmpath.crds.config.GatewayNames;
import dev.warmpath.xds.model.ProviderCluster;
import dev.warmpath.xds.model.TokenIssuer;
import io.envoyproxy.envoy.config.cluster.v3.Cluster;
import io.envoyproxy.envoy.config.core.v3.DataSource;
import io.envoyproxy.envoy.config.core.v3.TransportSocket;
import io.envoyproxy.envoy.config.endpoint.v3.ClusterLoadAssignment;
import io.envoyproxy.envoy.config.endpoint.v3.Endpoint;
import io.envoyproxy.envoy.config.endpoint.v3.LbEndpoint;
import io.envoyproxy.envoy.config.endpoint.v3.LocalityLbEndpoints;
import io.envoyproxy.envoy.extensions.clusters.common.dns.v3.DnsLookupFamily;
import io.envoyproxy.envoy.extensions.clusters.dns.v3.DnsCluster;
import io.envoyproxy.envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter;
import io.envoyproxy.envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext;
import io.envoyproxy.envoy.extensions.transport_sockets.tls.v3.CommonTlsContext;
import io.envoyproxy.envoy.extensions.transport_sockets.tls.v3.SubjectAltNameMatcher;
import io.envoyproxy.envoy.extensions.transport_sockets.tls.v3.TlsParameters;
import io.envoyproxy.envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext;
import io.envoyproxy.envoy.type.matcher.v3.StringMatcher;
import java.util.List;
import java.util.Set;

/** An InferenceProvider as a cluster of one name, with verified TLS and its own credential. */
final class ProviderClusters {
  /** Connections of the big providers and their load balancers live about a minute idle. */
  private static final int IDLE_SECONDS = 50;

  private static final int CONNECT_SECONDS = 5;
  private static final int DNS_REFRESH_SECONDS = 30;

  private ProviderClusters() {}

  static XdsResource translate(ProviderCluster provider, String systemBundlePath) {
    Cluster.Builder cluster = cluster(provider.name(), provider.host(), provider.port());
    cluster.setCircuitBreakers(PoolClusters.breakers(provider.concurrency()));
    List<HttpFilter> credential =
        provider.credential() == null
            ? List.of()
            : List.of(
                UpstreamFilters.credential(
                    provider.credential().header(), provider.credential().secretName()));
    List<HttpFilter> filters = UpstreamFilters.provider(UpstreamScript.of(provider), credential);
    var idle = Durations.fromSeconds(IDLE_SECONDS);
    ProviderCluster.Trust trust = provider.trust();
    if (trust == null) {
      cluster.putTypedExtensionProtocolOptions(
          HttpOptions.EXTENSION, HttpOptions.http1(idle, filters));
    } else {
      cluster.putTypedExtensionProtocolOptions(
          HttpOptions.EXTENSION, HttpOptions.negotiated(idle, filters));
      cluster.setTransportSocket(
          TransportSocket.newBuilder()
              .setName("envoy.transport_sockets.tls")
              .setTypedConfig(Any.pack(tls(provider.host(), trust, systemBundlePath))));
    }
    return XdsResource.of(XdsType.CLUSTER, provider.name(), cluster.build(), provider.owner())
        .withSecrets(Set.copyOf(provider.secretNames()));
  }

  /** Where the keys of a token issuer are fetched from; not for {@code file:} keys. */
  static XdsResource keys(TokenIssuer issuer, String systemBundlePath) {
    boolean tls = "https".equals(issuer.keys().getScheme());
    String host = issuer.keys().getHost();
    int port = issuer.keys().getPort() > 0 ? issuer.keys().getPort() : tls ? 443 : 80;
    String name = GatewayNames.keysCluster(issuer.name());
    Cluster.Builder cluster = cluster(name, host, port);
    if (tls) {
      cluster.setTransportSocket(
          TransportSocket.newBuilder()
              .setName("envoy.transport_sockets.tls")
              .setTypedConfig(
                  Any.pack(tls(host, new ProviderCluster.Trust.SystemBundle(), systemBundlePath))));
    }
    return XdsResource.of(XdsType.CLUSTER, name, cluster.build(), issuer.owner());
  }

  /** One host by name or address, without anything on top. */
  private static Cluster.Builder cluster(String name, String host, int port) {
    Cluster.Builder cluster =
        Cluster.newBuilder()
            .setName(name)
            .setConnectTimeout(Durations.fromSeconds(CONNECT_SECONDS))
            .setLoadAssignment(assignment(name, host, port));
    if (isIpLiteral(host)) {
      cluster.setType(Cluster.DiscoveryType.STATIC);
    } else {
      cluster.setClusterType(
          Cluster.CustomClusterType.newBuilder()
              .setName("envoy.clusters.dns")
              .setTypedConfig(Any.pack(dns())));
    }
    return cluster;
  }

  private static DnsCluster dns() {
    return DnsCluster.newBuilder()
        // One logical host of many addresses: big providers answer a different few each time.
        .setAllAddressesInSingleEndpoint(true)
        .setDnsLookupFamily(DnsLookupFamily.V4_PREFERRED)
        .setDnsRefreshRate(Durations.fromSeconds(DNS_REFRESH_SECONDS))
        .setRespectDnsTtl(true)
        .build();
  }

  private static ClusterLoadAssignment assignment(String name, String host, int port) {
    return ClusterLoadAssignment.newBuilder()
        .setClusterName(name)
        .addEndpoints(
            LocalityLbEndpoints.newBuilder()
                .addLbEndpoints(
                    LbEndpoint.newBuilder()
                        .setEndpoint(
                            Endpoint.newBuilder()
                                .setHostname(host)
                                .setAddress(LoadAssignments.address(host, port)))))
        .build();
  }

  private static UpstreamTlsContext tls(
      String host, ProviderCluster.Trust trust, String systemBundlePath) {
    boolean ip = isIpLiteral(host);
    CertificateValidationContext.Builder validation =
        CertificateValidationContext.newBuilder()
            .addMatchTypedSubjectAltNames(
                SubjectAltNameMatcher.newBuilder()
                    .setSanType(
                        ip
                            ? SubjectAltNameMatcher.SanType.IP_ADDRESS
                            : SubjectAltNameMatcher.SanType.DNS)
                    .setMatcher(StringMatcher.newBuilder().setExact(host)));
    CommonTlsContext.Builder common =
        CommonTlsContext.newBuilder()
            .setTlsParams(
                TlsParameters.newBuilder()
                    .setTlsMinimumProtocolVersion(TlsParameters.TlsProtocol.TLSv1_2));
    switch (trust) {
      // Envoy trusts nobody and verifies nothing unless it is given authorities.
      case ProviderCluster.Trust.SystemBundle _ ->
          common.setValidationContext(
              validation.setTrustedCa(DataSource.newBuilder().setFilename(systemBundlePath)));
      case ProviderCluster.Trust.SecretBundle bundle ->
          common.setCombinedValidationContext(
              CommonTlsContext.CombinedCertificateValidationContext.newBuilder()
                  .setDefaultValidationContext(validation)
                  .setValidationContextSdsSecretConfig(SecretReferences.ads(bundle.secretName())));
    }
    UpstreamTlsContext.Builder tls =
        UpstreamTlsContext.newBuilder()
            .setCommonTlsContext(common)
            .setMaxSessionKeys(UInt32Value.of(8));
    if (!ip) {
      tls.setSni(host);
    }
    return tls.build();
  }

  private static boolean isIpLiteral(String host) {
    return host.indexOf(':') >= 0 || host.chars().allMatch(c -> c == '.' || (c >= '0' && c <= '9'));
  }
}
