package dev.warmpath.extproc.scrape;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.extproc.candidate.WorkerGauges;
import org.junit.jupiter.api.Test;

class WorkerHistoryTest {
  private static final double UNKNOWN = Double.NaN;
  private static final long SECOND = 1_000_000_000L;

  private final WorkerHistory history = new WorkerHistory();

  @Test
  void laterProcessStartIsARestart() {
    history.accept(page(1, 100, 1_000), 0);

    assertThat(history.restarted(page(1, 100, 1_000.5))).isFalse();
    assertThat(history.restarted(page(1, 100, 1_060))).isTrue();
  }

  @Test
  void counterThatGoesBackIsARestart() {
    history.accept(page(1, 100, UNKNOWN), 0);

    assertThat(history.restarted(page(1, 100, UNKNOWN))).isFalse();
    assertThat(history.restarted(page(1, 99, UNKNOWN))).isTrue();
    assertThat(history.restarted(page(1, UNKNOWN, UNKNOWN))).isFalse();
  }

  @Test
  void gaugesThatStoppedMovingAreBelievedLessAndLess() {
    WorkerGauges first = history.accept(page(8, 100, 1), 0);
    WorkerGauges soon = history.accept(page(8, 100, 1), 10 * SECOND);
    WorkerGauges later = history.accept(page(8, 100, 1), 20 * SECOND);
    WorkerGauges muchLater = history.accept(page(8, 100, 1), 60 * SECOND);
    WorkerGauges moving = history.accept(page(8, 101, 1), 61 * SECOND);

    assertThat(first.running()).isEqualTo(8);
    assertThat(soon.running()).isEqualTo(8);
    assertThat(later.running()).isEqualTo(4);
    assertThat(muchLater.running()).isZero();
    assertThat(moving.running()).isEqualTo(8);
  }

  @Test
  void idleWorkerIsNotStandingStill() {
    history.accept(page(0, 100, 1), 0);
    history.accept(page(0, 100, 1), 60 * SECOND);

    assertThat(history.idle()).isTrue();
    assertThat(history.accept(page(3, 100, 1), 61 * SECOND).running()).isEqualTo(3);
  }

  @Test
  void unknownStaysUnknown() {
    WorkerGauges gauges = history.accept(page(UNKNOWN, UNKNOWN, UNKNOWN), 5);

    assertThat(gauges).isEqualTo(new WorkerGauges(null, null, null, null, null, null, null, 5));
  }

  private static EnginePage page(double running, double promptTokens, double start) {
    return new EnginePage(
        running,
        Double.isNaN(running) ? UNKNOWN : 0,
        UNKNOWN,
        UNKNOWN,
        UNKNOWN,
        UNKNOWN,
        UNKNOWN,
        promptTokens,
        UNKNOWN,
        start);
  }
}
