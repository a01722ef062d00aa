package dev.warmpath.extproc.prompt;

import dev.warmpath.extproc.kvcache.TokenChain;
import org.jspecify.annotations.Nullable;

/**
 * The token ids of one prompt. The chain for a block size is made once; calls for one prompt come
 * from one thread at a time.
 */
public final class TokenPrompt {
  private final int[] tokens;
  private final long extra;
  private long @Nullable [] chain;
  private int chainBlock;
  private long chainAdapter;

  /**
   * @param tokens ids, in order
   * @param cacheSalt null where everybody may share its blocks
   */
  public TokenPrompt(int[] tokens, @Nullable String cacheSalt) {
    this.tokens = tokens;
    this.extra =
        cacheSalt == null ? 0 : TokenChain.extra(java.util.List.of(TokenChain.text(cacheSalt)));
  }

  public int length() {
    return tokens.length;
  }

  /** Whether a cache salt makes it another prompt than its tokens say. */
  public boolean salted() {
    return extra != 0;
  }

  /** Names of its full blocks. */
  public long[] chain(int blockTokens, long adapter) {
    long[] known = chain;
    if (known == null || chainBlock != blockTokens || chainAdapter != adapter) {
      known = TokenChain.of(tokens, blockTokens, adapter, extra);
      chain = known;
      chainBlock = blockTokens;
      chainAdapter = adapter;
    }
    return known;
  }

  /** For tests. */
  int[] tokens() {
    return tokens.clone();
  }
}
