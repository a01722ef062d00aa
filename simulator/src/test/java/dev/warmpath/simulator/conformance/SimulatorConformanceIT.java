package dev.warmpath.simulator.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.simulator.Simulator;
import dev.warmpath.simulator.SimulatorOptions;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** The list holds for the simulator. */
class SimulatorConformanceIT {
  @SuppressWarnings("NullAway.Init")
  private static Simulator simulator;

  @BeforeAll
  static void start() throws InterruptedException {
    simulator =
        Simulator.start(
            SimulatorOptions.defaults().withProfile("tiny").withServedModelNames("tiny"));
  }

  @AfterAll
  static void stop() {
    simulator.close();
  }

  @TestFactory
  Stream<DynamicTest> everyCheckOnASingleResponse() {
    return WireChecks.of("tiny").stream()
        .map(check ->
            DynamicTest.dynamicTest(
                check.name(),
                () ->
                    assertThat(check.problems(WireProbe.exchange(simulator.uri(), check.request())))
                        .isEmpty()));
  }

  @TestFactory
  Stream<DynamicTest> everyCheckOnBehaviour() {
    return LiveChecks.all().stream()
        .map(check ->
            DynamicTest.dynamicTest(
                check.name(),
                () -> assertThat(check.body().run(simulator.uri(), "tiny")).isEmpty()));
  }
}
