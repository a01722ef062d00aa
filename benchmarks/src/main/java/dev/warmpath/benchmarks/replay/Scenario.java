package dev.warmpath.benchmarks.replay;

import dev.warmpath.simulator.engine.EngineProfile;
import java.util.ArrayList;
import java.util.List;

/**
 * One workload against one fleet.
 *
 * @param workload name
 * @param mode {@code poisson}, {@code closed} or {@code trace}
 * @param concurrency requests in flight in a closed loop, else 0
 * @param profiles engine of each worker that exists at the start
 * @param hardware hardware name of each, as an operator would write it
 * @param fleetEvents what happens to the fleet, in order of time
 * @param objectiveSeconds time to first token that counts as good
 */
record Scenario(
    String workload,
    String mode,
    int concurrency,
    List<EngineProfile> profiles,
    List<String> hardware,
    List<FleetEvent> fleetEvents,
    double objectiveSeconds,
    long seed) {

  /** A change of the fleet at a time of the virtual clock. */
  sealed interface FleetEvent {
    long atNanos();

    /** A process starts anew in place, with an empty cache; what it was working on is lost. */
    record Restart(long atNanos, int worker) implements FleetEvent {}

    /** One more worker with this engine. */
    record Add(long atNanos, EngineProfile profile, String hardware) implements FleetEvent {}

    /** No new requests go there; what runs is finished. */
    record Drain(long atNanos, int worker) implements FleetEvent {}
  }

  static final String SLOW = "L40S";
  static final String FAST = "H100";

  static Scenario of(
      String workload,
      String mode,
      int concurrency,
      int workers,
      EngineProfile profile,
      double objectiveSeconds,
      long spanNanos,
      long seed) {
    List<EngineProfile> profiles = new ArrayList<>();
    List<String> hardware = new ArrayList<>();
    for (int i = 0; i < workers; i++) {
      boolean fast = workload.equals("hetero") && i % 3 == 2;
      profiles.add(fast ? profile.fasterBy(3) : profile);
      hardware.add(fast ? FAST : SLOW);
    }
    List<FleetEvent> events = new ArrayList<>();
    if (workload.equals("churn")) {
      // Restarts spread over the first half, then twice the fleet, then back.
      for (int i = 0; i < workers; i++) {
        events.add(new FleetEvent.Restart(spanNanos * (2 + i) / (3L * (workers + 4)), i));
      }
      for (int i = 0; i < workers; i++) {
        events.add(new FleetEvent.Add(spanNanos / 2 + i, profile, SLOW));
      }
      for (int i = 0; i < workers; i++) {
        events.add(new FleetEvent.Drain(spanNanos * 3 / 4 + i, workers + i));
      }
    }
    return new Scenario(
        workload, mode, concurrency, profiles, hardware, events, objectiveSeconds, seed);
  }
}
