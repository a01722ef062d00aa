package dev.warmpath.xds.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.crds.resource.Kind;
import dev.warmpath.crds.resource.Resource;
import dev.warmpath.crds.v1alpha1.StatusCondition;
import dev.warmpath.xds.status.ResourceStatus;
import dev.warmpath.xds.status.ResourceStatus.Condition;
import dev.warmpath.xds.status.ResourceStatus.Facts;
import dev.warmpath.xds.status.ResourceStatus.Value;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class NoticeTest {
  private static final Condition GOOD = new Condition("Accepted", Value.True, "Accepted", "");
  private static final Condition BAD =
      new Condition("Accepted", Value.False, "RuleViolated", "spec.x: is wrong");

  @Test
  void aFaultIsToldOnceForEachGeneration() {
    assertThat(Notice.of(List.of(), status(1, BAD)))
        .containsExactly(new Notice(true, "RuleViolated", "spec.x: is wrong"));
    assertThat(Notice.of(stored(status(1, BAD)), status(1, BAD))).isEmpty();
    assertThat(Notice.of(stored(status(1, BAD)), status(2, BAD))).hasSize(1);
  }

  @Test
  void thatItIsRightAgainIsToldAndThatItIsRightIsNot() {
    assertThat(Notice.of(List.of(), status(1, GOOD))).isEmpty();
    assertThat(Notice.of(stored(status(1, GOOD)), status(2, GOOD))).isEmpty();
    assertThat(Notice.of(stored(status(1, BAD)), status(2, GOOD)))
        .containsExactly(new Notice(false, "Accepted", "solved: was RuleViolated"));
  }

  @Test
  void anOutstandingAcknowledgementIsNoNewsAndARefusalIs() {
    Condition pending = new Condition("Programmed", Value.False, "Pending", "");
    Condition unknown = new Condition("Programmed", Value.Unknown, "NoGateway", "");
    Condition refused = new Condition("Programmed", Value.False, "Refused", "by Envoy");

    assertThat(Notice.of(List.of(), status(1, pending))).isEmpty();
    assertThat(Notice.of(List.of(), status(1, unknown))).isEmpty();
    assertThat(Notice.of(stored(status(1, pending)), status(1, refused)))
        .containsExactly(new Notice(true, "Refused", "by Envoy"));
    assertThat(Notice.of(stored(status(1, refused)), status(1, pending))).isEmpty();
  }

  @Test
  void thatNoWorkerIsReadyIsNewsAndWhatFollowsFromAnotherConditionIsNot() {
    Condition alone = new Condition("Ready", Value.False, "NoReadyWorkers", "no worker was found");
    Condition follows = new Condition("Ready", Value.False, "NotAccepted", "see Accepted");

    assertThat(Notice.of(List.of(), status(1, alone))).hasSize(1);
    assertThat(Notice.of(List.of(), status(1, follows))).isEmpty();
  }

  private static List<StatusCondition> stored(ResourceStatus status) {
    return StatusDocument.conditions(StatusDocument.of(status, Map.of(), Instant.EPOCH));
  }

  private static ResourceStatus status(long generation, Condition condition) {
    return new ResourceStatus(
        new Resource.Key(Kind.POOL, "n", "p"),
        generation,
        generation,
        List.of(condition),
        List.of(),
        List.of(),
        new Facts(null, null, null, null, null));
  }
}
