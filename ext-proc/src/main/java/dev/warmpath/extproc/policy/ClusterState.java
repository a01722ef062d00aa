package dev.warmpath.extproc.policy;

/**
 * What the gateway knows about pools and providers at one moment, for one request (cached tokens
 * and predictions depend on its prompt). Read during one call of {@code plan} and not kept.
 */
public interface ClusterState {

  /** State of the pool with that Envoy cluster name; a pool without workers has size 0. */
  PoolState pool(String clusterName);

  /** State of the provider with that Envoy cluster name. */
  ProviderState provider(String clusterName);

  /**
   * The workers of one pool, addressed by index so that reading one allocates nothing. Only the
   * indices for which {@link #available} holds are candidates. An unknown number is -1 or NaN,
   * never zero; a policy that reads it fails, which narrows.
   */
  interface PoolState {
    int size();

    /** Ready, not draining, not ejected. */
    boolean available(int index);

    String name(int index);

    /** Name of its worker set. */
    String set(int index);

    /** Empty where the operator did not say. */
    String hardware(int index);

    long queuedPrompts(int index);

    long runningRequests(int index);

    /** 0 to 1. */
    double kvCacheUsage(int index);

    /** Tokens of this prompt that the worker probably holds. */
    long cachedTokens(int index);

    /** Of this prompt; may be computed on the first call. */
    long predictedTtftNanos(int index);
  }

  /** One provider. */
  interface ProviderState {
    /** Below its concurrency limit and not in an outage. */
    boolean available();

    /** Observed, or the prior of the resource. */
    long predictedTtftNanos();
  }
}
