package dev.warmpath.benchmarks.replay;

import dev.warmpath.crds.v1alpha1.PoolSpec;
import dev.warmpath.simulator.engine.CacheModel;
import dev.warmpath.simulator.engine.EngineProfile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** Which workloads, modes and rules there are, and how each is set up. */
final class Suite {
  static final List<Integer> CONCURRENCIES = List.of(4, 8, 16, 24, 32);
  static final List<String> CLOSED_WORKLOADS = List.of("shared-prefix", "multi-turn");

  /** Nominal prefill speed of the reference engine, which operators would write down. */
  static final double TOKENS_PER_SECOND = 2_600;

  /**
   * A trace's worker holds 4,000 blocks of 512 tokens, as in the published comparison of the rules.
   */
  static final CacheModel TRACE_CACHE =
      new CacheModel(TraceWorkload.BLOCK_TOKENS, 4_000, false, 0, true);

  private Suite() {}

  /** The rules by name; each run gets a new one. */
  static Map<String, Replay.AlgorithmFactory> algorithms() {
    Map<String, Replay.AlgorithmFactory> all = new LinkedHashMap<>();
    all.put("random", (scenario, fleet) -> PeerRules.random(scenario.seed()));
    all.put("round-robin", (scenario, fleet) -> PeerRules.roundRobin());
    all.put("least-request", (scenario, fleet) -> PeerRules.leastRequest(scenario.seed()));
    all.put("session-affinity", (scenario, fleet) -> PeerRules.sessionAffinity());
    all.put("first-blocks", (scenario, fleet) -> PeerRules.firstBlocksAffinity());
    all.put(
        "prefix-threshold",
        (scenario, fleet) -> PeerRules.prefixThreshold(scenario.seed(), cacheTokens(scenario)));
    all.put(
        "filter-token",
        (scenario, fleet) ->
            PeerRules.filterToken(scenario.seed(), cacheTokens(scenario), TOKENS_PER_SECOND));
    all.put(
        "linear-cost",
        (scenario, fleet) -> PeerRules.linearCost(scenario.seed(), cacheTokens(scenario)));
    all.put(
        "lmetric", (scenario, fleet) -> PeerRules.lmetric(scenario.seed(), cacheTokens(scenario)));
    all.put(
        "predicted-ttft",
        (scenario, fleet) ->
            new PredictedTtftRule(fleet, PoolSpec.Algorithm.PredictedTTFT, scenario.seed()));
    all.put("oracle", (scenario, fleet) -> new OracleRule(fleet));
    return all;
  }

  private static long cacheTokens(Scenario scenario) {
    return scenario.profiles().getFirst().cache().capacityTokens();
  }

  static double objectiveSeconds(String workload) {
    return workload.equals("multi-turn") ? 4 : 8;
  }

  /** A scenario and the workload to run it with; a workload is used once. */
  record Row(Scenario scenario, Supplier<Workload> workload) {}

  static Row poisson(
      String workload, int workers, EngineProfile profile, int requests, double rate, long seed) {
    Supplier<Workload> supplier = () -> Workloads.poisson(workload, workers, requests, rate, seed);
    double perSecond = rate > 0 ? rate : 0.25 * workers / 3.0;
    long span = (long) (requests / perSecond * 1e9);
    return new Row(
        Scenario.of(
            workload, "poisson", 0, workers, profile, objectiveSeconds(workload), span, seed),
        supplier);
  }

  static Row closed(
      String workload,
      int workers,
      EngineProfile profile,
      int concurrency,
      int requests,
      long seed) {
    // A closed loop's length isn't known beforehand; four requests a minute and worker is a modest
    // guess.
    long span = (long) (requests / (workers * 4.0) * 60e9);
    return new Row(
        Scenario.of(
            workload,
            "closed",
            concurrency,
            workers,
            profile,
            objectiveSeconds(workload),
            span,
            seed),
        () -> Workloads.closed(workload, concurrency, requests, seed));
  }

  static Row trace(
      Path file, int workers, EngineProfile profile, int requests, double stretch, long seed)
      throws IOException {
    TraceWorkload workload = TraceWorkload.read(file, requests, stretch);
    String name = String.valueOf(file.getFileName()).replaceAll("\\.[a-z]+$", "");
    return new Row(
        Scenario.of(name, "trace", 0, workers, profile.withCache(TRACE_CACHE), 8, 0, seed),
        () -> workload);
  }
}
