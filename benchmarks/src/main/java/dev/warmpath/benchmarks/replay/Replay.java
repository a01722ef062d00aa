package dev.warmpath.benchmarks.replay;

import dev.warmpath.simulator.engine.CacheListener;
import dev.warmpath.simulator.engine.Engine;
import dev.warmpath.simulator.engine.EngineListener;
import dev.warmpath.simulator.engine.EngineProfile;
import dev.warmpath.simulator.engine.EngineRequest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * One run: a workload's arrivals, a routing rule and engine models on one virtual clock. One
 * thread; the same seed gives the same run.
 *
 * <p>The network between gateway and worker takes no time: a first token is known to the gateway
 * when it exists. A request that a worker refuses, or loses in a restart, is a failure; nobody
 * retries, so that every rule pays alike.
 */
final class Replay implements Workload.Schedule {
  private static final long SCRAPE_NANOS = 1_000_000_000L;

  /** What happens at a time: an arrival, a request that leaves, or a change of the fleet. */
  private record Due(long atNanos, long order, Runnable what) {}

  /** A request at a worker. */
  private record Placed(
      ReplayRequest request,
      int worker,
      long arrivalNanos,
      Algorithm.@Nullable Forecast forecast) {}

  private final Scenario scenario;
  private final Algorithm algorithm;
  private final String algorithmName;
  private final Fleet fleet;
  private final PriorityQueue<Due> due =
      new PriorityQueue<>(Comparator.comparingLong(Due::atNanos).thenComparingLong(Due::order));
  private final Tally tally;
  private final Workload workload;
  private long nowNanos;
  private long order;
  private long open;

  /** Makes a rule for a run; it may look at the fleet if it is the oracle. */
  interface AlgorithmFactory {
    Algorithm create(Scenario scenario, Fleet fleet);
  }

  Replay(Scenario scenario, Workload workload, String algorithmName, AlgorithmFactory factory) {
    this.scenario = scenario;
    this.workload = workload;
    this.algorithmName = algorithmName;
    this.tally = new Tally(scenario.objectiveSeconds());
    this.fleet = new Fleet();
    for (int i = 0; i < scenario.profiles().size(); i++) {
      fleet.add(scenario.profiles().get(i), scenario.hardware().get(i), scenario.seed() + i);
    }
    this.algorithm = factory.create(scenario, fleet);
  }

  Result run() {
    long wallStart = System.nanoTime();
    for (Scenario.FleetEvent change : scenario.fleetEvents()) {
      due.add(new Due(change.atNanos(), order++, () -> change(change)));
    }
    algorithm.fleetChanged(fleet.up(), 0);
    scrape(); // a gateway has read every worker's metrics before it takes traffic
    workload.start(this);
    long nextScrape = SCRAPE_NANOS;
    while (open > 0) {
      Due next = due.peek();
      int engine = fleet.earliest();
      long engineAt = engine < 0 ? Long.MAX_VALUE : fleet.engine(engine).nextEventNanos();
      long dueAt = next == null ? Long.MAX_VALUE : next.atNanos();
      if (nextScrape < Math.min(engineAt, dueAt)) {
        // Nothing happens before the next event, so one scrape stands for all that were due until
        // then.
        long skipped = (Math.min(engineAt, dueAt) - 1 - nextScrape) / SCRAPE_NANOS;
        nowNanos = nextScrape + skipped * SCRAPE_NANOS;
        nextScrape = nowNanos + SCRAPE_NANOS;
        scrape();
      } else if (engineAt <= dueAt) {
        nowNanos = engineAt;
        fleet.engine(engine).advanceTo(engineAt);
      } else {
        due.remove(next);
        nowNanos = dueAt;
        next.what().run();
      }
    }
    return tally.result(
        scenario.workload(),
        scenario.mode(),
        scenario.concurrency(),
        algorithmName,
        scenario.profiles().size(),
        scenario.seed(),
        fleet.workSeconds(),
        (System.nanoTime() - wallStart) / 1e9);
  }

  @Override
  public void at(long atNanos, ReplayRequest request) {
    open++;
    due.add(new Due(Math.max(atNanos, nowNanos), order++, () -> arrive(request)));
  }

  private void change(Scenario.FleetEvent change) {
    switch (change) {
      case Scenario.FleetEvent.Restart restart -> {
        fleet.engine(restart.worker()).restart(nowNanos);
        algorithm.restarted(restart.worker(), nowNanos);
      }
      case Scenario.FleetEvent.Add add -> {
        fleet.add(add.profile(), add.hardware(), scenario.seed() + fleet.size());
        algorithm.fleetChanged(fleet.up(), nowNanos);
      }
      case Scenario.FleetEvent.Drain drain -> {
        fleet.drain(drain.worker());
        algorithm.fleetChanged(fleet.up(), nowNanos);
      }
    }
  }

  private void arrive(ReplayRequest request) {
    int worker = algorithm.choose(request, nowNanos, fleet.up());
    Engine engine = fleet.engine(worker);
    Prompt whole = request.prompt().plus(request.answerId(), request.outputTokens());
    EngineRequest sent =
        new EngineRequest(
            whole.engineChain(engine.profile().cache().blockTokens()),
            request.prompt().tokens(),
            request.outputTokens(),
            new Placed(request, worker, nowNanos, algorithm.lastForecast()));
    long waitNanos = algorithm.lastWaitNanos();
    if (waitNanos == 0) {
      submit(engine, sent);
    } else {
      due.add(new Due(nowNanos + waitNanos, order++, () -> submit(engine, sent)));
    }
  }

  private void submit(Engine engine, EngineRequest sent) {
    engine.advanceTo(nowNanos);
    if (engine.submit(sent, nowNanos) != Engine.Admission.ACCEPTED) {
      failed(sent);
    }
  }

  private void failed(EngineRequest sent) {
    Placed placed = placed(sent);
    open--;
    tally.failed(nowNanos);
    algorithm.ended(placed.request(), placed.worker(), nowNanos, 0, true);
    workload.ended(placed.request(), nowNanos, this);
  }

  private void scrape() {
    for (int worker : fleet.up()) {
      Engine engine = fleet.engine(worker);
      algorithm.scraped(
          worker, engine.runningRequests(), engine.waitingRequests(), engine.usedRatio(), nowNanos);
    }
  }

  private static Placed placed(EngineRequest sent) {
    if (sent.attachment() instanceof Placed placed) {
      return placed;
    }
    throw new IllegalStateException("a request that the replay did not send");
  }

  /** The workers of a run. Numbers count up and are not reused. */
  final class Fleet {
    private final List<Engine> engines = new ArrayList<>();
    private final List<String> hardware = new ArrayList<>();
    private int[] up = new int[0];

    private void add(EngineProfile profile, String hardwareName, long seed) {
      int number = engines.size();
      engines.add(new Engine(profile, seed, new Events(), CacheListener.NONE, false));
      hardware.add(hardwareName);
      up = Arrays.copyOf(up, up.length + 1);
      up[up.length - 1] = number;
    }

    private void drain(int worker) {
      up = Arrays.stream(up).filter(other -> other != worker).toArray();
    }

    int size() {
      return engines.size();
    }

    /** Workers that take requests. Not to be changed by the caller. */
    int[] up() {
      return up;
    }

    Engine engine(int worker) {
      return engines.get(worker);
    }

    String hardware(int worker) {
      return hardware.get(worker);
    }

    /** The engine whose next event comes first, or -1 if all are idle. */
    private int earliest() {
      int best = -1;
      long bestAt = Long.MAX_VALUE;
      for (int i = 0; i < engines.size(); i++) {
        long at = engines.get(i).nextEventNanos();
        if (at < bestAt) {
          bestAt = at;
          best = i;
        }
      }
      return best;
    }

    /** Seconds of prefill and decode each worker did, estimated from its token counts. */
    private double[] workSeconds() {
      return engines.stream()
          .mapToDouble(
              e -> e.stats().prefillTokens() * 0.383e-3 + e.stats().generatedTokens() * 41.5e-3 / 8)
          .toArray();
    }
  }

  /** One engine's events, told to the rule under test, the tally and the workload. */
  private final class Events implements EngineListener {
    @Override
    public void onFirstToken(EngineRequest sent, long atNanos) {
      nowNanos = Math.max(nowNanos, atNanos);
      Placed placed = placed(sent);
      algorithm.firstToken(placed.request(), placed.worker(), atNanos);
    }

    @Override
    public void onFinished(EngineRequest sent, long atNanos) {
      nowNanos = Math.max(nowNanos, atNanos);
      Placed placed = placed(sent);
      open--;
      tally.completed(
          (sent.firstTokenNanos() - placed.arrivalNanos()) / 1e9,
          (atNanos - placed.arrivalNanos()) / 1e9,
          sent.promptTokens(),
          sent.cachedTokens(),
          atNanos,
          placed.forecast());
      algorithm.ended(placed.request(), placed.worker(), atNanos, sent.cachedTokens(), false);
      workload.ended(placed.request(), atNanos, Replay.this);
    }

    @Override
    public void onRejected(EngineRequest sent, long atNanos) {
      nowNanos = Math.max(nowNanos, atNanos);
      failed(sent);
    }

    @Override
    public void onLost(EngineRequest sent, long atNanos) {
      nowNanos = Math.max(nowNanos, atNanos);
      failed(sent);
    }

    @Override
    public void onSteps(
        long steps, int decoders, long prefillTokens, long firstGapNanos, long lastGapNanos) {
      if (decoders > 0) {
        // Gaps inside a run change by so little that its two halves stand for all.
        tally.gap(firstGapNanos, (steps + 1) / 2 * decoders);
        if (steps > 1) {
          tally.gap(lastGapNanos, steps / 2 * decoders);
        }
      }
    }
  }
}
