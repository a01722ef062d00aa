package dev.warmpath.simulator.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The pool against a slow reference that keeps its queue as a list and searches everything. */
@SuppressWarnings("ListRemoveAmbiguous") // Integer objects are values here, ints are positions.
class BlockPoolTest {
  @Test
  void randomOperationsLeavePoolAndReferenceEqual() {
    for (long seed = 1; seed <= 40; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      int size = 1 + random.nextInt(60);
      List<Long> removed = new ArrayList<>();
      BlockPool pool = new BlockPool(size, removals(removed));
      Reference reference = new Reference(size);
      List<Integer> used = new ArrayList<>();
      for (int step = 0; step < 4_000; step++) {
        String what = "seed " + seed + " step " + step;
        switch (random.nextInt(5)) {
          case 0, 1 -> {
            if (reference.queue.isEmpty()) {
              continue;
            }
            int block = pool.take();
            assertThat(block).as(what).isEqualTo(reference.take());
            used.add(block);
            // Few distinct hashes, some of them neighbours in the index, so that copies and runs of
            // collisions are common.
            if (random.nextInt(4) > 0) {
              long hash = random.nextInt(size * 2) * (random.nextBoolean() ? 1L : 1L << 32);
              pool.store(block, hash);
              reference.store(block, hash);
            }
          }
          case 2, 3 -> {
            if (used.isEmpty()) {
              continue;
            }
            int block = used.remove(random.nextInt(used.size()));
            pool.release(block);
            reference.release(block);
          }
          default -> {
            long hash = random.nextInt(size * 2);
            int found = pool.find(hash);
            assertThat(found).as(what).isEqualTo(reference.find(hash));
            if (found >= 0) {
              pool.use(found);
              reference.use(found);
              used.add(found);
            }
          }
        }
        assertThat(pool.free()).as(what).isEqualTo(reference.queue.size());
        assertThat(removed.size()).as(what).isEqualTo(reference.removed.size());
      }
      assertThat(removed).as("seed " + seed).isEqualTo(reference.removed);
      for (long hash = 0; hash < size * 2L; hash++) {
        assertThat(pool.find(hash)).as("seed " + seed).isEqualTo(reference.find(hash));
        assertThat(pool.find(hash << 32)).as("seed " + seed).isEqualTo(reference.find(hash << 32));
      }
    }
  }

  @Test
  void tailOfAFinishedSequenceIsForgottenBeforeItsHead() {
    List<Long> removed = new ArrayList<>();
    RequestCache cache = new RequestCache(new CacheModel(16, 8, false, 0, true), removals(removed));
    EngineRequest first = new EngineRequest(new long[] {101, 102, 103, 104}, 64, 1, null);
    assertThat(cache.admit(first, 0, 64)).isTrue();
    cache.seal(first, 64);
    cache.release(first);

    EngineRequest second =
        new EngineRequest(new long[] {201, 202, 203, 204, 205, 206}, 96, 1, null);
    assertThat(cache.admit(second, 0, 96)).isTrue();

    assertThat(removed).containsExactly(104L, 103L);
    assertThat(cache.usableBlocks(new long[] {101, 102, 103, 104}, 65)).isEqualTo(2);
  }

  @Test
  void blocksInUseAreNeverTaken() {
    RequestCache cache =
        new RequestCache(new CacheModel(16, 8, false, 0, true), CacheListener.NONE);
    EngineRequest holder = new EngineRequest(new long[] {1, 2, 3, 4, 5}, 80, 1, null);
    assertThat(cache.admit(holder, 0, 80)).isTrue();
    cache.seal(holder, 80);

    EngineRequest other = new EngineRequest(new long[] {11, 12, 13, 14}, 64, 1, null);
    assertThat(cache.admit(other, 0, 64)).isFalse();
    assertThat(cache.usableBlocks(holder.chain(), 81)).isEqualTo(5);
    assertThat(cache.pool.free()).isEqualTo(3);
  }

  private static CacheListener removals(List<Long> removed) {
    return new CacheListener() {
      @Override
      public void onStored(EngineRequest request, int fromBlock, int toBlock) {}

      @Override
      public void onRemoved(long hash) {
        removed.add(hash);
      }

      @Override
      public void onStepEnd(long atNanos) {}
    };
  }

  private static final class Reference {
    final int[] references;
    final List<Integer> queue = new ArrayList<>();
    final Map<Integer, Long> hashes = new HashMap<>();
    final List<Integer> storeOrder = new ArrayList<>();
    final List<Long> removed = new ArrayList<>();

    Reference(int size) {
      references = new int[size];
      Arrays.setAll(references, i -> 0);
      for (int i = 0; i < size; i++) {
        queue.add(i);
      }
    }

    int take() {
      int block = queue.removeFirst();
      Long hash = hashes.remove(block);
      if (hash != null) {
        storeOrder.remove((Integer) block);
        removed.add(hash);
      }
      references[block] = 1;
      return block;
    }

    void store(int block, long hash) {
      hashes.put(block, hash);
      storeOrder.add(block);
    }

    int find(long hash) {
      for (int i = storeOrder.size() - 1; i >= 0; i--) {
        if (hashes.getOrDefault(storeOrder.get(i), -1L) == hash) {
          return storeOrder.get(i);
        }
      }
      return -1;
    }

    void use(int block) {
      if (references[block]++ == 0) {
        queue.remove((Integer) block);
      }
    }

    void release(int block) {
      if (--references[block] == 0) {
        queue.addLast(block);
      }
    }
  }
}
