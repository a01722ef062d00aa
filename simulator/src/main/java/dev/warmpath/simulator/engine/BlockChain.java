package dev.warmpath.simulator.engine;

/**
 * Chained hashes of the full blocks of a sequence: entry {@code i} names everything from the start
 * to the end of block {@code i}. Two sequences share a prefix of {@code n} blocks exactly when
 * their entries {@code n - 1} are equal.
 */
public final class BlockChain {
  private static final long ROOT = 0x6A09E667F3BCC909L;

  private BlockChain() {}

  /**
   * The chain of a sequence given as segments, for traffic that has no text. Equal segment
   * identities in equal order give equal chains; the answer of a request is simply its last
   * segment.
   *
   * @param identities one identity per segment
   * @param tokens length of each segment
   * @param count how many segments of the two arrays count
   */
  public static long[] ofSegments(long[] identities, int[] tokens, int count, int blockTokens) {
    long total = 0;
    for (int i = 0; i < count; i++) {
      total += tokens[i];
    }
    long[] chain = new long[Math.toIntExact(total / blockTokens)];
    long hash = ROOT;
    int block = 0;
    int room = blockTokens;
    for (int i = 0; i < count && block < chain.length; i++) {
      int offset = 0;
      while (offset < tokens[i] && block < chain.length) {
        int taken = Math.min(room, tokens[i] - offset);
        hash = mix(hash ^ mix(identities[i] + 0x9E3779B97F4A7C15L * (offset + 1)) + taken);
        offset += taken;
        room -= taken;
        if (room == 0) {
          chain[block++] = hash;
          room = blockTokens;
        }
      }
    }
    return chain;
  }

  /** The same for whole arrays. */
  public static long[] ofSegments(long[] identities, int[] tokens, int blockTokens) {
    return ofSegments(identities, tokens, identities.length, blockTokens);
  }

  /** The chain of a sequence of token ids; {@code salt} keeps caches of different owners apart. */
  public static long[] ofTokens(int[] ids, int count, int blockTokens, long salt) {
    long[] chain = new long[count / blockTokens];
    long hash = ROOT ^ mix(salt);
    for (int block = 0, at = 0; block < chain.length; block++) {
      for (int end = at + blockTokens; at < end; at++) {
        hash = (hash ^ ids[at]) * 0x9E3779B97F4A7C15L;
        hash ^= hash >>> 29;
      }
      hash = mix(hash);
      chain[block] = hash;
    }
    return chain;
  }

  /** How many leading blocks two chains share. */
  public static int sharedBlocks(long[] a, long[] b) {
    int low = 0;
    int high = Math.min(a.length, b.length);
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (a[middle - 1] == b[middle - 1]) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  static long mix(long value) {
    long z = value;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
