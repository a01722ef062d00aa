package dev.warmpath.xds.model;

import java.util.List;

/** All that Envoy is to have of the resources in force. Cluster and secret names are unique. */
public record GatewayModel(
    List<PoolCluster> pools,
    List<ProviderCluster> providers,
    List<Secret> secrets,
    List<TokenIssuer> issuers) {
  public GatewayModel {
    pools = List.copyOf(pools);
    providers = List.copyOf(providers);
    secrets = List.copyOf(secrets);
    issuers = List.copyOf(issuers);
  }

  public static GatewayModel empty() {
    return new GatewayModel(List.of(), List.of(), List.of(), List.of());
  }
}
