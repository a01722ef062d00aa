package dev.warmpath.benchmarks.replay;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/**
 * The formulas of other routers, each written from its published rule. All share one kind of prefix
 * knowledge: a record of what was sent where, per worker an LRU of 64-token blocks as large as the
 * worker's nominal cache, so that the rules are compared and not the quality of their indexes.
 */
final class PeerRules {
  private static final int BLOCK_TOKENS = 64;

  private PeerRules() {}

  static Algorithm random(long seed) {
    RandomGenerator random = new SplittableRandom(Prompt.mix(seed + 0x5851F42D4C957F2DL));
    return (request, now, up) -> up[random.nextInt(up.length)];
  }

  static Algorithm roundRobin() {
    return new Algorithm() {
      private int next;

      @Override
      public int choose(ReplayRequest request, long nowNanos, int[] workersUp) {
        return workersUp[Math.floorMod(next++, workersUp.length)];
      }
    };
  }

  /** Rendezvous hash of the conversation. */
  static Algorithm sessionAffinity() {
    return (request, now, up) -> {
      int best = up[0];
      long bestScore = Long.MIN_VALUE;
      for (int worker : up) {
        long score = Prompt.mix(request.session() * 0x9E3779B97F4A7C15L ^ Prompt.mix(worker + 1L));
        if (score > bestScore) {
          bestScore = score;
          best = worker;
        }
      }
      return best;
    };
  }

  /** Hash of the first two 512-token blocks: a static form of prefix affinity. */
  static Algorithm firstBlocksAffinity() {
    return (request, now, up) -> {
      long[] chain = request.prompt().chain(TraceWorkload.BLOCK_TOKENS);
      long key = chain.length == 0 ? request.session() : chain[Math.min(1, chain.length - 1)];
      return up[(int) Long.remainderUnsigned(Prompt.mix(key), up.length)];
    };
  }

  static Algorithm leastRequest(long seed) {
    return new LowestCost(seed, 0) {
      @Override
      double cost(Load load, ReplayRequest request, int matchedTokens) {
        return load.requests;
      }
    };
  }

  /** SGLang's cache-aware rule. */
  static Algorithm prefixThreshold(long seed, long cacheTokens) {
    return new Accounting(seed, cacheTokens) {
      @Override
      int pick(ReplayRequest request, int[] up, int[] matched) {
        int least = Integer.MAX_VALUE;
        int most = 0;
        for (int worker : up) {
          least = Math.min(least, load(worker).requests);
          most = Math.max(most, load(worker).requests);
        }
        if (most - least > 32 && most > 1.1 * least) {
          return argmin(up, worker -> load(worker).requests);
        }
        int best = argmin(up, worker -> -matched[index(up, worker)]);
        if (matched[index(up, best)] > 0.5 * request.prompt().tokens()) {
          return best;
        }
        return argmin(up, worker -> blocksHeld(worker));
      }
    };
  }

  /**
   * llm-d's filter: workers with at least 80 % of the prompt, unless their backlog differs by more
   * than 18 s.
   */
  static Algorithm filterToken(long seed, long cacheTokens, double tokensPerSecond) {
    return new Accounting(seed, cacheTokens) {
      @Override
      int pick(ReplayRequest request, int[] up, int[] matched) {
        double least = Double.MAX_VALUE;
        double most = 0;
        int keepers = 0;
        for (int i = 0; i < up.length; i++) {
          double seconds = load(up[i]).uncachedTokens / tokensPerSecond;
          least = Math.min(least, seconds);
          most = Math.max(most, seconds);
          if (matched[i] >= 0.8 * request.prompt().tokens()) {
            keepers++;
          }
        }
        int[] candidates = up;
        if (keepers > 0 && most - least <= 18) {
          candidates = new int[keepers];
          int next = 0;
          for (int i = 0; i < up.length; i++) {
            if (matched[i] >= 0.8 * request.prompt().tokens()) {
              candidates[next++] = up[i];
            }
          }
        }
        return argmin(candidates, worker -> load(worker).uncachedTokens);
      }
    };
  }

  /** Dynamo's linear cost in blocks. */
  static Algorithm linearCost(long seed, long cacheTokens) {
    return new LowestCost(seed, cacheTokens) {
      @Override
      double cost(Load load, ReplayRequest request, int matchedTokens) {
        double prefillBlocks =
            (load.uncachedTokens + request.prompt().tokens() - matchedTokens)
                / (double) BLOCK_TOKENS;
        return prefillBlocks + load.decodeTokens / (double) BLOCK_TOKENS;
      }
    };
  }

  /** Queued and own uncached tokens, times the batch that they would join. */
  static Algorithm lmetric(long seed, long cacheTokens) {
    return new LowestCost(seed, cacheTokens) {
      @Override
      double cost(Load load, ReplayRequest request, int matchedTokens) {
        double tokens = load.uncachedTokens + request.prompt().tokens() - matchedTokens;
        return tokens * (load.requests + 1);
      }
    };
  }

  /** A gateway's own account of one worker. */
  private static final class Load {
    int requests;
    long uncachedTokens;
    long decodeTokens;
  }

  private static final class Placed {
    final int uncachedTokens;
    boolean started;

    Placed(int uncachedTokens) {
      this.uncachedTokens = uncachedTokens;
    }
  }

  /** Common to rules that count what they sent and remember prefixes. */
  private abstract static class Accounting implements Algorithm {
    private final RandomGenerator random;
    private final int cacheBlocks;
    private final Map<Integer, Load> loads = new HashMap<>();
    private final Map<Integer, LinkedHashMap<Long, Boolean>> caches = new HashMap<>();
    private final Map<Long, Placed> placed = new HashMap<>();

    Accounting(long seed, long cacheTokens) {
      this.random = new SplittableRandom(Prompt.mix(seed + 0x5851F42D4C957F2DL));
      this.cacheBlocks = (int) (cacheTokens / BLOCK_TOKENS);
    }

    abstract int pick(ReplayRequest request, int[] up, int[] matched);

    @Override
    public final int choose(ReplayRequest request, long nowNanos, int[] workersUp) {
      long[] chain = cacheBlocks == 0 ? new long[0] : request.prompt().chain(BLOCK_TOKENS);
      int[] matched = new int[workersUp.length];
      for (int i = 0; i < workersUp.length; i++) {
        matched[i] = matchedBlocks(workersUp[i], chain) * BLOCK_TOKENS;
      }
      int worker = pick(request, workersUp, matched);
      int uncached = request.prompt().tokens() - matched[index(workersUp, worker)];
      remember(worker, chain);
      Load load = load(worker);
      load.requests++;
      load.uncachedTokens += uncached;
      load.decodeTokens += request.prompt().tokens();
      placed.put(request.id(), new Placed(uncached));
      return worker;
    }

    @Override
    public void firstToken(ReplayRequest request, int worker, long nowNanos) {
      Placed was = placed.get(request.id());
      if (was != null && !was.started) {
        was.started = true;
        load(worker).uncachedTokens -= was.uncachedTokens;
      }
    }

    @Override
    public void ended(
        ReplayRequest request, int worker, long nowNanos, int cachedTokens, boolean failed) {
      firstToken(request, worker, nowNanos);
      if (placed.remove(request.id()) != null) {
        Load load = load(worker);
        load.requests--;
        load.decodeTokens -= request.prompt().tokens();
      }
    }

    @Override
    public void restarted(int worker, long nowNanos) {
      caches.remove(worker);
    }

    Load load(int worker) {
      return loads.computeIfAbsent(worker, w -> new Load());
    }

    int blocksHeld(int worker) {
      LinkedHashMap<Long, Boolean> cache = caches.get(worker);
      return cache == null ? 0 : cache.size();
    }

    private int matchedBlocks(int worker, long[] chain) {
      LinkedHashMap<Long, Boolean> cache = caches.get(worker);
      int blocks = 0;
      while (cache != null && blocks < chain.length && cache.containsKey(chain[blocks])) {
        blocks++;
      }
      return blocks;
    }

    private void remember(int worker, long[] chain) {
      LinkedHashMap<Long, Boolean> cache =
          caches.computeIfAbsent(worker, w -> new LinkedHashMap<>(1024, 0.75f, true));
      // Tail first, so that the head is the youngest and the tail is evicted before it.
      for (int i = chain.length - 1; i >= 0; i--) {
        cache.put(chain[i], Boolean.TRUE);
      }
      var eldest = cache.keySet().iterator();
      while (cache.size() > cacheBlocks && eldest.hasNext()) {
        eldest.next();
        eldest.remove();
      }
    }

    /** Equal costs are broken at random, so that no worker is favoured by its number. */
    final int argmin(int[] workers, java.util.function.IntToDoubleFunction cost) {
      int best = workers[0];
      double bestCost = Double.POSITIVE_INFINITY;
      int ties = 0;
      for (int worker : workers) {
        double own = cost.applyAsDouble(worker);
        if (own < bestCost) {
          best = worker;
          bestCost = own;
          ties = 1;
        } else if (own == bestCost && random.nextInt(++ties) == 0) {
          best = worker;
        }
      }
      return best;
    }

    static int index(int[] workers, int worker) {
      for (int i = 0; i < workers.length; i++) {
        if (workers[i] == worker) {
          return i;
        }
      }
      throw new IllegalArgumentException("worker " + worker + " is not up");
    }
  }

  /** A rule that is one number per worker. */
  private abstract static class LowestCost extends Accounting {
    LowestCost(long seed, long cacheTokens) {
      super(seed, cacheTokens);
    }

    /** Lower is better. */
    abstract double cost(Load load, ReplayRequest request, int matchedTokens);

    @Override
    int pick(ReplayRequest request, int[] up, int[] matched) {
      return argmin(up, worker -> cost(load(worker), request, matched[index(up, worker)]));
    }
  }
}
