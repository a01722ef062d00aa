package dev.warmpath.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.warmpath.e2e.support.Json;
import dev.warmpath.e2e.support.ManagedProcess;
import dev.warmpath.e2e.support.Repository;
import dev.warmpath.e2e.support.Warmpath;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** {@code bin/warmpath demo --once}: the first thing that a new user sees. */
class DemoE2E {

  /** The promise is 90 s on an idle machine. */
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  private static final double PROMISED_RATIO = 8;

  /** Share of prompt tokens from caches, real over virtual. */
  private static final double PICKS_AS_GOOD = 0.85;

  @TempDir private Path folder;

  @Test
  void it_shows_the_difference_and_leaves_nothing_behind() throws Exception {
    Path json = folder.resolve("out.json");
    Set<ProcessHandle> family = new HashSet<>();
    try (ManagedProcess demo =
        ManagedProcess.start(
            "demo",
            folder,
            Warmpath.environment(),
            List.of(
                Repository.root().resolve("bin/warmpath").toString(),
                "demo",
                "--once",
                "--virtual",
                "--json",
                json.toString()))) {
      await("the demo ends")
          .atMost(PATIENCE)
          .pollInterval(Duration.ofMillis(500))
          .until(() -> {
            family.addAll(demo.family());
            return !demo.isAlive();
          });

      assertThat(demo.waitForExit(PATIENCE)).as(demo.tail()).isZero();
      JsonNode out = Json.MAPPER.readTree(Files.readString(json));
      double before = out.path("baseline").path("ttft_p50_ms").asDouble();
      double after = out.path("warmpath").path("ttft_p50_ms").asDouble();
      assertThat(before).as(out.toString()).isPositive();
      assertThat(after).as(out.toString()).isPositive();
      assertThat(out.path("warmpath").path("failed").asInt(-1)).as(out.toString()).isZero();
      assertThat(before / after).as(out.toString()).isGreaterThanOrEqualTo(PROMISED_RATIO);
      // Whatever the machine adds to times, the picks are as good as without HTTP and Envoy.
      assertThat(out.path("warmpath").path("cached_ratio").asDouble())
          .as(out.toString())
          .isGreaterThan(
              PICKS_AS_GOOD
                  * out.path("virtual").path("warmpath").path("cached_ratio").asDouble(2));
      assertThat(demo.log()).contains("TTFT").doesNotContain("\tat ");
    }
    await("no orphan")
        .atMost(PATIENCE)
        .untilAsserted(() -> assertThat(family).noneMatch(ProcessHandle::isAlive));
  }
}
