package dev.warmpath.extproc.kvevents;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.extproc.candidate.WorkerId;
import dev.warmpath.extproc.kvcache.BlockLedger;
import dev.warmpath.extproc.kvcache.CacheChange;
import dev.warmpath.extproc.kvcache.EventSink;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RankStreamTest {
  private static final WorkerId WORKER = new WorkerId("default", "set", "w0", "");

  /** A ledger that follows a stream. */
  private static final class Follower implements EventSink {
    private final BlockLedger ledger = new BlockLedger(1 << 16);
    private final List<String> losses = new ArrayList<>();

    @Override
    public void began(WorkerId worker, int rank, int ranks, boolean empty) {
      ledger.reset(empty);
    }

    @Override
    public void changed(WorkerId worker, int rank, List<CacheChange> changes, long atNanos) {
      for (CacheChange change : changes) {
        switch (change) {
          case CacheChange.Stored stored -> ledger.stored(stored, 0);
          case CacheChange.Removed removed -> ledger.removed(removed);
          case CacheChange.Cleared cleared -> ledger.reset(true);
          case CacheChange.Sparse sparse -> ledger.sparseGroups();
        }
      }
    }

    @Override
    public void lost(WorkerId worker, int rank, String reason) {
      losses.add(reason);
      ledger.lost();
    }

    @Override
    public void live(WorkerId worker, boolean live, String reason) {}
  }

  /** An engine that counts its own blocks, and a network that loses and repeats. */
  private static final class Publisher implements RankStream.Replay {
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    private record Sent(long sequence, byte[] payload) {}

    private final SplittableRandom random;
    private final int remembered;
    private final Follower follower = new Follower();
    private final EventCounts counts = new EventCounts();
    private final RankStream stream;
    private final List<Sent> ring = new ArrayList<>();
    private final Map<Long, Integer> truth = new HashMap<>();
    private final List<Long> hashes = new ArrayList<>();
    private final List<Long> questions = new ArrayList<>();
    private long sequence;
    private double seconds = 1_000;

    Publisher(long seed, int remembered, boolean canReplay) {
      this.random = new SplittableRandom(seed);
      this.remembered = remembered;
      this.stream = new RankStream(WORKER, 0, 1, follower, counts, () -> 0, canReplay, this);
    }

    @Override
    public void ask(int rank, long from) {
      questions.add(from);
    }

    byte[] batch() {
      List<Batches.Event> events = new ArrayList<>();
      int kind = random.nextInt(20);
      if (kind == 0) {
        events.add(new Batches.Event.Cleared());
        truth.clear();
        hashes.clear();
      } else if (kind < 7 && !hashes.isEmpty()) {
        long hash = hashes.remove(random.nextInt(hashes.size()));
        events.add(new Batches.Event.Removed(hash));
        truth.merge(hash, -1, Integer::sum);
        truth.remove(hash, 0);
      } else {
        long[] fresh = new long[1 + random.nextInt(4)];
        int[] tokens = new int[fresh.length * Batches.BLOCK];
        Long parent =
            hashes.isEmpty() || random.nextBoolean()
                ? null
                : hashes.get(random.nextInt(hashes.size()));
        for (int i = 0; i < fresh.length; i++) {
          fresh[i] =
              random.nextInt(10) == 0 && parent == null && !hashes.isEmpty()
                  ? hashes.getFirst() // another copy
                  : random.nextLong();
          hashes.add(fresh[i]);
          truth.merge(fresh[i], 1, Integer::sum);
        }
        events.add(new Batches.Event.Stored(fresh, parent, tokens));
      }
      if (random.nextInt(5) == 0) {
        events.add(new Batches.Event.Strange());
      }
      seconds += 0.01;
      byte[] payload = Batches.encode(seconds, events, random.nextBoolean());
      ring.add(new Sent(sequence, payload));
      if (ring.size() > remembered) {
        ring.removeFirst();
      }
      sequence++;
      return payload;
    }

    void publish(double lossRatio, double repeatRatio) {
      long number = sequence;
      byte[] payload = batch();
      if (random.nextDouble() >= lossRatio) {
        stream.onLive(number, payload);
        if (random.nextDouble() < repeatRatio) {
          stream.onLive(number, payload);
        }
      }
    }

    void restart() {
      ring.clear();
      truth.clear();
      hashes.clear();
      sequence = 0;
      seconds += 5;
    }

    /** Answers one question; returns whether there was one. */
    boolean answer(double lossRatio) {
      if (questions.isEmpty()) {
        return false;
      }
      long from = questions.removeFirst();
      for (Sent sent : List.copyOf(ring)) {
        if (sent.sequence() >= from && random.nextDouble() >= lossRatio) {
          stream.onReplayed(sent.sequence(), sent.payload());
        }
      }
      stream.onReplayEnd();
      return true;
    }

    private void answerAll() {
      for (int i = 0; answer(0); i++) {
        assertThat(i).as("questions without an end").isLessThan(1_000);
      }
    }

    void settle() {
      answerAll();
      stream.catchUp();
      answerAll();
    }

    long truthTokens() {
      return truth.values().stream().mapToLong(Integer::longValue).sum() * Batches.BLOCK;
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
  void whateverTheNetworkLosesAndRepeatsTheLedgerIsRightInTheEnd(long seed) {
    Publisher engine = new Publisher(seed, 100_000, true);
    for (int i = 0; i < 30; i++) {
      engine.publish(1, 0); // before anybody listens
    }
    engine.stream.catchUp();
    for (int step = 0; step < 2_000; step++) {
      engine.publish(0.1, 0.1);
      if (engine.random.nextInt(7) == 0) {
        engine.answer(engine.random.nextInt(4) == 0 ? 0.05 : 0);
      }
      if (engine.random.nextInt(400) == 0) {
        engine.restart();
      }
    }

    engine.settle();

    assertThat(engine.follower.ledger.residentTokens()).isEqualTo(engine.truthTokens());
    assertThat(engine.follower.ledger.complete()).isTrue();
    assertThat(engine.counts.of(EventCounts.Event.GAP)).isPositive();
    assertThat(engine.counts.of(EventCounts.Event.DUPLICATE)).isPositive();
    assertThat(engine.counts.of(EventCounts.Event.UNKNOWN_EVENT)).isPositive();
    assertThat(engine.counts.of(EventCounts.Event.UNDECODABLE)).isZero();
  }

  @Test
  void withoutReplayAGapIsToldAndNothingStaleIsKept() {
    Publisher engine = new Publisher(1, 10, false);
    engine.publish(0, 0);
    assertThat(engine.follower.ledger.complete()).isTrue();

    engine.publish(1, 0);
    engine.publish(0, 0);

    assertThat(engine.follower.losses).hasSize(1);
    assertThat(engine.follower.ledger.complete()).isFalse();
    assertThat(engine.counts.of(EventCounts.Event.LOST)).isEqualTo(1);
  }

  @Test
  void whatTheEngineDoesNotRememberAnyMoreIsToldAsLost() {
    Publisher engine = new Publisher(2, 5, true);
    engine.publish(0, 0);
    engine.stream.catchUp();
    engine.answer(0);
    for (int i = 0; i < 20; i++) {
      engine.publish(1, 0);
    }

    engine.settle();

    assertThat(engine.follower.losses).hasSize(1);
    assertThat(engine.follower.ledger.complete()).isFalse();
  }

  @Test
  void aProcessThatWasReplacedWhileNothingWasHeardIsNoticed() {
    Publisher engine = new Publisher(3, 100, true);
    engine.stream.catchUp();
    engine.answer(0);
    for (int i = 0; i < 5; i++) {
      engine.publish(0, 0);
    }
    engine.restart();
    for (int i = 0; i < 9; i++) {
      engine.publish(1, 0); // more than before: numbers alone look like a gap
    }

    engine.settle();

    assertThat(engine.counts.of(EventCounts.Event.RESTART)).isEqualTo(1);
    assertThat(engine.follower.ledger.residentTokens()).isEqualTo(engine.truthTokens());
    assertThat(engine.follower.ledger.complete()).isTrue();
  }

  @Test
  void anUnansweredReplayLeavesTheStreamUsable() {
    Publisher engine = new Publisher(4, 100, true);
    engine.publish(0, 0);
    engine.publish(1, 0);
    engine.publish(0, 0);
    engine.questions.clear();

    engine.stream.onReplayFailed();
    engine.publish(0, 0);

    assertThat(engine.follower.ledger.complete()).isFalse();
    assertThat(engine.counts.of(EventCounts.Event.REPLAY_FAILED)).isEqualTo(1);
    assertThat(engine.stream.catchingUp()).isFalse();
  }

  @Test
  void whatWaitsForAReplayIsBounded() {
    Publisher engine = new Publisher(5, 100_000, true);
    engine.publish(0, 0);
    engine.publish(1, 0);
    for (int i = 0; i < 200_000; i++) {
      engine.publish(0, 0);
    }

    engine.settle();

    assertThat(engine.counts.of(EventCounts.Event.DISCARDED)).isPositive();
    assertThat(engine.follower.ledger.residentTokens()).isGreaterThan(0);
  }

  @Test
  void undecodableBatchesAreCountedAndEndTheCertainty() {
    Publisher engine = new Publisher(6, 100, true);
    engine.publish(0, 0);

    engine.stream.onLive(1, new byte[] {(byte) 0xc1});

    assertThat(engine.counts.of(EventCounts.Event.UNDECODABLE)).isEqualTo(1);
    assertThat(engine.follower.ledger.complete()).isFalse();
  }
}
