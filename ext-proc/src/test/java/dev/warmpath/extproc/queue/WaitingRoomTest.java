package dev.warmpath.extproc.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.extproc.queue.WaitingRoom.Admission;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class WaitingRoomTest {
  private static final long SECOND = 1_000_000_000;

  private long now;
  private final WaitingRoom room =
      new WaitingRoom(new WaitingRoom.Limits(10_000, 1 << 20), () -> now);

  /** Tokens that may still be released. */
  private long capacity;

  private final List<String> released = new ArrayList<>();
  private final List<String> expired = new ArrayList<>();
  private final Map<String, Long> waits = new HashMap<>();

  @Test
  void insideATenantItIsFirstInFirstOut() {
    for (int i = 0; i < 5; i++) {
      offer("a" + i, "a", 0, 100);
    }

    capacity = 300;
    room.stateChanged();

    assertThat(released).containsExactly("a0", "a1", "a2");
    assertThat(room.size()).isEqualTo(2);
  }

  @Test
  void tenantsTakeTurnsByTokens() {
    for (int i = 0; i < 40; i++) {
      offer("big" + i, "big", 0, 4000);
    }
    for (int i = 0; i < 40; i++) {
      offer("small" + i, "small", 0, 1000);
    }

    capacity = 40_000;
    room.stateChanged();

    long big = released.stream().filter(name -> name.startsWith("big")).count() * 4000;
    long small = released.stream().filter(name -> name.startsWith("small")).count() * 1000;
    assertThat(Math.abs(big - small)).isLessThanOrEqualTo(Lane.QUANTUM_TOKENS + 4000);
  }

  @Test
  void higherPriorityGoesFirst() {
    offer("batch", "a", -1, 10);
    offer("normal", "b", 0, 10);
    offer("urgent", "c", 5, 10);

    capacity = 20;
    room.stateChanged();

    assertThat(released).containsExactly("urgent", "normal");
  }

  @Test
  void aBlockedLaneDoesNotBlockAnother() {
    List<String> other = new ArrayList<>();
    offer("stuck", "a", 0, 10);
    room.offer(
        new Ticket(
            "other", "a", 0, 10, 1, now + SECOND, attempt(() -> other.add("went"), () -> {})));

    room.stateChanged();

    assertThat(released).isEmpty();
    assertThat(other).containsExactly("went");
  }

  @Test
  void oneWhoLeavesIsNotAskedAgainAndBlocksNobody() {
    Ticket gone = offer("gone", "a", 0, 10);
    offer("stays", "a", 0, 10);

    room.leave(gone);
    room.leave(gone);
    capacity = 100;
    room.stateChanged();

    assertThat(released).containsExactly("stays");
    assertThat(room.isEmpty()).isTrue();
    assertThat(room.bytes()).isZero();
  }

  @Test
  void theLongestWaitIsKept() {
    offer("first", "a", 0, 10);
    now += SECOND / 2;
    offer("second", "a", 0, 10);

    now += 60 * SECOND - SECOND / 2;
    room.stateChanged();

    assertThat(expired).containsExactly("first");
    assertThat(room.size()).isEqualTo(1);
  }

  @Test
  void isBoundedByCountAndBytes() {
    WaitingRoom small = new WaitingRoom(new WaitingRoom.Limits(2, 100), () -> now);

    assertThat(small.offer(ticket("a", 60))).isInstanceOf(Admission.Waiting.class);
    assertThat(small.offer(ticket("b", 60))).isInstanceOf(Admission.Full.class);
    assertThat(small.offer(ticket("c", 40))).isInstanceOf(Admission.Waiting.class);
    assertThat(small.offer(ticket("d", 0)))
        .isEqualTo(new Admission.Full("too many requests wait", 1));
  }

  @Test
  void isBoundedByThePredictedWait() {
    // 100 tokens a second are released.
    for (int i = 0; i < 100; i++) {
      offer("r" + i, "a", 0, 100);
    }
    for (int i = 0; i < 5; i++) {
      now += SECOND;
      capacity = 100;
      room.stateChanged();
    }

    Admission refused =
        room.offer(
            new Ticket("lane", "b", 0, 10, 1, now + 30 * SECOND, attempt(() -> {}, () -> {})));
    Admission patient =
        room.offer(
            new Ticket("lane", "b", 0, 10, 1, now + 200 * SECOND, attempt(() -> {}, () -> {})));
    Admission first =
        room.offer(
            new Ticket("lane", "b", 1, 10, 1, now + 30 * SECOND, attempt(() -> {}, () -> {})));

    assertThat(refused).isEqualTo(new Admission.Full("the wait would be longer than allowed", 95));
    assertThat(patient).isInstanceOf(Admission.Waiting.class);
    assertThat(first).isInstanceOf(Admission.Waiting.class);
  }

  /** A tenant with ten times the load can't raise another's wait by more than its fair share. */
  @Test
  void aGreedyTenantCostsAnotherItsShareAndNoMore() {
    double alone = meanWaitOfModest(0);
    double beside = meanWaitOfModest(10);

    // With half of the capacity and its own load of a quarter, the modest tenant never builds up a
    // line of its own: it waits for one turn of the other at most.
    double oneTurnSeconds = (Lane.QUANTUM_TOKENS + 1000.0) / TOKENS_PER_SECOND;
    assertThat(alone).isLessThan(0.2);
    assertThat(beside).isLessThanOrEqualTo(alone + oneTurnSeconds + 0.1);
  }

  private static final long TOKENS_PER_SECOND = 10_000;

  /** Virtual time, 100 s: the modest tenant asks for 2,500 tokens a second, the other for more. */
  private double meanWaitOfModest(int greed) {
    now = 0;
    waits.clear();
    released.clear();
    WaitingRoom virtual =
        new WaitingRoom(new WaitingRoom.Limits(1_000_000, Long.MAX_VALUE), () -> now);
    long tick = SECOND / 100;
    capacity = 0;
    List<Long> modest = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      now += tick;
      capacity = Math.min(capacity + TOKENS_PER_SECOND / 100, 1000);
      if (i % 40 == 0) {
        long asked = now;
        virtual.offer(
            new Ticket(
                "lane",
                "modest",
                0,
                1000,
                1,
                Long.MAX_VALUE,
                spending(1000, () -> modest.add(now - asked))));
        for (int g = 0; g < greed; g++) {
          virtual.offer(
              new Ticket("lane", "greedy", 0, 1000, 1, Long.MAX_VALUE, spending(1000, () -> {})));
        }
      }
      virtual.stateChanged();
    }
    return modest.stream().mapToLong(Long::longValue).average().orElseThrow() / 1e9;
  }

  private Ticket.Attempt spending(long tokens, Runnable then) {
    return new Ticket.Attempt() {
      @Override
      public boolean decide() {
        if (capacity < tokens) {
          return false;
        }
        capacity -= tokens;
        then.run();
        return true;
      }

      @Override
      public void expired() {
        throw new AssertionError("nobody waits that long");
      }
    };
  }

  @Test
  void aCallFromInsideAnAttemptIsServedAfterwards() {
    room.offer(
        new Ticket(
            "lane",
            "a",
            0,
            1,
            1,
            now + SECOND,
            attempt(
                () -> {
                  offer("inner", "a", 0, 10);
                  capacity = 10;
                  room.stateChanged();
                },
                () -> {})));

    room.stateChanged();

    assertThat(released).containsExactly("inner");
    assertThat(room.isEmpty()).isTrue();
  }

  private Ticket offer(String name, String tenant, int priority, long tokens) {
    Ticket ticket =
        new Ticket(
            "lane",
            tenant,
            priority,
            tokens,
            10,
            now + 60 * SECOND,
            new Ticket.Attempt() {
              @Override
              public boolean decide() {
                if (capacity < tokens) {
                  return false;
                }
                capacity -= tokens;
                released.add(name);
                return true;
              }

              @Override
              public void expired() {
                expired.add(name);
              }
            });
    assertThat(room.offer(ticket)).isInstanceOf(Admission.Waiting.class);
    return ticket;
  }

  private Ticket ticket(String tenant, long bytes) {
    return new Ticket("lane", tenant, 0, 10, bytes, now + SECOND, attempt(() -> {}, () -> {}));
  }

  private static Ticket.Attempt attempt(Runnable decide, Runnable expire) {
    return new Ticket.Attempt() {
      @Override
      public boolean decide() {
        decide.run();
        return true;
      }

      @Override
      public void expired() {
        expire.run();
      }
    };
  }
}
