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
  private final RoutingState state;
  private final RoutingSnapshot snapshot;
  private final PromptFingerprint prompt;

  PoolStates(RoutingState state, RoutingSnapshot snapshot, PromptFingerprint prompt) {
    this.state = state;
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
      state.lock.lock();
      try {
        for (int i = 0; i < all.length; i++) {
          ServedWorker worker = workers.get(i);
          WorkerSlot slot = worker.ready() ? state.workers.slot(worker) : null;
          all[i] = worker.ready() && (slot == null || !slot.model().down());
        }
      } finally {
        state.lock.unlock();
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
      state.lock.lock();
      try {
        WorkerSlot slot = state.workers.slot(workers.get(index));
        return slot == null ? -1 : slot.model().queuedPrompts();
      } finally {
        state.lock.unlock();
      }
    }

    @Override
    public long runningRequests(int index) {
      state.lock.lock();
      try {
        WorkerSlot slot = state.workers.slot(workers.get(index));
        return slot == null ? -1 : slot.model().runningRequests();
      } finally {
        state.lock.unlock();
      }
    }

    @Override
    public double kvCacheUsage(int index) {
      state.lock.lock();
      try {
        WorkerSlot slot = state.workers.slot(workers.get(index));
        Double ratio = slot == null ? null : slot.model().kvCacheUsedRatio();
        return ratio == null ? Double.NaN : ratio;
      } finally {
        state.lock.unlock();
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
      state.lock.lock();
      try {
        long now = state.nanoClock.getAsLong();
        LearntModel learnt = state.model(model);
        for (int i = 0; i < nanos.length; i++) {
          WorkerSlot slot = state.workers.slot(workers.get(i));
          if (slot == null) {
            nanos[i] = -1;
            tokens[i] = -1;
            continue;
          }
          Forecast forecast = state.forecast(slot, learnt, prompt, null, now);
          nanos[i] = (long) (forecast.medianSeconds * 1e9);
          tokens[i] = forecast.cachedTokens;
        }
      } finally {
        state.lock.unlock();
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
      if (limit <= 0) {
        return true;
      }
      state.lock.lock();
      try {
        return state.providers.inFlight(served.clusterName()) < limit;
      } finally {
        state.lock.unlock();
      }
    }

    @Override
    public long predictedTtftNanos() {
      if (served == null) {
        return -1;
      }
      state.lock.lock();
      try {
        ProviderModel model = state.providers.any(served.clusterName());
        return model == null
            ? served.spec().expectedTtft().toNanos()
            : (long) (model.medianSeconds(state.nanoClock.getAsLong()) * 1e9);
      } finally {
        state.lock.unlock();
      }
    }
  }
}
