package dev.warmpath.extproc.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class PrefixIndexTest {
  private static final long MODEL = 42;

  /** What a worker holds, the slow way: a list in order of use, oldest first. */
  private static final class Reference {
    private final ArrayDeque<Long> blocks = new ArrayDeque<>();
    private int limit;

    Reference(int limit) {
      this.limit = limit;
    }

    int match(long[] chain, int count) {
      int held = 0;
      while (held < count && blocks.contains(chain[held])) {
        held++;
      }
      return held;
    }

    void write(long[] chain, int blockCount) {
      int count = Math.min(blockCount, limit);
      for (int i = count - 1; i >= 0; i--) {
        blocks.remove(chain[i]);
        blocks.addLast(chain[i]);
      }
      limit(limit);
    }

    void limit(int fresh) {
      limit = fresh;
      while (blocks.size() > limit) {
        blocks.removeFirst();
      }
    }
  }

  /** Chains that share prefixes, as conversations do: each extends a random cut of another. */
  private static List<long[]> chains(SplittableRandom random, int count, int most) {
    List<long[]> chains = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      long[] base = chains.isEmpty() ? new long[0] : chains.get(random.nextInt(chains.size()));
      int shared = base.length == 0 ? 0 : random.nextInt(base.length + 1);
      long[] chain = new long[Math.max(shared, 1 + random.nextInt(most))];
      for (int k = 0; k < chain.length; k++) {
        chain[k] = k < shared ? base[k] : random.nextLong();
      }
      chains.add(chain);
    }
    return chains;
  }

  @Test
  void agreesWithASlowReference() {
    SplittableRandom random = new SplittableRandom(1);
    for (int round = 0; round < 20; round++) {
      PrefixIndex index = new PrefixIndex(1 << 20);
      List<long[]> chains = chains(random, 40, 30);
      List<PrefixIndex.Holder> holders = new ArrayList<>();
      List<Reference> references = new ArrayList<>();
      for (int w = 0; w < 4; w++) {
        int limit = 20 + random.nextInt(150);
        holders.add(index.newHolder(limit));
        references.add(new Reference(limit));
      }
      for (int step = 0; step < 800; step++) {
        int w = random.nextInt(4);
        long[] chain = chains.get(random.nextInt(chains.size()));
        int blocks = 1 + random.nextInt(chain.length);
        PrefixIndex.Holder holder = holders.get(w);
        Reference reference = references.get(w);
        switch (random.nextInt(12)) {
          case 0 -> {
            index.forget(holder);
            reference.blocks.clear();
          }
          case 1 -> {
            int limit = 20 + random.nextInt(150);
            index.limit(holder, limit);
            reference.limit(limit);
          }
          case 2, 3, 4 -> {
            index.confirm(holder, MODEL, chain, blocks);
            reference.write(chain, blocks);
          }
          default -> {
            index.expect(holder, MODEL, chain, blocks);
            reference.write(chain, blocks);
          }
        }
        assertThat(holder.entries()).isEqualTo(reference.blocks.size());
        for (int other = 0; other < 4; other++) {
          long[] asked = chains.get(random.nextInt(chains.size()));
          assertThat(index.match(holders.get(other), MODEL, asked, asked.length))
              .isEqualTo(references.get(other).match(asked, asked.length));
        }
      }
      int live = references.stream().mapToInt(reference -> reference.blocks.size()).sum();
      assertThat(index.liveEntries()).isEqualTo(live);
    }
  }

  @Test
  void modelsNeverShare() {
    PrefixIndex index = new PrefixIndex(1 << 20);
    PrefixIndex.Holder holder = index.newHolder(100);
    long[] chain = {1, 2, 3};
    index.expect(holder, MODEL, chain, 3);
    assertThat(index.match(holder, MODEL, chain, 3)).isEqualTo(3);
    assertThat(index.match(holder, MODEL + 1, chain, 3)).isZero();
  }

  @Test
  void retractsOnlyWhatNobodyComputed() {
    PrefixIndex index = new PrefixIndex(1 << 20);
    PrefixIndex.Holder holder = index.newHolder(100);
    long[] chain = {1, 2, 3, 4, 5, 6};
    index.confirm(holder, MODEL, chain, 2);
    index.expect(holder, MODEL, chain, 6);
    index.retract(holder, MODEL, chain, 6, 1);
    assertThat(index.match(holder, MODEL, chain, 6)).isEqualTo(2);
    index.drop(holder, MODEL, chain, 6, 1);
    assertThat(index.match(holder, MODEL, chain, 6)).isEqualTo(1);
  }

  @Test
  void staysInsideItsBudget() {
    long budget = 1 << 20;
    PrefixIndex index = new PrefixIndex(budget);
    SplittableRandom random = new SplittableRandom(3);
    List<PrefixIndex.Holder> holders = new ArrayList<>();
    for (int w = 0; w < 8; w++) {
      holders.add(index.newHolder(1 << 20));
    }
    long[] chain = new long[256];
    for (int round = 0; round < 20_000; round++) {
      for (int i = 0; i < chain.length; i++) {
        chain[i] = random.nextLong();
      }
      PrefixIndex.Holder holder = holders.get(random.nextInt(8));
      if (random.nextInt(200) == 0) {
        index.forget(holder);
      }
      index.expect(holder, MODEL, chain, chain.length);
      assertThat(index.match(holder, MODEL, chain, chain.length)).isEqualTo(chain.length);
      assertThat(index.bytes()).isLessThanOrEqualTo(budget);
    }
    assertThat((double) index.bytes() / (index.liveEntries() + index.forgottenEntries()))
        .isLessThan(40);
  }

  @Test
  void aWorkerThatJoinsLateGetsItsShareOfAFullIndex() {
    PrefixIndex index = new PrefixIndex(1 << 20);
    SplittableRandom random = new SplittableRandom(4);
    long[] chain = new long[256];
    PrefixIndex.Holder first = index.newHolder(1 << 20);
    for (int round = 0; round < 500; round++) {
      Arrays.setAll(chain, i -> random.nextLong());
      index.expect(first, MODEL, chain, chain.length);
    }
    assertThat(first.entries()).as("the index is full").isLessThan(500 * 256);
    int full = index.liveEntries();
    PrefixIndex.Holder late = index.newHolder(1 << 20);
    for (int round = 0; round < 500; round++) {
      Arrays.setAll(chain, i -> random.nextLong());
      index.expect(late, MODEL, chain, chain.length);
      assertThat(index.match(late, MODEL, chain, chain.length)).isEqualTo(chain.length);
    }
    assertThat(late.entries()).isCloseTo(full / 2, within(full / 10));
    assertThat(first.entries() + late.entries()).isEqualTo(index.liveEntries());
  }
}
