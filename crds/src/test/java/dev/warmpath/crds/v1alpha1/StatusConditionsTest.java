package dev.warmpath.crds.v1alpha1;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.crds.v1alpha1.StatusCondition.Status;
import dev.warmpath.crds.v1alpha1.StatusConditions.Finding;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class StatusConditionsTest {
  private static final Instant FIRST = Instant.parse("2026-01-01T10:00:00.123Z");
  private static final Instant LATER = Instant.parse("2026-01-01T11:00:00Z");

  @Test
  void theTransitionTimeMovesOnlyWithTheStatus() {
    List<StatusCondition> before =
        StatusConditions.update(
            List.of(),
            List.of(
                new Finding("Accepted", Status.True, 1L, "Accepted", "fine"),
                new Finding("ResolvedRefs", Status.True, 1L, "ResolvedRefs", "fine")),
            FIRST);

    List<StatusCondition> after =
        StatusConditions.update(
            before,
            List.of(
                new Finding("Accepted", Status.True, 2L, "Accepted", "still fine"),
                new Finding("ResolvedRefs", Status.False, 2L, "ReferenceNotFound", "no pool")),
            LATER);

    assertThat(after)
        .containsExactly(
            new StatusCondition(
                "Accepted", Status.True, 2L, "2026-01-01T10:00:00Z", "Accepted", "still fine"),
            new StatusCondition(
                "ResolvedRefs",
                Status.False,
                2L,
                "2026-01-01T11:00:00Z",
                "ReferenceNotFound",
                "no pool"));
  }

  @Test
  void theSameFindingsLaterGiveEqualConditions() {
    List<Finding> findings =
        List.of(new Finding("Accepted", Status.False, 3L, "UnknownField", "m".repeat(40_000)));
    List<StatusCondition> before = StatusConditions.update(List.of(), findings, FIRST);

    assertThat(StatusConditions.update(before, findings, LATER)).isEqualTo(before);
    assertThat(before.getFirst().message()).hasSize(32_768);
  }
}
