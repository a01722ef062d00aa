package dev.warmpath.extproc.predict;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class ArrivalRateTest {
  private static final long SECOND = 1_000_000_000L;
  private final ArrivalRate rate = new ArrivalRate();
  private final ArrivalRate.Share busy = new ArrivalRate.Share();
  private final ArrivalRate.Share idle = new ArrivalRate.Share();

  @Test
  void beforeAnythingIsKnownAllWorkersGetAsMany() {
    assertThat(rate.perSecond(busy, 4)).isCloseTo(rate.perSecond() / 4, within(1e-9));
  }

  @Test
  void aWorkerThatGetsNothingHasHardlyAnyRate() {
    SplittableRandom random = new SplittableRandom(7);
    long now = 0;
    for (int i = 0; i < 2_000; i++) {
      now += (long) (-Math.log(1 - random.nextDouble()) * SECOND / 2);
      rate.arrived(now);
      rate.placed(busy, 2);
    }
    assertThat(rate.perSecond()).isCloseTo(2, within(0.8));
    assertThat(rate.perSecond(idle, 2)).isLessThan(0.2 * rate.perSecond());
    assertThat(rate.perSecond(busy, 2) + rate.perSecond(idle, 2))
        .isCloseTo(rate.perSecond(), within(1e-9));
  }

  @Test
  void sharesFollowWhereThePromptsGoNow() {
    for (int i = 0; i < 2_000; i++) {
      rate.placed(busy, 2);
    }
    for (int i = 0; i < 2_000; i++) {
      rate.placed(idle, 2);
    }
    assertThat(rate.perSecond(idle, 2)).isGreaterThan(4 * rate.perSecond(busy, 2));
  }

  @Test
  void aBurstDelaysNobodyButItselfWhereverItGoes() {
    long now = 0;
    for (int burst = 0; burst < 8; burst++) {
      now += 240 * SECOND;
      for (int i = 0; i < 50; i++) {
        now += 200_000;
        rate.arrived(now);
        rate.placed(busy, 3);
      }
    }
    assertThat(rate.perSecond(busy, 3)).isLessThan(0.05);
  }

  private long arrivals(long now, double perSecond, double seconds, SplittableRandom random) {
    long at = now;
    long end = now + (long) (seconds * SECOND);
    while (true) {
      at += (long) (-Math.log(1 - random.nextDouble()) * SECOND / perSecond);
      if (at >= end) {
        return end;
      }
      rate.arrived(at);
    }
  }

  @Test
  void independentArrivalsSayNothingOfTheNextSeconds() {
    arrivals(0, 2, 4_000, new SplittableRandom(7));
    assertThat(rate.lasting()).isLessThan(0.15);
  }

  @Test
  void burstsOutOfSilenceSayNothingOfTheNextSeconds() {
    long now = 0;
    for (int burst = 0; burst < 40; burst++) {
      now += 47 * SECOND;
      for (int i = 0; i < 50; i++) {
        now += 200_000;
        rate.arrived(now);
      }
      assertThat(rate.lasting()).isZero();
    }
  }

  @Test
  void whereBusyTimesLastTheRateFollowsThem() {
    SplittableRandom random = new SplittableRandom(7);
    long now = 0;
    for (int i = 0; i < 20; i++) {
      now = arrivals(now, 0.2, 60, random);
      now = arrivals(now, 5, 60, random);
    }
    assertThat(rate.lasting()).isGreaterThan(0.5);
    double busyTime = rate.perSecond();
    arrivals(now, 0.2, 60, random);
    assertThat(busyTime).isBetween(2.0, 7.0);
    assertThat(rate.perSecond()).isLessThan(busyTime / 3);
  }

  /** However long nobody came. */
  @Test
  void aLongSilenceIsForgottenAtOnce() {
    SplittableRandom random = new SplittableRandom(7);
    long now = arrivals(0, 2, 600, random);
    double before = rate.perSecond();
    now += 365L * 86_400 * SECOND;
    arrivals(now, 2, 600, random);
    assertThat(rate.perSecond()).isCloseTo(before, within(0.5 * before));
    assertThat(rate.lasting()).isLessThan(0.5);
  }
}
