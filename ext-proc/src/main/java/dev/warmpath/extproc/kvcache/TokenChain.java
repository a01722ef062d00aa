package dev.warmpath.extproc.kvcache;

import java.nio.charset.StandardCharsets;
import java.util.List;
import net.openhft.hashing.LongHashFunction;

/**
 * The gateway's own names of token blocks: each is a hash of its parent's name, its token ids and
 * what else makes it distinct. Engines have hash functions of their own, which differ between
 * versions, options and even processes; so theirs are only ever looked up, and never computed.
 */
public final class TokenChain {
  private static final LongHashFunction TEXT = LongHashFunction.xx3();
  private static final long ROOT = 0x5761_726d_7061_7468L;

  private TokenChain() {}

  /** Name in front of the first block of a sequence. */
  public static long root(long adapter) {
    return ROOT ^ adapter;
  }

  /** The name of the block behind {@code parent}; never 0. */
  public static long next(long parent, int[] tokens, int from, int blockTokens, long extra) {
    long name =
        LongHashFunction.xx3(parent ^ Long.rotateLeft(extra, 17))
            .hashInts(tokens, from, blockTokens);
    return name == 0 ? 1 : name;
  }

  /** Of a LoRA adapter's name or of one part of a block's extra keys; never 0. */
  public static long text(String value) {
    long hash = TEXT.hashBytes(value.getBytes(StandardCharsets.UTF_8));
    return hash == 0 ? 1 : hash;
  }

  /** Of all parts of a block's extra keys, in order; 0 for none. */
  public static long extra(List<Long> parts) {
    long hash = 0;
    for (long part : parts) {
      hash = TEXT.hashLong(hash ^ part);
    }
    return hash;
  }

  /**
   * Names of the full blocks of a prompt.
   *
   * @param firstExtra of the first block: the cache salt
   */
  public static long[] of(int[] tokens, int blockTokens, long adapter, long firstExtra) {
    long[] chain = new long[tokens.length / blockTokens];
    long parent = root(adapter);
    for (int i = 0; i < chain.length; i++) {
      parent = next(parent, tokens, i * blockTokens, blockTokens, i == 0 ? firstExtra : 0);
      chain[i] = parent;
    }
    return chain;
  }
}
