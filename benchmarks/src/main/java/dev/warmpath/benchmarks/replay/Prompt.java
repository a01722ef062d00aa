package dev.warmpath.benchmarks.replay;

import dev.warmpath.simulator.engine.BlockChain;
import java.util.Arrays;

/**
 * A prompt without text: a sequence of segments, each an identity and a length in tokens. Two
 * prompts hold the same tokens up to the point where their segment sequences differ, which is what
 * prefix caches see of real text.
 *
 * <p>Immutable. Thread-safe.
 */
public final class Prompt {
  private final long[] ids;
  private final int[] ends;

  private Prompt(long[] ids, int[] ends) {
    this.ids = ids;
    this.ends = ends;
  }

  /** An empty prompt, to be extended by {@link #plus}. */
  public static Prompt empty() {
    return new Prompt(new long[0], new int[0]);
  }

  /**
   * This prompt followed by {@code tokens} more tokens with identity {@code id}; {@code tokens >
   * 0}.
   */
  public Prompt plus(long id, int tokens) {
    if (tokens <= 0) {
      throw new IllegalArgumentException(
          "tokens " + tokens + " of segment " + id + " must be positive");
    }
    long[] moreIds = Arrays.copyOf(ids, ids.length + 1);
    int[] moreEnds = Arrays.copyOf(ends, ends.length + 1);
    moreIds[ids.length] = id;
    moreEnds[ids.length] = tokens() + tokens;
    return new Prompt(moreIds, moreEnds);
  }

  /** Length in tokens. */
  public int tokens() {
    return ends.length == 0 ? 0 : ends[ends.length - 1];
  }

  /**
   * Chained hashes of all full blocks of {@code blockTokens} tokens: element i stands for tokens 0
   * to (i+1) * blockTokens. Equal prefixes give equal elements.
   */
  public long[] chain(int blockTokens) {
    long[] chain = new long[tokens() / blockTokens];
    long state = 0x9E3779B97F4A7C15L;
    int segment = 0;
    for (int block = 0; block < chain.length; block++) {
      int from = block * blockTokens;
      int to = from + blockTokens;
      while (from < to) {
        while (ends[segment] <= from) {
          segment++;
        }
        int segmentStart = segment == 0 ? 0 : ends[segment - 1];
        int until = Math.min(to, ends[segment]);
        state = mix(state ^ mix(ids[segment] * 0xD1B54A32D192ED03L + (from - segmentStart)));
        state = mix(state + (until - from));
        from = until;
      }
      chain[block] = state;
    }
    return chain;
  }

  /**
   * The same tokens as the engine model names them; made by its own code, so that neither can
   * repeat the other's error.
   */
  long[] engineChain(int blockTokens) {
    int[] lengths = new int[ids.length];
    for (int i = 0; i < ids.length; i++) {
      lengths[i] = ends[i] - (i == 0 ? 0 : ends[i - 1]);
    }
    return BlockChain.ofSegments(ids, lengths, blockTokens);
  }

  /** Finaliser of SplitMix64: a bijection with good avalanche. */
  static long mix(long z) {
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
