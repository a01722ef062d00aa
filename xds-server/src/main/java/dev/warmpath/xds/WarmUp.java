package dev.warmpath.xds;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.resource.Kind;
import dev.warmpath.crds.resource.Resource;
import dev.warmpath.xds.model.Endpoint;
import dev.warmpath.xds.model.GatewayModel;
import dev.warmpath.xds.model.PoolCluster;
import dev.warmpath.xds.model.ProviderCluster;
import dev.warmpath.xds.model.Secret;
import dev.warmpath.xds.rollout.Desired;
import java.util.List;

/** One of everything, never served: for loading classes before somebody waits for them. */
final class WarmUp {
  private WarmUp() {}

  static Desired sample() {
    Resource.Key pool = new Resource.Key(Kind.POOL, "warm-up", "warm-up");
    Resource.Key provider = new Resource.Key(Kind.PROVIDER, "warm-up", "warm-up");
    return new Desired(
        new GatewayModel(
            List.of(
                new PoolCluster(
                    pool,
                    "warm-up-pool",
                    List.of(new Endpoint("127.0.0.1", 1, Endpoint.Health.HEALTHY)))),
            List.of(
                new ProviderCluster(
                    provider,
                    "warm-up-provider",
                    "localhost",
                    1,
                    new ProviderCluster.Trust.SystemBundle(),
                    ProviderCluster.Path.UNCHANGED,
                    new ProviderCluster.Credential("authorization", "warm-up"),
                    1)),
            List.of(new Secret(provider, "warm-up", Secret.Use.CREDENTIAL, "none")),
            List.of()),
        RoutingConfiguration.empty());
  }
}
