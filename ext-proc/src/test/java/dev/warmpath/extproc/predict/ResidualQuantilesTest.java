package dev.warmpath.extproc.predict;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import java.util.function.DoubleSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ResidualQuantilesTest {
  private final ResidualQuantiles residuals = new ResidualQuantiles();
  private final Random random = new Random(7);

  /** Logarithms of actual / predicted. */
  enum Errors {
    WIDE {
      @Override
      double next(Random random, int i) {
        return 0.5 * random.nextGaussian();
      }
    },
    NARROW {
      @Override
      double next(Random random, int i) {
        return 0.0005 * random.nextGaussian();
      }
    },
    BIASED {
      @Override
      double next(Random random, int i) {
        return 1.2 + 0.05 * random.nextGaussian();
      }
    },
    /** Mostly exact, sometimes far too high: an engine that also caches its answers. */
    LONG_LOW_TAIL {
      @Override
      double next(Random random, int i) {
        return random.nextInt(6) == 0 ? -1.3 + 0.3 * random.nextGaussian() : jitter(random);
      }
    },
    /** Mostly exact, sometimes far too low: a prompt whose prefix had gone. */
    LONG_HIGH_TAIL {
      @Override
      double next(Random random, int i) {
        return random.nextInt(5) == 0 ? Math.abs(random.nextGaussian()) : jitter(random);
      }
    },
    /** In 48 steps by more than they scatter. */
    DRIFTING {
      @Override
      double next(Random random, int i) {
        return 1e-5 * i + 2e-4 * random.nextGaussian();
      }
    },
    SWINGING {
      @Override
      double next(Random random, int i) {
        return 0.3 * Math.sin(i / 100.0) + 0.02 * random.nextGaussian();
      }
    };

    abstract double next(Random random, int i);

    static double jitter(Random random) {
      return 0.004 * random.nextGaussian();
    }
  }

  @ParameterizedTest
  @EnumSource
  void nineOfTenAreBelowTheHighQuantileWhateverTheErrorsLookLike(Errors errors) {
    int[] i = {0};
    assertThat(coverage(() -> errors.next(random, i[0]++), 4_000)).isBetween(0.85, 0.93);
  }

  @ParameterizedTest
  @EnumSource(names = {"WIDE", "NARROW", "BIASED"})
  void halfAreBelowTheMedian(Errors errors) {
    int below = 0;
    for (int i = 0; i < 4_000; i++) {
      double actual = 2 * Math.exp(errors.next(random, i));
      below += actual <= residuals.median(2, false) ? 1 : 0;
      learn(2, actual);
    }
    assertThat(below / 4_000.0).isBetween(0.46, 0.54);
  }

  @Test
  void theSpreadIsThatOfTheErrors() {
    coverage(() -> Errors.NARROW.next(random, 0), 500);
    assertThat(residuals.high(2, false) / residuals.median(2, false)).isBetween(1.0002, 1.0015);
  }

  /** The quantile of equal times is that time itself, so that all of them are covered. */
  @Test
  void equalTimesAreCovered() {
    double[] sums = {1.9999, 2, 2.0001, 3.3};
    for (double sum : sums) {
      ResidualQuantiles fresh = new ResidualQuantiles();
      for (int i = 0; i < 100; i++) {
        double high = fresh.high(sum, false);
        assertThat(high).isGreaterThanOrEqualTo(2.1 * (i < 18 ? 0.1 : 1));
        fresh.learn(sum, high, false, fresh.early(), 2.1);
      }
      assertThat(fresh.high(sum, false)).isCloseTo(2.1, within(1e-4));
      assertThat(fresh.median(sum, false)).isCloseTo(2.1, within(1e-4));
    }
  }

  @Test
  void oneStallMovesLittle() {
    coverage(() -> Errors.jitter(random), 500);
    double median = residuals.median(2, false);
    double high = residuals.high(2, false);
    learn(2, 180);
    assertThat(residuals.median(2, false) / median).isCloseTo(1, within(0.002));
    assertThat(residuals.high(2, false) / high).isCloseTo(1, within(0.005));
  }

  @Test
  void aChangeIsFollowedWithinAWindow() {
    coverage(() -> Errors.jitter(random), 500);
    coverage(() -> 1 + Errors.jitter(random), 48);
    assertThat(residuals.median(2, false)).isCloseTo(2 * Math.E, within(0.05));
    assertThat(residuals.high(2, false)).isBetween(2 * Math.E, 2.1 * Math.E);
  }

  @Test
  void whatWasPredictedBeforeAnythingWasKnownIsNotLearntFrom() {
    assertThat(residuals.early()).isTrue();
    for (int i = 0; i < 60; i++) {
      // A burst: all are predicted before the first of them comes.
      residuals.learn(8, 12, true, true, 0.5);
    }
    assertThat(residuals.early()).isFalse();
    assertThat(residuals.median(2, false)).isEqualTo(2);
    assertThat(residuals.high(2, false)).isCloseTo(3, within(1e-4));
  }

  @Test
  void aBandWithFewSamplesTakesThoseOfAll() {
    coverage(() -> 0.2, 100);
    assertThat(residuals.median(200, true)).isCloseTo(200 * Math.exp(0.2), within(0.01));
    for (int i = 0; i < 10; i++) {
      residuals.learn(200, 300, true, residuals.early(), 200);
    }
    assertThat(residuals.median(200, true)).isCloseTo(200, within(0.01));
    assertThat(residuals.median(2, false)).isCloseTo(2 * Math.exp(0.2), within(0.01));
  }

  private double coverage(DoubleSupplier errors, int samples) {
    int covered = 0;
    for (int i = 0; i < samples; i++) {
      double actual = 2 * Math.exp(errors.getAsDouble());
      covered += actual <= residuals.high(2, false) ? 1 : 0;
      learn(2, actual);
    }
    return covered / (double) samples;
  }

  private void learn(double predicted, double actual) {
    residuals.learn(predicted, residuals.high(predicted, false), false, residuals.early(), actual);
  }
}
