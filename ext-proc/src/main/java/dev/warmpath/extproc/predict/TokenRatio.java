package dev.warmpath.extproc.predict;

import dev.warmpath.extproc.request.PromptFingerprint;

/**
 * Tokens that a canonical byte makes with one model, learnt from reported prompt tokens. One value
 * for a model, so that a block and a whole prompt are measured with the same rule.
 *
 * <p>Not thread-safe: guarded by the router's lock; {@link #tokensPerByte} may be read without it.
 */
public final class TokenRatio {
  /** Four bytes a token: English text with a current vocabulary. */
  public static final double START = 0.25;

  private static final double LEAST = 0.02;
  private static final double MOST = 2;

  /** About fifty prompts of memory. */
  private static final double FORGETTING = 0.98;

  private double tokens;
  private double bytes;
  private volatile double ratio = START;

  public TokenRatio() {
    bytes = 8_192; // the prior weighs as much as one prompt of 8 kB
    tokens = START * bytes;
  }

  public double tokensPerByte() {
    return ratio;
  }

  public void learn(PromptFingerprint prompt, int promptTokens) {
    if (prompt.exact() || prompt.size() < 64) {
      return;
    }
    tokens = FORGETTING * tokens + promptTokens;
    bytes = FORGETTING * bytes + prompt.size();
    ratio = Math.clamp(tokens / bytes, LEAST, MOST);
  }
}
