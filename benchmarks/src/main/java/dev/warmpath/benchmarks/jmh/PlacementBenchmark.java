package dev.warmpath.benchmarks.jmh;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.v1alpha1.LocalRef;
import dev.warmpath.crds.v1alpha1.PolicySpec;
import dev.warmpath.crds.v1alpha1.PoolSpec;
import dev.warmpath.crds.v1alpha1.WorkerSetSpec;
import dev.warmpath.extproc.candidate.ServedPool;
import dev.warmpath.extproc.inflight.InFlightRequest;
import dev.warmpath.extproc.request.PromptFingerprint;
import dev.warmpath.extproc.route.Placement;
import dev.warmpath.extproc.route.PoolRouter;
import dev.warmpath.extproc.route.Target;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
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
 * Predict, pick, reserve and release of a prompt of 16k tokens, by number of workers: everything
 * that happens under the router's lock for one request.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
    value = 1,
    jvmArgsAppend = {"--sun-misc-unsafe-memory-access=allow", "-Xmx1g"})
public class PlacementBenchmark {
  private static final String CLUSTER = "pool/bench/pool";
  private static final int BLOCKS = 254;
  private static final int PREFIXES = 24;

  @Param({"3", "100", "1000"})
  public int workers;

  /** Blocks of the prompt: of one token block (predict and pick alone), or of 16k tokens. */
  @Param({"1", "254"})
  public int blocks;

  private final PoolRouter router =
      new PoolRouter(256L << 20, System::nanoTime, InstantSource.system(), new SplittableRandom(1));
  private final List<PromptFingerprint> prompts = new ArrayList<>();
  private List<List<Target>> tiers = List.of();
  private int turn;
  private long id;

  @Setup
  public void fleet() {
    List<RoutingConfiguration.Worker> list = new ArrayList<>();
    for (int i = 0; i < workers; i++) {
      list.add(
          new RoutingConfiguration.Worker(
              "w" + i,
              "10.0." + i / 250 + "." + (1 + i % 250),
              8000,
              "",
              RoutingConfiguration.Worker.State.READY));
    }
    RoutingConfiguration.Id set = new RoutingConfiguration.Id("bench", "set", 1);
    router.apply(
        new RoutingConfiguration(
            List.of(
                new RoutingConfiguration.WorkerSet(
                    set,
                    WorkerSetSpec.Engine.vLLM,
                    new WorkerSetSpec.Metrics("/metrics", Duration.ofSeconds(1)),
                    new WorkerSetSpec.KvEvents(WorkerSetSpec.KvEvents.Mode.Off, 5557, null, 1),
                    new WorkerSetSpec.Profile("L40S", 2_600.0, 150_000L, 2_048),
                    list)),
            List.of(
                new RoutingConfiguration.Pool(
                    new RoutingConfiguration.Id("bench", "pool", 1),
                    new PoolSpec(
                        "model",
                        List.of(new LocalRef("set")),
                        new PoolSpec.Objective(Duration.ofSeconds(8), 0.9),
                        new PoolSpec.Routing(PoolSpec.Algorithm.PredictedTTFT),
                        new PoolSpec.Limits(0),
                        null),
                    CLUSTER)),
            List.of(),
            List.of(),
            List.of(),
            List.of(),
            List.of()),
        "v");
    ServedPool pool = Objects.requireNonNull(router.snapshot().pool(CLUSTER));
    tiers = List.of(List.of(Target.of(pool)));
    SplittableRandom random = new SplittableRandom(2);
    for (int p = 0; p < PREFIXES; p++) {
      long[] chain = new long[blocks];
      for (int i = 0; i < blocks; i++) {
        chain[i] = random.nextLong();
      }
      prompts.add(PromptFingerprint.ofTokens(chain, 64L * BLOCKS, 64));
    }
    // Every worker holds some of the prefixes.
    for (int i = 0; i < 4 * workers; i++) {
      place();
    }
  }

  @Benchmark
  public Placement place() {
    turn = (turn + 1) % PREFIXES;
    Placement placement =
        router.place(
            new Placement.Prompt(
                Long.toString(id++),
                prompts.get(turn),
                true,
                tiers,
                PolicySpec.Choose.PredictedTTFT,
                0));
    if (placement instanceof Placement.Placed placed) {
      InFlightRequest request = placed.request();
      request.ended(InFlightRequest.Outcome.CLIENT_GONE, 0);
    }
    return placement;
  }
}
