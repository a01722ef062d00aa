package dev.warmpath.extproc.request;

/**
 * A prompt as the prefix index sees it: chained hashes of its blocks, and its size.
 *
 * <p>{@code chain[i]} stands for blocks 0 to i, so that two prompts that agree in {@code chain[i]}
 * agree in everything up to there. The cache salt is part of the chain; the model is not: readers
 * mix it in per candidate, so that one scan of the body serves candidates with different models.
 *
 * @param chain hashes, of which the first {@code blocks} count; the incomplete tail has none
 * @param size size of the whole prompt, tail included, in canonical bytes, or in tokens if {@code
 *     exact}
 * @param unit canonical bytes (or tokens) of one block
 * @param exact whether sizes are tokens: token-id prompts and replays, where nothing is estimated
 */
@SuppressWarnings("ArrayRecordComponent") // the hot path's own array; never compared or hashed
public record PromptFingerprint(long[] chain, int blocks, long size, int unit, boolean exact) {
  /** Canonical bytes of a block: about 64 tokens of English. */
  public static final int BLOCK_BYTES = 256;

  /** No prompt at all. */
  public static final PromptFingerprint NONE =
      new PromptFingerprint(new long[0], 0, 0, BLOCK_BYTES, false);

  /** A prompt known as token blocks. */
  public static PromptFingerprint ofTokens(long[] chain, long tokens, int blockTokens) {
    return new PromptFingerprint(chain, chain.length, tokens, blockTokens, true);
  }

  /** Prompt tokens, given how many tokens a canonical byte makes with this model. */
  public int tokens(double tokensPerByte) {
    double tokens = exact ? size : size * tokensPerByte;
    return (int) Math.max(1, Math.min(Integer.MAX_VALUE, Math.round(tokens)));
  }

  /** Tokens of one block, given how many tokens a canonical byte makes with this model. */
  public double blockTokens(double tokensPerByte) {
    return exact ? unit : unit * tokensPerByte;
  }
}
