package dev.warmpath.extproc.policy.review;

import dev.warmpath.extproc.policy.ClusterState;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A state of the cluster, written down. Pools and providers are named as in their resources, with
 * or without namespace; a pool that isn't mentioned has one idle worker.
 *
 * @param unavailableProviders at their limit or failing
 * @param labels that take the place of classifiers
 */
public record SampleState(
    Map<String, List<Worker>> pools,
    Set<String> unavailableProviders,
    Map<String, Long> providerTtftNanos,
    Map<String, String> labels) {
  /** Everything is up and idle. */
  public static final SampleState IDLE = new SampleState(Map.of(), Set.of(), Map.of(), Map.of());

  private static final long IDLE_TTFT_NANOS = 200_000_000;
  private static final long PROVIDER_TTFT_NANOS = 900_000_000;

  /** One worker; a number that is not known is -1 or NaN. */
  public record Worker(
      String name,
      boolean ready,
      String set,
      String hardware,
      long queuedPrompts,
      long runningRequests,
      double kvCacheUsage,
      long cachedTokens,
      long predictedTtftNanos) {
    /** Ready, with nothing to do. */
    public static Worker idle(String name) {
      return new Worker(name, true, "", "", 0, 0, 0, 0, IDLE_TTFT_NANOS);
    }
  }

  public SampleState {
    pools = Map.copyOf(pools);
    unavailableProviders = Set.copyOf(unavailableProviders);
    providerTtftNanos = Map.copyOf(providerTtftNanos);
    labels = Map.copyOf(labels);
  }

  /** {@code pool/namespace/name} and {@code provider/namespace/name} are how clusters are named. */
  private static <T> T find(Map<String, T> byName, String cluster, T otherwise) {
    String full = cluster.substring(cluster.indexOf('/') + 1);
    T found = byName.get(full);
    if (found == null) {
      found = byName.get(full.substring(full.indexOf('/') + 1));
    }
    return found == null ? otherwise : found;
  }

  List<Worker> workers(String cluster) {
    return find(pools, cluster, List.of(Worker.idle("idle")));
  }

  ClusterState clusterState() {
    return new ClusterState() {
      @Override
      public PoolState pool(String clusterName) {
        return new Pool(workers(clusterName));
      }

      @Override
      public ProviderState provider(String clusterName) {
        String full = clusterName.substring(clusterName.indexOf('/') + 1);
        boolean available =
            !unavailableProviders.contains(full)
                && !unavailableProviders.contains(full.substring(full.indexOf('/') + 1));
        long nanos = find(providerTtftNanos, clusterName, PROVIDER_TTFT_NANOS);
        return new Provider(available, nanos);
      }
    };
  }

  private record Provider(boolean available, long predictedTtftNanos)
      implements ClusterState.ProviderState {}

  private record Pool(List<Worker> workers) implements ClusterState.PoolState {
    @Override
    public int size() {
      return workers.size();
    }

    @Override
    public boolean available(int index) {
      return workers.get(index).ready();
    }

    @Override
    public String name(int index) {
      return workers.get(index).name();
    }

    @Override
    public String set(int index) {
      return workers.get(index).set();
    }

    @Override
    public String hardware(int index) {
      return workers.get(index).hardware();
    }

    @Override
    public long queuedPrompts(int index) {
      return workers.get(index).queuedPrompts();
    }

    @Override
    public long runningRequests(int index) {
      return workers.get(index).runningRequests();
    }

    @Override
    public double kvCacheUsage(int index) {
      return workers.get(index).kvCacheUsage();
    }

    @Override
    public long cachedTokens(int index) {
      return workers.get(index).cachedTokens();
    }

    @Override
    public long predictedTtftNanos(int index) {
      return workers.get(index).predictedTtftNanos();
    }
  }
}
