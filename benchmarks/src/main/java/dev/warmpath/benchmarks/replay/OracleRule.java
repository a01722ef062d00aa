package dev.warmpath.benchmarks.replay;

import dev.warmpath.simulator.engine.Oracle;
import java.util.HashMap;
import java.util.Map;

/**
 * Reads the engines' insides and takes the worker whose first token would truly come first; greedy,
 * so not optimal.
 */
final class OracleRule implements Algorithm {
  private final Replay.Fleet fleet;
  private final Map<Integer, Oracle> oracles = new HashMap<>();

  OracleRule(Replay.Fleet fleet) {
    this.fleet = fleet;
  }

  @Override
  public int choose(ReplayRequest request, long nowNanos, int[] workersUp) {
    int best = workersUp[0];
    long bestNanos = Long.MAX_VALUE;
    Prompt whole = request.prompt().plus(request.answerId(), request.outputTokens());
    for (int worker : workersUp) {
      var engine = fleet.engine(worker);
      engine.advanceTo(nowNanos);
      long nanos =
          oracles
              .computeIfAbsent(worker, w -> new Oracle(engine))
              .ttftNanos(
                  whole.engineChain(engine.profile().cache().blockTokens()),
                  request.prompt().tokens(),
                  nowNanos);
      if (nanos < bestNanos) {
        best = worker;
        bestNanos = nanos;
      }
    }
    return best;
  }
}
