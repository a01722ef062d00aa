package dev.warmpath.xds.translate;

import com.google.protobuf.UInt32Value;
import com.google.protobuf.util.Durations;
import dev.warmpath.xds.model.PoolCluster;
import io.envoyproxy.envoy.config.cluster.v3.CircuitBreakers;
import io.envoyproxy.envoy.config.cluster.v3.Cluster;
import io.envoyproxy.envoy.type.v3.Percent;

/**
 * An InferencePool as an EDS cluster. It holds nothing that changes with the workers: a changed
 * cluster is warmed anew and drops its connections, a changed load assignment is not.
 */
final class PoolClusters {
  /** Below the 5 s after which vLLM's HTTP server closes an idle connection under our feet. */
  private static final int IDLE_SECONDS = 4;

  /** One connection for each running request; Envoy's default of 1024 is a hidden limit. */
  private static final int MAX_PARALLEL = 50_000;

  private static final int RETRY_PERCENT = 20;
  private static final int MIN_RETRY_CONCURRENCY = 10;

  private PoolClusters() {}

  static XdsResource translate(PoolCluster pool) {
    Cluster cluster =
        Cluster.newBuilder()
            .setName(pool.name())
            .setType(Cluster.DiscoveryType.EDS)
            .setEdsClusterConfig(
                Cluster.EdsClusterConfig.newBuilder().setEdsConfig(SecretReferences.ads()))
            .setConnectTimeout(Durations.fromSeconds(1))
            .setCircuitBreakers(breakers(MAX_PARALLEL))
            // No panic: with every worker unhealthy a request fails at once and can go elsewhere.
            .setCommonLbConfig(
                Cluster.CommonLbConfig.newBuilder()
                    .setHealthyPanicThreshold(Percent.getDefaultInstance()))
            .setIgnoreHealthOnHostRemoval(true)
            .setLoadBalancingPolicy(OverrideHostPolicy.policy())
            .putTypedExtensionProtocolOptions(
                HttpOptions.EXTENSION,
                HttpOptions.http1(
                    Durations.fromSeconds(IDLE_SECONDS),
                    UpstreamFilters.pool(UpstreamScript.of(pool))))
            .build();
    return XdsResource.of(XdsType.CLUSTER, pool.name(), cluster, pool.owner());
  }

  static CircuitBreakers breakers(int parallel) {
    return CircuitBreakers.newBuilder()
        .addThresholds(
            CircuitBreakers.Thresholds.newBuilder()
                .setMaxConnections(UInt32Value.of(parallel))
                .setMaxPendingRequests(UInt32Value.of(parallel))
                .setMaxRequests(UInt32Value.of(parallel))
                .setRetryBudget(
                    CircuitBreakers.Thresholds.RetryBudget.newBuilder()
                        .setBudgetPercent(Percent.newBuilder().setValue(RETRY_PERCENT))
                        .setMinRetryConcurrency(UInt32Value.of(MIN_RETRY_CONCURRENCY))))
        .build();
  }
}
