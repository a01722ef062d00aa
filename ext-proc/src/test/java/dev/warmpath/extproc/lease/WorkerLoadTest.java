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

  private static final long MILLI = 1_000_000;

  /** A long prompt, and one with the same beginning that leaves {@code waitMillis} after it. */
  private void pair(long waitMillis) {
    reserve(1, 7, SECOND);
    Lease second = load.reserve(new long[] {1}, 1, 1, 1, 1, 0.1, true, SECOND, SECOND);
    second.leaves(SECOND + waitMillis * MILLI);
  }

  private long leavesMillis(long identity, double workSeconds, long atMillis) {
    long now = SECOND + atMillis * MILLI;
    return (load.behindNanos(new long[] {identity}, 1, workSeconds, 1, now) - SECOND) / MILLI;
  }

  @Test
  void aPromptLeavesBehindTheOneThatComputesItsBeginning() {
    reserve(1, 7, SECOND);
    assertThat(leavesMillis(1, 0.1, 0)).isEqualTo(100);
    assertThat(leavesMillis(1, 0.1, 30)).isEqualTo(100);
    assertThat(leavesMillis(2, 7, 30)).as("nothing in common").isEqualTo(30);
  }

  @Test
  void aLongPromptDoesNotGoBeforeOneThatWaits() {
    pair(100);
    assertThat(leavesMillis(2, 7, 0)).isEqualTo(100);
    assertThat(leavesMillis(2, 7, 60)).isEqualTo(100);
    assertThat(leavesMillis(2, 7, 130)).as("it has left").isEqualTo(130);
  }

  @Test
  void aShortPromptWaitsForNobodyElsesOrder() {
    pair(100);
    assertThat(leavesMillis(2, 0.1, 0)).isEqualTo(0);
    assertThat(leavesMillis(2, 0.1, 80)).as("20 ms are a fifth of its work").isEqualTo(100);
  }

  /** The third of a chain leaves behind the second, which itself leaves later. */
  @Test
  void orderHoldsAlongAChain() {
    pair(100);
    Lease third = load.reserve(new long[] {2}, 1, 2, 0, 2, 7, true, SECOND, SECOND);
    third.leaves(SECOND + 100 * MILLI);
    assertThat(leavesMillis(2, 0.1, 10)).isEqualTo(200);
  }
}
