package dev.warmpath.extproc.label;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.crds.resource.KnownLabels;
import dev.warmpath.extproc.tenant.Tenant;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** What policies are warned of is what the classifiers really never say. */
class KnownLabelsTest {
  private static final String PROSE = "The committee discussed the plan and its costs. ".repeat(60);

  /** Between them they meet every value of every label. */
  private static final List<String> BODIES =
      List.of(
          "{\"messages\":[{\"role\":\"user\",\"content\":\"What is the capital of France?\"}]}",
          "{\"messages\":[{\"role\":\"user\",\"content\":\"Write to anna@example.com about it.\"}]}",
          "{\"messages\":[{\"role\":\"user\",\"content\":\"```java\\nint a = 1;\\n``` Fix it.\"}]}",
          "{\"messages\":[{\"role\":\"user\",\"content\":\"Explain and compare: " + PROSE + "\"}]}",
          "{\"messages\":[{\"role\":\"user\",\"content\":\"Prove step by step, derive the root cause,"
              + " design and implement it: "
              + PROSE
              + "\"}]}",
          "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,AAAA\"}}]}]}");

  @Test
  void aClosedSetHoldsWhatTheClassifierSaysAndNothingElse() {
    Classifiers classifiers = Classifiers.builtIn(System::nanoTime);
    for (String key : List.of("pii", "code", "complexity")) {
      Set<String> said =
          BODIES.stream()
              .map(body ->
                  classifiers
                      .of(body.getBytes(StandardCharsets.UTF_8), Map.of(), Tenant.ANONYMOUS)
                      .label(key)
                      .value())
              .collect(Collectors.toSet());

      assertThat(KnownLabels.values(key)).as(key).containsExactlyInAnyOrderElementsOf(said);
    }
    assertThat(KnownLabels.values("language")).isNull();
    assertThat(KnownLabels.values("tone")).isNull();
  }
}
