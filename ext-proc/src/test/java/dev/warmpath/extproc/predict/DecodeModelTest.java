package dev.warmpath.extproc.predict;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class DecodeModelTest {
  private final SplittableRandom random = new SplittableRandom(3);

  @Test
  void tellsThePaceBesidePromptsFromTheOther() {
    DecodeModel model = new DecodeModel();
    for (int i = 0; i < 200; i++) {
      double beside = random.nextDouble(60);
      double alone = random.nextDouble(20);
      model.learn(beside, alone, 1.3 * beside + 22 * alone);
    }
    assertThat(model.besideTokensPerSecond()).isCloseTo(1.3, within(0.2));
    assertThat(model.aloneTokensPerSecond()).isCloseTo(22, within(0.5));
    assertThat(model.tokens(10, 2)).isCloseTo(57, within(2.0));
  }

  @Test
  void ratesAreNeverNegative() {
    DecodeModel model = new DecodeModel();
    for (int i = 0; i < 50; i++) {
      model.learn(i, 50 - i, 40 * i); // no answer grew while the worker did nothing else
    }
    assertThat(model.besideTokensPerSecond()).isPositive();
    assertThat(model.aloneTokensPerSecond()).isPositive();
    assertThat(model.tokens(1, 1)).isPositive();
  }

  @Test
  void equalAnswersHaveNoSpreadAndWildOnesAllOfIt() {
    DecodeModel equal = new DecodeModel();
    DecodeModel wild = new DecodeModel();
    for (int i = 0; i < 500; i++) {
      equal.learn(1, 1, 256);
      wild.learn(1, 1, i % 20 == 0 ? 4_000 : 20);
    }
    assertThat(equal.spread()).isCloseTo(0, within(0.01));
    assertThat(wild.spread()).isEqualTo(1);
  }
}
