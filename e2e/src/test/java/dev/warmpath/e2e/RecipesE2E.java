package dev.warmpath.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.e2e.support.Json;
import dev.warmpath.e2e.support.Ports;
import dev.warmpath.e2e.support.Warmpath;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * The four recipes of docs/policies.md as {@code warmpath demo --recipe} plays them: their own
 * files, the real Envoy, simulated workers, and a provider behind TLS that notes what reaches it.
 */
class RecipesE2E {

  @TempDir private Path folder;

  private JsonNode play(String recipe) throws Exception {
    Path json = folder.resolve("out.json");
    Warmpath.Result result =
        Warmpath.run(
            "demo",
            "--recipe",
            recipe,
            "--once",
            "--port",
            Integer.toString(Ports.free()),
            "--json",
            json.toString());
    assertThat(result.exit()).as(result.output()).isZero();
    assertThat(result.output()).contains("Look at:", "what it must show").doesNotContain(" NO\n");
    return Json.MAPPER.readTree(Files.readString(json));
  }

  @Test
  void simple_requests_go_to_the_cheaper_pool_unless_their_conversation_is_warm() throws Exception {
    JsonNode shown = play("simple-to-cheaper");

    assertThat(shown.path("cold_on_cheap").asInt()).as(shown.toString()).isEqualTo(8);
    assertThat(shown.path("warm_stayed").asInt()).as(shown.toString()).isEqualTo(4);
    assertThat(shown.path("failed").asInt(-1)).as(shown.toString()).isZero();
  }

  @Test
  void a_burst_goes_to_the_provider_and_nothing_else_does() throws Exception {
    JsonNode shown = play("burst-to-cloud");

    assertThat(shown.path("quiet_at_provider").asInt(-1)).as(shown.toString()).isZero();
    assertThat(shown.path("burst_at_provider").asInt()).as(shown.toString()).isPositive();
    assertThat(shown.path("burst_local").asInt()).as(shown.toString()).isGreaterThanOrEqualTo(24);
    assertThat(shown.path("after_at_provider").asInt(-1)).as(shown.toString()).isZero();
    assertThat(shown.path("failed").asInt(-1)).as(shown.toString()).isZero();
  }

  @Test
  void personal_data_never_reaches_the_provider_and_the_rest_does() throws Exception {
    JsonNode shown = play("pii-stays-local");

    assertThat(shown.path("personal_at_provider").asInt(-1)).as(shown.toString()).isZero();
    assertThat(shown.path("plain_at_provider").asInt()).as(shown.toString()).isEqualTo(2);
    assertThat(shown.path("refusal").asString("")).contains("policy_excluded", "pii-stays-local");
  }

  @Test
  void batch_work_is_not_felt_and_finishes() throws Exception {
    JsonNode shown = play("batch-on-idle");

    assertThat(shown.path("beside_ms").asDouble())
        .as(shown.toString())
        .isLessThanOrEqualTo(1.1 * shown.path("alone_ms").asDouble());
    assertThat(shown.path("batch_running_at_end_of_measurement").asInt()).isNotNegative();
    assertThat(shown.path("batch_failed").asInt(-1)).as(shown.toString()).isZero();
  }
}
