package dev.warmpath.extproc.lease;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

/** The account of one worker where an engine computes a short prompt beside a long one. */
class WorkerLoadTest {
  private static final long SECOND = 1_000_000_000L;
  private final WorkerLoad load = new WorkerLoad();

  private Lease reserve(int tokens, double seconds, long at) {
    return load.reserve(new long[] {tokens}, 1, tokens, 0, tokens, seconds, true, at, at);
  }

  @Test
  void aPromptThatRidesDoesNotStartTheLongOnesTurnAnew() {
    Lease first = reserve(16_000, 7, SECOND);
    Lease rider = reserve(400, 0.2, 2 * SECOND);
    assertThat(load.firstToken(rider, 5 * SECOND)).isTrue();
    assertThat(load.head()).isSameAs(first);
    assertThat(load.turnNanos()).isEqualTo(SECOND);
    assertThat(load.riddenWorkSeconds()).isCloseTo(0.2, within(1e-9));
    assertThat(load.decoding()).isEqualTo(1);
  }

  @Test
  void whatRodeIsPartOfTheTurnThatIsLearnt() {
    Lease first = reserve(16_000, 7, SECOND);
    Lease rider = reserve(400, 0.2, 2 * SECOND);
    load.firstToken(rider, 5 * SECOND);
    load.end(rider, 6 * SECOND);
    Turn turn = requireNonNull(rider.turn());
    assertThat(turn.ended(400, 0, rider.firstOfTurn())).as("goes on").isFalse();
    load.firstToken(first, 9 * SECOND);
    load.end(first, 12 * SECOND);
    assertThat(first.turn()).isSameAs(turn);
    assertThat(turn.ended(16_000, 0, first.firstOfTurn())).isTrue();
    assertThat(turn.seconds()).isCloseTo(8, within(1e-9));
    assertThat(turn.uncachedTokens()).isEqualTo(16_400);
    assertThat(turn.firstPromptTokens()).isEqualTo(16_000);
  }

  @Test
  void aHeadThatIsLongOverdueIsNotWaitedFor() {
    reserve(400, 0.2, SECOND);
    Lease later = reserve(400, 0.2, 2 * SECOND);
    load.firstToken(later, 30 * SECOND);
    assertThat(load.turnNanos()).isEqualTo(30 * SECOND);
    assertThat(load.riddenWorkSeconds()).isZero();
  }

  @Test
  void theNextTurnBeginsWithNothingInIt() {
    Lease first = reserve(16_000, 7, SECOND);
    Lease rider = reserve(400, 0.2, 2 * SECOND);
    Lease second = reserve(16_000, 7, 3 * SECOND);
    load.firstToken(rider, 4 * SECOND);
    load.firstToken(first, 9 * SECOND);
    assertThat(load.head()).isSameAs(second);
    assertThat(load.riddenWorkSeconds()).isZero();
    load.firstToken(second, 16 * SECOND);
    assertThat(second.turn()).isNotSameAs(first.turn());
    assertThat(requireNonNull(second.turn()).seconds()).isCloseTo(7, within(1e-9));
  }
}
