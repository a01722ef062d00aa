package dev.warmpath.benchmarks.jmh;

import dev.warmpath.crds.config.GatewayNames;
import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.v1alpha1.BackendSpec;
import dev.warmpath.crds.v1alpha1.LocalRef;
import dev.warmpath.crds.v1alpha1.PolicySpec;
import dev.warmpath.crds.v1alpha1.PoolSpec;
import dev.warmpath.extproc.label.Label;
import dev.warmpath.extproc.label.LabelSource;
import dev.warmpath.extproc.policy.ClusterState;
import dev.warmpath.extproc.policy.PolicyPlan;
import dev.warmpath.extproc.policy.PolicySnapshot;
import dev.warmpath.extproc.policy.RequestFacts;
import dev.warmpath.extproc.request.Dialect;
import dev.warmpath.extproc.tenant.Tenant;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * One plan under many policies that all match: each has a constraint over the request and the
 * backend, and the first routes to every backend with a filter over every endpoint. Target: at most
 * 150 us for 100 policies, 20 backends, 50 endpoints each; {@code -prof gc} shows whether bytes per
 * plan grow with the endpoints.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class PolicyPlanBenchmark {
  @Param({"100"})
  public int policies;

  @Param({"20"})
  public int backends;

  @Param({"5", "50"})
  public int endpoints;

  private final RequestFacts request =
      new RequestFacts(
          "qwen", "/v1/chat/completions", Dialect.OPENAI, 1200, 256, true, false, 0, 0, Map.of());
  private final LabelSource labels =
      key -> new Label("absent", Label.Source.BUILT_IN, List.of(), null, 0);

  @SuppressWarnings("NullAway.Init") // set up by JMH
  private PolicySnapshot snapshot;

  @SuppressWarnings("NullAway.Init") // set up by JMH
  private ClusterState state;

  @Setup
  public void setUp() {
    List<RoutingConfiguration.Pool> pools = new ArrayList<>();
    List<RoutingConfiguration.Backend> targets = new ArrayList<>();
    for (int i = 0; i < backends; i++) {
      pools.add(
          new RoutingConfiguration.Pool(
              id("pool" + i),
              new PoolSpec(
                  "model",
                  List.of(new LocalRef("set")),
                  new PoolSpec.Objective(Duration.ofSeconds(8), 0.9),
                  new PoolSpec.Routing(PoolSpec.Algorithm.PredictedTTFT),
                  new PoolSpec.Limits(64),
                  null),
              GatewayNames.poolCluster("default", "pool" + i)));
      targets.add(
          new RoutingConfiguration.Backend(
              id("backend" + i),
              new BackendSpec(
                  List.of("qwen"),
                  new LocalRef("pool" + i),
                  null,
                  Map.of("tier", "standard"),
                  new BackendSpec.Capabilities(32_768, true, true),
                  null,
                  List.of())));
    }
    List<RoutingConfiguration.Policy> rules = new ArrayList<>();
    for (int i = 0; i < policies; i++) {
      rules.add(new RoutingConfiguration.Policy(id("policy" + i), policy(i)));
    }
    snapshot =
        PolicySnapshot.compile(
            new RoutingConfiguration(
                List.of(), pools, List.of(), targets, rules, List.of(), List.of()),
            InstantSource.system());
    state = new Workers(endpoints);
  }

  private PolicySpec policy(int index) {
    PolicySpec.Route route =
        new PolicySpec.Route(
            List.of(
                new PolicySpec.Tier(
                    new PolicySpec.BackendSelector(List.of(), Map.of("tier", "standard")),
                    "endpoint.queuedPrompts < 8 && endpoint.kvCacheUsage < 0.9")),
            PolicySpec.Choose.PredictedTTFT,
            Duration.ZERO);
    return new PolicySpec(
        100,
        PolicySpec.Mode.Enforce,
        new PolicySpec.Match(List.of("qw*"), null, List.of(), "request.promptTokens < 2000"),
        List.of(
            new PolicySpec.Constraint(
                "k",
                "labels.pii != 'absent'",
                index % 2 == 0
                    ? "backend.external"
                    : "request.promptTokens > 100000 && backend.labels.tier == 'standard'",
                "no")),
        index == 0 ? route : null,
        new PolicySpec.OnNoCandidate(PolicySpec.OnNoCandidate.Action.Reject, 503, null, null));
  }

  private static RoutingConfiguration.Id id(String name) {
    return new RoutingConfiguration.Id("default", name, 1);
  }

  @Benchmark
  public PolicyPlan plan() {
    return snapshot.plan(request, Tenant.ANONYMOUS, labels, state);
  }

  /** Every pool has the same workers; reading one costs an array access. */
  private static final class Workers implements ClusterState, ClusterState.PoolState {
    private final long[] queued;
    private final double[] usage;

    Workers(int size) {
      queued = new long[size];
      usage = new double[size];
      for (int i = 0; i < size; i++) {
        queued[i] = i % 12;
        usage[i] = i % 10 / 10.0;
      }
    }

    @Override
    public PoolState pool(String clusterName) {
      return this;
    }

    @Override
    public ProviderState provider(String clusterName) {
      throw new UnsupportedOperationException("there is none");
    }

    @Override
    public int size() {
      return queued.length;
    }

    @Override
    public boolean available(int index) {
      return true;
    }

    @Override
    public String name(int index) {
      return "w";
    }

    @Override
    public String set(int index) {
      return "set";
    }

    @Override
    public String hardware(int index) {
      return "L40S";
    }

    @Override
    public long queuedPrompts(int index) {
      return queued[index];
    }

    @Override
    public long runningRequests(int index) {
      return queued[index];
    }

    @Override
    public double kvCacheUsage(int index) {
      return usage[index];
    }

    @Override
    public long cachedTokens(int index) {
      return 0;
    }

    @Override
    public long predictedTtftNanos(int index) {
      return 100_000_000;
    }
  }
}
