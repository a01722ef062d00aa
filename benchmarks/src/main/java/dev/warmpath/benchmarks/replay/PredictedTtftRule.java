package dev.warmpath.benchmarks.replay;

import dev.warmpath.crds.config.GatewayNames;
import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.v1alpha1.LocalRef;
import dev.warmpath.crds.v1alpha1.PolicySpec;
import dev.warmpath.crds.v1alpha1.PoolSpec;
import dev.warmpath.crds.v1alpha1.WorkerSetSpec;
import dev.warmpath.extproc.candidate.ServedPool;
import dev.warmpath.extproc.candidate.WorkerGauges;
import dev.warmpath.extproc.candidate.WorkerId;
import dev.warmpath.extproc.inflight.InFlightRequest;
import dev.warmpath.extproc.request.PromptFingerprint;
import dev.warmpath.extproc.route.Placement;
import dev.warmpath.extproc.route.PoolRouter;
import dev.warmpath.extproc.route.Target;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * The gateway's own routing code, fed as the gateway feeds it: a configuration, prompts as chains
 * of block hashes, first tokens, usage and a scrape a second. It is told the nominal speed of the
 * reference hardware and nothing of any other.
 */
final class PredictedTtftRule implements Algorithm {
  /** 256 canonical bytes of English text. */
  private static final int BLOCK_TOKENS = 64;

  private static final long INDEX_BYTES = 256L << 20;
  private static final String NAMESPACE = "replay";
  private static final String POOL = "pool";

  private final PoolRouter router;
  private final Replay.Fleet fleet;
  private final PoolSpec.Algorithm algorithm;
  private final Map<Long, InFlightRequest> inFlight = new HashMap<>();
  private final Map<String, Integer> workerByEndpoint = new HashMap<>();
  private long nowNanos;
  private long generation;
  private @Nullable Forecast last;
  private long lastWaitNanos;

  PredictedTtftRule(Replay.Fleet fleet, PoolSpec.Algorithm algorithm, long seed) {
    this.fleet = fleet;
    this.algorithm = algorithm;
    this.router =
        new PoolRouter(
            INDEX_BYTES,
            () -> nowNanos,
            () -> Instant.EPOCH.plusNanos(nowNanos),
            new SplittableRandom(Prompt.mix(seed + 0x2545F4914F6CDD1DL)));
  }

  @Override
  public void fleetChanged(int[] workersUp, long now) {
    nowNanos = now;
    Map<String, List<RoutingConfiguration.Worker>> byHardware = new HashMap<>();
    for (int worker : workersUp) {
      byHardware
          .computeIfAbsent(fleet.hardware(worker), name -> new ArrayList<>())
          .add(
              new RoutingConfiguration.Worker(
                  name(worker),
                  "127.0.0.1",
                  port(worker),
                  "",
                  RoutingConfiguration.Worker.State.READY));
      workerByEndpoint.put("127.0.0.1:" + port(worker), worker);
    }
    List<RoutingConfiguration.WorkerSet> sets = new ArrayList<>();
    List<LocalRef> refs = new ArrayList<>();
    byHardware.forEach((hardware, workers) -> {
      sets.add(set(hardware, workers));
      refs.add(new LocalRef(hardware));
    });
    PoolSpec spec =
        new PoolSpec(
            "model",
            refs,
            new PoolSpec.Objective(Duration.ofSeconds(8), 0.9),
            new PoolSpec.Routing(algorithm),
            new PoolSpec.Limits(0),
            null);
    RoutingConfiguration.Id id = new RoutingConfiguration.Id(NAMESPACE, POOL, ++generation);
    RoutingConfiguration.Pool pool =
        new RoutingConfiguration.Pool(id, spec, GatewayNames.poolCluster(NAMESPACE, POOL));
    router.apply(
        new RoutingConfiguration(
            sets, List.of(pool), List.of(), List.of(), List.of(), List.of(), List.of()),
        "v" + generation);
  }

  private RoutingConfiguration.WorkerSet set(
      String hardware, List<RoutingConfiguration.Worker> workers) {
    boolean reference = hardware.equals(Scenario.SLOW);
    return new RoutingConfiguration.WorkerSet(
        new RoutingConfiguration.Id(NAMESPACE, hardware, generation),
        WorkerSetSpec.Engine.vLLM,
        new WorkerSetSpec.Metrics("/metrics", Duration.ofSeconds(1)),
        new WorkerSetSpec.KvEvents(WorkerSetSpec.KvEvents.Mode.Off, 5557, null, 1),
        new WorkerSetSpec.Profile(hardware, reference ? Suite.TOKENS_PER_SECOND : null, null, null),
        workers);
  }

  private static String name(int worker) {
    return "w" + worker;
  }

  private static int port(int worker) {
    return 10_000 + worker;
  }

  @Override
  public int choose(ReplayRequest request, long now, int[] workersUp) {
    nowNanos = now;
    ServedPool pool = router.snapshot().pool(GatewayNames.poolCluster(NAMESPACE, POOL));
    if (pool == null) {
      throw new IllegalStateException("the pool is not configured");
    }
    Placement placement =
        router.place(
            new Placement.Prompt(
                Long.toString(request.id()),
                PromptFingerprint.ofTokens(
                    request.prompt().chain(BLOCK_TOKENS), request.prompt().tokens(), BLOCK_TOKENS),
                true,
                List.of(List.of(Target.of(pool))),
                PolicySpec.Choose.PredictedTTFT,
                0));
    if (!(placement instanceof Placement.Placed placed)) {
      throw new IllegalStateException("not placed: " + placement);
    }
    inFlight.put(request.id(), placed.request());
    lastWaitNanos = placed.waitNanos();
    last =
        algorithm == PoolSpec.Algorithm.PredictedTTFT
            ? new Forecast(placed.medianSeconds(), placed.highSeconds())
            : null;
    Integer worker = workerByEndpoint.get(placed.destinations().getFirst());
    if (worker == null) {
      throw new IllegalStateException("no worker at " + placed.destinations().getFirst());
    }
    placed.request().attempted(placed.destinations().getFirst(), 1);
    return worker;
  }

  @Override
  public void firstToken(ReplayRequest request, int worker, long now) {
    nowNanos = now;
    InFlightRequest tracked = inFlight.get(request.id());
    if (tracked != null) {
      tracked.firstToken(now);
    }
  }

  @Override
  public void ended(ReplayRequest request, int worker, long now, int cachedTokens, boolean failed) {
    nowNanos = now;
    InFlightRequest tracked = inFlight.remove(request.id());
    if (tracked == null) {
      return;
    }
    if (!failed) {
      tracked.usage(
          new InFlightRequest.Usage(
              request.prompt().tokens(), cachedTokens, request.outputTokens()));
    }
    tracked.ended(
        failed ? InFlightRequest.Outcome.UPSTREAM_RESET : InFlightRequest.Outcome.COMPLETED, now);
  }

  @Override
  public void restarted(int worker, long now) {
    nowNanos = now;
    router.restarted(id(worker));
  }

  @Override
  public void scraped(int worker, int running, int waiting, double kvCacheUsedRatio, long now) {
    nowNanos = now;
    var cache = fleet.engine(worker).profile().cache();
    router.scraped(
        id(worker),
        new WorkerGauges(
            running,
            waiting,
            kvCacheUsedRatio,
            cache.capacityTokens(),
            cache.blockTokens(),
            null,
            null,
            now));
  }

  private WorkerId id(int worker) {
    return new WorkerId(NAMESPACE, fleet.hardware(worker), name(worker), "");
  }

  @Override
  public long lastWaitNanos() {
    return lastWaitNanos;
  }

  @Override
  public @Nullable Forecast lastForecast() {
    return last;
  }
}
