package dev.warmpath.crds.v1alpha1;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class DurationsTest {
  @Test
  void readsWhatKubernetesWrites() {
    Map<String, Duration> expected =
        Map.of(
            "0", Duration.ZERO,
            "0s", Duration.ZERO,
            "900ms", Duration.ofMillis(900),
            "1s", Duration.ofSeconds(1),
            "1m30s", Duration.ofSeconds(90),
            "1.5h", Duration.ofMinutes(90),
            "10us", Duration.ofNanos(10_000),
            "10µs", Duration.ofNanos(10_000),
            "8784h", Durations.MAX);
    expected.forEach(
        (text, duration) -> assertThat(Durations.parse(text)).as(text).isEqualTo(duration));
  }

  @Test
  void refusesWhatIsNone() {
    for (String text :
        List.of(
            "",
            "1",
            "s",
            "-1s",
            "1 s",
            "1d",
            "1s ",
            "s1",
            "1.s",
            ".5s",
            "1e3s",
            "8784h1ns",
            "PT1S",
            "9".repeat(30) + "h",
            "1s".repeat(100))) {
      assertThat(Durations.parse(text)).as(text).isNull();
    }
  }

  @Test
  void whatIsWrittenIsReadBackEqual() {
    Random random = new Random(1);
    for (int i = 0; i < 10_000; i++) {
      Duration duration =
          Duration.ofNanos(random.nextLong(1 + (Durations.MAX.toNanos() >> random.nextInt(50))));
      assertThat(Durations.parse(Durations.format(duration))).isEqualTo(duration);
    }
  }
}
