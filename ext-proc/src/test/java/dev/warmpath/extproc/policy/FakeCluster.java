package dev.warmpath.extproc.policy;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A cluster state written down by a test. */
final class FakeCluster implements ClusterState {
  private final Map<String, List<Worker>> pools = new HashMap<>();
  private final Set<String> failingProviders = new HashSet<>();

  record Worker(
      String name,
      boolean available,
      String hardware,
      long queuedPrompts,
      long runningRequests,
      double kvCacheUsage,
      long cachedTokens,
      long predictedTtftNanos) {}

  static Worker worker(String name, long queuedPrompts) {
    return new Worker(name, true, "L40S", queuedPrompts, queuedPrompts, 0.5, 0, 100_000_000);
  }

  FakeCluster pool(String name, Worker... workers) {
    pools.put("pool/default/" + name, List.of(workers));
    return this;
  }

  FakeCluster pool(String name, List<Worker> workers) {
    pools.put("pool/default/" + name, new ArrayList<>(workers));
    return this;
  }

  FakeCluster failing(String provider) {
    failingProviders.add("provider/default/" + provider);
    return this;
  }

  @Override
  public PoolState pool(String clusterName) {
    return new State(pools.getOrDefault(clusterName, List.of()));
  }

  @Override
  public ProviderState provider(String clusterName) {
    boolean available = !failingProviders.contains(clusterName);
    return new ProviderState() {
      @Override
      public boolean available() {
        return available;
      }

      @Override
      public long predictedTtftNanos() {
        return 900_000_000;
      }
    };
  }

  private record State(List<Worker> workers) implements PoolState {
    @Override
    public int size() {
      return workers.size();
    }

    @Override
    public boolean available(int index) {
      return workers.get(index).available();
    }

    @Override
    public String name(int index) {
      return workers.get(index).name();
    }

    @Override
    public String set(int index) {
      return "set";
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
