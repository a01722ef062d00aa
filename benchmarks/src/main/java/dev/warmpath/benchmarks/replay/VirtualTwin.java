package dev.warmpath.benchmarks.replay;

import dev.warmpath.simulator.engine.EngineProfile;
import java.util.List;

/**
 * Arrivals that the real stack has served, once more in virtual time: same prefixes, same times,
 * same engine model, but no HTTP, no Envoy and no clock between them and the routing code. What the
 * real one picks worse, it loses on the way.
 */
public final class VirtualTwin {
  private VirtualTwin() {}

  /** One request: when, and with which of the shared prefixes. */
  public record Arrival(long atNanos, int prefix) {}

  /** Sizes of each request in tokens. */
  public record Sizes(int prefixTokens, int uniqueTokens, int outputTokens) {}

  /** What came of a run; times in seconds of the engine's own clock. */
  public record Outcome(
      double ttftP50Seconds,
      double ttftP90Seconds,
      double endToEndP50Seconds,
      double cachedRatio,
      int failed) {}

  /**
   * Runs one rule.
   *
   * @param algorithm a name of {@code warmpath replay --algorithm}
   */
  public static Outcome run(
      String algorithm,
      EngineProfile profile,
      int workers,
      List<Arrival> arrivals,
      Sizes sizes,
      long seed) {
    Replay.AlgorithmFactory factory = Suite.algorithms().get(algorithm);
    if (factory == null) {
      throw new IllegalArgumentException("no rule " + algorithm);
    }
    Scenario scenario =
        Scenario.of("twin", "trace", 0, workers, profile, Suite.objectiveSeconds("twin"), 0, seed);
    Workload workload =
        schedule -> {
          for (int i = 0; i < arrivals.size(); i++) {
            Arrival arrival = arrivals.get(i);
            Prompt prompt =
                Prompt.empty()
                    .plus(arrival.prefix() + 1L, sizes.prefixTokens())
                    .plus((1L << 40) + 2L * i, sizes.uniqueTokens());
            schedule.at(
                arrival.atNanos(),
                new ReplayRequest(i, i, 0, prompt, sizes.outputTokens(), (1L << 40) + 2L * i + 1));
          }
        };
    Result result = new Replay(scenario, workload, algorithm, factory).run();
    return new Outcome(
        result.ttftP50(), result.ttftP90(), result.e2eP50(), result.cachedRatio(), result.failed());
  }
}
