package dev.warmpath.extproc.route;

import dev.warmpath.extproc.candidate.ServedPool;
import dev.warmpath.extproc.candidate.ServedProvider;
import dev.warmpath.extproc.candidate.ServedWorker;
import dev.warmpath.extproc.policy.ClusterState;
import dev.warmpath.extproc.predict.Forecast;
import dev.warmpath.extproc.predict.ProviderModel;
import dev.warmpath.extproc.request.PromptFingerprint;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The state of pools and providers for one request, as policies see it. Numbers are read when they
 * are asked for; predictions of a pool are made once, on the first question.
 *
 * <p>For one thread and one request.
 */
final class PoolStates implements ClusterState {
  private final PoolRouter router;
  private final RoutingSnapshot snapshot;
  private final PromptFingerprint prompt;

  PoolStates(PoolRouter router, RoutingSnapshot snapshot, PromptFingerprint prompt) {
    this.router = router;
    this.snapshot = snapshot;
    this.prompt = prompt;
  }

  @Override
  public PoolState pool(String clusterName) {
    ServedPool pool = snapshot.pool(clusterName);
    return new Pool(pool == null ? List.of() : pool.workers(), pool == null ? "" : pool.model());
  }

  @Override
  public ProviderState provider(String clusterName) {
    ServedProvider provider = snapshot.provider(clusterName);
    return new Provider(provider);
  }

  private final class Pool implements PoolState {
    private final List<ServedWorker> workers;
    private final String model;
    private boolean @Nullable [] available;
    private long @Nullable [] ttftNanos;
    private long @Nullable [] cached;

    Pool(List<ServedWorker> workers, String model) {
      this.workers = workers;
      this.model = model;
    }

    @Override
    public int size() {
      return workers.size();
    }

    @Override
    public boolean available(int index) {
      boolean[] known = available;
      return known != null ? known[index] : askAll()[index];
    }

    /** Every plan asks for each worker, so the lock is taken once for all. */
    private boolean[] askAll() {
      boolean[] all = new boolean[workers.size()];
      router.lock.lock();
      try {
        for (int i = 0; i < all.length; i++) {
          ServedWorker worker = workers.get(i);
          WorkerSlot slot = worker.ready() ? router.slot(worker) : null;
          all[i] = worker.ready() && (slot == null || !slot.model().down());
        }
      } finally {
        router.lock.unlock();
      }
      available = all;
      return all;
    }

    @Override
    public String name(int index) {
      return workers.get(index).id().name();
    }

    @Override
    public String set(int index) {
      return workers.get(index).id().set();
    }

    @Override
    public String hardware(int index) {
      String hardware = workers.get(index).profile().hardware();
      return hardware == null ? "" : hardware;
    }

    @Override
    public long queuedPrompts(int index) {
      router.lock.lock();
      try {
        WorkerSlot slot = router.slot(workers.get(index));
        return slot == null ? -1 : slot.model().queuedPrompts();
      } finally {
        router.lock.unlock();
      }
    }

    @Override
    public long runningRequests(int index) {
      router.lock.lock();
      try {
        WorkerSlot slot = router.slot(workers.get(index));
        return slot == null ? -1 : slot.model().runningRequests();
      } finally {
        router.lock.unlock();
      }
    }

    @Override
    public double kvCacheUsage(int index) {
      router.lock.lock();
      try {
        WorkerSlot slot = router.slot(workers.get(index));
        Double ratio = slot == null ? null : slot.model().kvCacheUsedRatio();
        return ratio == null ? Double.NaN : ratio;
      } finally {
        router.lock.unlock();
      }
    }

    @Override
    public long cachedTokens(int index) {
      long[] values = cached;
      return values != null ? values[index] : predict(false)[index];
    }

    @Override
    public long predictedTtftNanos(int index) {
      long[] values = ttftNanos;
      return values != null ? values[index] : predict(true)[index];
    }

    private long[] predict(boolean times) {
      long[] nanos = new long[workers.size()];
      long[] tokens = new long[workers.size()];
      router.lock.lock();
      try {
        long now = router.nanoClock.getAsLong();
        PoolRouter.ModelFacts facts = router.facts(model);
        for (int i = 0; i < nanos.length; i++) {
          WorkerSlot slot = router.slot(workers.get(i));
          if (slot == null) {
            nanos[i] = -1;
            tokens[i] = -1;
            continue;
          }
          Forecast forecast = router.forecast(slot, facts, prompt, null, now);
          nanos[i] = (long) (forecast.medianSeconds * 1e9);
          tokens[i] = forecast.cachedTokens;
        }
      } finally {
        router.lock.unlock();
      }
      ttftNanos = nanos;
      cached = tokens;
      return times ? nanos : tokens;
    }
  }

  private final class Provider implements ProviderState {
    private final @Nullable ServedProvider served;

    Provider(@Nullable ServedProvider served) {
      this.served = served;
    }

    @Override
    public boolean available() {
      if (served == null) {
        return false;
      }
      int limit = served.spec().limits().concurrency();
      return limit <= 0 || router.providerInFlight(served.clusterName()) < limit;
    }

    @Override
    public long predictedTtftNanos() {
      if (served == null) {
        return -1;
      }
      ProviderModel model = router.anyProviderModel(served.clusterName());
      if (model == null) {
        return served.spec().expectedTtft().toNanos();
      }
      router.lock.lock();
      try {
        return (long) (model.medianSeconds(router.nanoClock.getAsLong()) * 1e9);
      } finally {
        router.lock.unlock();
      }
    }
  }
}
