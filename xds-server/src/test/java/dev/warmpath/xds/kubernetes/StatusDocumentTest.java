package dev.warmpath.xds.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.crds.resource.Kind;
import dev.warmpath.crds.resource.Resource;
import dev.warmpath.crds.v1alpha1.StatusCondition;
import dev.warmpath.xds.status.ResourceStatus;
import dev.warmpath.xds.status.ResourceStatus.Condition;
import dev.warmpath.xds.status.ResourceStatus.Facts;
import dev.warmpath.xds.status.ResourceStatus.Value;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class StatusDocumentTest {
  private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");
  private static final Instant LATER = NOON.plus(Duration.ofHours(1));

  @Test
  void whatHasNotChangedIsEqualWhateverNumberTypesAReaderChose() {
    Map<String, Object> before =
        StatusDocument.of(status(1, Value.True, "Accepted"), Map.of(), NOON);
    before.put("observedGeneration", 1);

    Map<String, Object> after = StatusDocument.of(status(1, Value.True, "Accepted"), before, LATER);

    assertThat(StatusDocument.isSame(after, before)).isTrue();
  }

  @Test
  void theTransitionTimeMovesWithTheStatusAndNotWithReasonOrGeneration() {
    Map<String, Object> before = StatusDocument.of(status(1, Value.False, "A"), Map.of(), NOON);

    Map<String, Object> reason = StatusDocument.of(status(2, Value.False, "B"), before, LATER);
    Map<String, Object> moved = StatusDocument.of(status(2, Value.True, "B"), reason, LATER);

    assertThat(StatusDocument.isSame(reason, before)).isFalse();
    assertThat(only(reason).lastTransitionTime()).isEqualTo("2026-01-01T12:00:00Z");
    assertThat(only(reason).observedGeneration()).isEqualTo(2);
    assertThat(only(moved).lastTransitionTime()).isEqualTo("2026-01-01T13:00:00Z");
  }

  @Test
  void aPolicyTellsTheGenerationInForceAndAPoolItsWorkers() {
    assertThat(StatusDocument.of(status(3, Value.True, "Accepted"), Map.of(), NOON))
        .containsEntry("generationInForce", 3L)
        .doesNotContainKeys("workers", "ready", "models");
    ResourceStatus pool =
        new ResourceStatus(
            new Resource.Key(Kind.POOL, "n", "p"),
            1,
            1,
            List.of(),
            List.of(),
            List.of(),
            new Facts(5, 4, null, null, null));

    assertThat(StatusDocument.of(pool, Map.of(), NOON))
        .containsEntry("workers", 5)
        .containsEntry("ready", 4)
        .doesNotContainKey("generationInForce");
  }

  @Test
  void whatIsNoConditionIsNotTakenForOne() {
    assertThat(
            StatusDocument.conditions(
                Map.of("conditions", List.of("text", Map.of("type", "Accepted"), Map.of()))))
        .isEmpty();
  }

  private static StatusCondition only(Map<String, Object> status) {
    List<StatusCondition> conditions = StatusDocument.conditions(status);
    assertThat(conditions).hasSize(1);
    return conditions.getFirst();
  }

  private static ResourceStatus status(long generation, Value value, String reason) {
    return new ResourceStatus(
        new Resource.Key(Kind.POLICY, "n", "p"),
        generation,
        generation,
        List.of(new Condition("Accepted", value, reason, "")),
        List.of(),
        List.of(),
        new Facts(null, null, null, null, null));
  }
}
