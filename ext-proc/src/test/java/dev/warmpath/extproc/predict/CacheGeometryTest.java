package dev.warmpath.extproc.predict;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class CacheGeometryTest {
  private final CacheGeometry geometry = new CacheGeometry();

  @Test
  void missesAndUnexpectedHitsInEqualNumberLeaveTheSizeAsItIs() {
    for (int i = 0; i < 500; i++) {
      geometry.learn(16_000, 0);
      geometry.learn(0, 15_840);
    }
    assertThat(geometry.share()).isCloseTo(1, within(0.25));
  }

  @Test
  void missesShrinkTheSizeAndUnexpectedHitsLetItGrowWithinBounds() {
    geometry.learn(16_000, 0);
    assertThat(geometry.share()).isLessThan(1);
    for (int i = 0; i < 1_000; i++) {
      geometry.learn(16_000, 0);
    }
    assertThat(geometry.share()).isEqualTo(0.1);
    for (int i = 0; i < 1_000; i++) {
      geometry.learn(0, 16_000);
    }
    assertThat(geometry.share()).isEqualTo(4);
  }

  @Test
  void whatDiffersByLessThanAUnitTeachesNothing() {
    for (int cached : new int[] {1_584, 3_168, 4_752, 15_840}) {
      geometry.learn(cached, cached);
    }
    assertThat(geometry.unitTokens()).isEqualTo(1_584);
    geometry.learn(16_000, 15_840);
    geometry.learn(14_500, 15_840);
    assertThat(geometry.share()).isEqualTo(1);
    assertThat(geometry.hit(16_000, 16_256)).isEqualTo(15_840);
    assertThat(geometry.hit(16_000, 15_840)).isEqualTo(14_256);
  }

  @Test
  void theReportedBlockIsTheUnitWhereHitsDoNotTellYet() {
    assertThat(geometry.unitTokens()).isEqualTo(1);
    geometry.reportedBlock(1_584);
    assertThat(geometry.hit(16_000, 16_256)).isEqualTo(15_840);
    for (int i = 0; i < 100; i++) {
      geometry.learn(15_840, 15_840); // one prefix that all prompts share
    }
    assertThat(geometry.unitTokens()).isEqualTo(1_584);
    assertThat(geometry.roundedUp(1_600)).isEqualTo(3_168);
  }

  @Test
  void hitsCountForMoreThanTheReportedBlock() {
    geometry.reportedBlock(16);
    geometry.learn(0, 15_680); // no multiple of what is reported next
    geometry.reportedBlock(1_584);
    assertThat(geometry.unitTokens()).isEqualTo(1);
    geometry.learn(0, 7_840);
    geometry.learn(0, 784);
    assertThat(geometry.unitTokens()).isEqualTo(784);
    geometry.reportedBlock(16);
    assertThat(geometry.unitTokens()).isEqualTo(784);
    geometry.reportedBlock(0);
    assertThat(geometry.unitTokens()).isEqualTo(784);
  }
}
