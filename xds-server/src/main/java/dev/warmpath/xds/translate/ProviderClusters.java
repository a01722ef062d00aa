package dev.warmpath.xds.translate;

import com.google.protobuf.Any;
import com.google.protobuf.UInt32Value;
import com.google.protobuf.util.Durations;
import dev.warmpath.xds.model.ProviderCluster;
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
    Cluster.Builder cluster =
        Cluster.newBuilder()
            .setName(provider.name())
            .setConnectTimeout(Durations.fromSeconds(CONNECT_SECONDS))
            .setCircuitBreakers(PoolClusters.breakers(provider.concurrency()))
            .setLoadAssignment(assignment(provider));
    if (isIpLiteral(provider.host())) {
      cluster.setType(Cluster.DiscoveryType.STATIC);
    } else {
      cluster.setClusterType(
          Cluster.CustomClusterType.newBuilder()
              .setName("envoy.clusters.dns")
              .setTypedConfig(Any.pack(dns())));
    }
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

  private static DnsCluster dns() {
    return DnsCluster.newBuilder()
        // One logical host of many addresses: big providers answer a different few each time.
        .setAllAddressesInSingleEndpoint(true)
        .setDnsLookupFamily(DnsLookupFamily.V4_PREFERRED)
        .setDnsRefreshRate(Durations.fromSeconds(DNS_REFRESH_SECONDS))
        .setRespectDnsTtl(true)
        .build();
  }

  private static ClusterLoadAssignment assignment(ProviderCluster provider) {
    return ClusterLoadAssignment.newBuilder()
        .setClusterName(provider.name())
        .addEndpoints(
            LocalityLbEndpoints.newBuilder()
                .addLbEndpoints(
                    LbEndpoint.newBuilder()
                        .setEndpoint(
                            Endpoint.newBuilder()
                                .setHostname(provider.host())
                                .setAddress(
                                    LoadAssignments.address(provider.host(), provider.port())))))
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
