package dev.warmpath.extproc.policy;

import dev.warmpath.extproc.label.Label;
import dev.warmpath.extproc.label.LabelSource;
import dev.warmpath.extproc.policy.ClusterState.PoolState;
import dev.warmpath.extproc.request.Dialect;
import dev.warmpath.extproc.tenant.Tenant;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What an expression sees while one request is planned. Candidate and endpoint move under it, so
 * that looking at a thousand endpoints allocates nothing. Confined to the planning thread.
 */
final class Scope {
  final RequestFacts request;
  final Tenant tenant;
  final Instant now;
  private final LabelSource source;
  private final Map<String, Label> labels = new LinkedHashMap<>();

  @Nullable BackendTarget backend;
  @Nullable PoolState pool;
  int endpoint = -1;

  private boolean meansKnown;
  private final PoolMeans means = new PoolMeans();

  Scope(RequestFacts request, Tenant tenant, LabelSource source, Instant now) {
    this.request = request;
    this.tenant = tenant;
    this.source = source;
    this.now = now;
  }

  /** For expressions that read nothing but the backend. */
  static Scope forBackendsOnly() {
    return new Scope(
        new RequestFacts("", "", Dialect.OPENAI, 0, 0, false, false, 0, 0, Map.of()),
        Tenant.ANONYMOUS,
        LabelSource.NONE,
        Instant.EPOCH);
  }

  void candidate(@Nullable BackendTarget backend, @Nullable PoolState pool) {
    this.backend = backend;
    this.pool = pool;
    this.endpoint = -1;
    this.meansKnown = false;
  }

  String label(String key) {
    Label label = labels.get(key);
    if (label == null) {
      label = source.label(key);
      labels.put(key, label);
    }
    return label.value();
  }

  Map<String, Label> labels() {
    return labels;
  }

  LabelSource.@Nullable Pending pending() {
    return source.pending();
  }

  /** Sums and means of the current candidate's pool; null for a provider. */
  @Nullable PoolMeans poolMeans() {
    PoolState current = pool;
    if (current == null) {
      return null;
    }
    if (!meansKnown) {
      means.compute(current);
      meansKnown = true;
    }
    return means;
  }

  /** Over the available workers; an unknown number of one worker makes that total unknown. */
  static final class PoolMeans {
    long queuedPrompts;
    long runningRequests;
    double kvCacheUsage;
    long readyWorkers;

    private void compute(PoolState pool) {
      queuedPrompts = 0;
      runningRequests = 0;
      kvCacheUsage = 0;
      readyWorkers = 0;
      for (int i = 0; i < pool.size(); i++) {
        if (!pool.available(i)) {
          continue;
        }
        readyWorkers++;
        queuedPrompts = add(queuedPrompts, pool.queuedPrompts(i));
        runningRequests = add(runningRequests, pool.runningRequests(i));
        kvCacheUsage += pool.kvCacheUsage(i); // NaN spreads
      }
      kvCacheUsage = readyWorkers == 0 ? Double.NaN : kvCacheUsage / readyWorkers;
    }

    private static long add(long sum, long value) {
      return sum < 0 || value < 0 ? -1 : sum + value;
    }
  }
}
