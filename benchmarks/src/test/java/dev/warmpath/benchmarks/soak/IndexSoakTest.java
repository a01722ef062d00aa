package dev.warmpath.benchmarks.soak;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The short form of {@code warmpath bench index-soak}. */
class IndexSoakTest {
  @Test
  void staysInsideItsBudgetAndFindsWhatCameLast() {
    long budget = 4 << 20;
    IndexSoak.Outcome outcome = IndexSoak.run(1_500_000, budget, 7);
    assertThat(outcome.mostBytes()).isLessThanOrEqualTo(budget);
    assertThat(outcome.notFound()).isZero();
    // The budget was the bound, and what it buys is used.
    assertThat(outcome.liveEntries() * 40L).isGreaterThan(budget / 2);
  }
}
