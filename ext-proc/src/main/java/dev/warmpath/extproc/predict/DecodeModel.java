package dev.warmpath.extproc.predict;

/**
 * How fast answers are produced, and how long they are.
 *
 * <pre>
 *   tokens = alpha x seconds in which prompts were computed beside them + beta x other seconds
 * </pre>
 *
 * <p>A step that computes a chunk of a prompt takes many times as long as one that only decodes,
 * and yields one token for each answer just the same. So answers nearly stand still while there is
 * a queue, and the time to the end of one depends on what the worker does until then.
 *
 * <p>Least squares on exponentially forgotten sums, drawn towards a prior, both rates non-negative.
 *
 * <p>Not thread-safe: guarded by the router's lock.
 */
final class DecodeModel {
  /** About a hundred answers of memory. */
  private static final double FORGETTING = 0.99;

  private static final double PRIOR_TOKENS_PER_SECOND = 25;

  /** The prior weighs as much as an answer of this many seconds each. */
  private static final double PRIOR_SECONDS = 1;

  private static final double LEAST_TOKENS_PER_SECOND = 0.1;

  private double beside = PRIOR_TOKENS_PER_SECOND;
  private double alone = PRIOR_TOKENS_PER_SECOND;
  private double besideSquares;
  private double aloneSquares;
  private double products;
  private double besideTokens;
  private double aloneTokens;
  private double meanTokens = 128;
  private double variance = 128 * 128;
  private long answers;

  /** Tokens of an answer, on average. */
  double meanTokens() {
    return meanTokens;
  }

  /** Variance by squared mean, at most 1: 0 where answers are alike, 1 where age tells nothing. */
  double spread() {
    return Math.min(1, variance / Math.max(1, meanTokens * meanTokens));
  }

  double tokens(double besideSeconds, double aloneSeconds) {
    return beside * besideSeconds + alone * aloneSeconds;
  }

  double aloneTokensPerSecond() {
    return Math.max(LEAST_TOKENS_PER_SECOND, alone);
  }

  double besideTokensPerSecond() {
    return beside;
  }

  /** An answer has ended. */
  void learn(double besideSeconds, double aloneSeconds, double tokens) {
    besideSquares = FORGETTING * besideSquares + besideSeconds * besideSeconds;
    aloneSquares = FORGETTING * aloneSquares + aloneSeconds * aloneSeconds;
    products = FORGETTING * products + besideSeconds * aloneSeconds;
    besideTokens = FORGETTING * besideTokens + besideSeconds * tokens;
    aloneTokens = FORGETTING * aloneTokens + aloneSeconds * tokens;
    solve();
    answers++;
    double rate = 1.0 / Math.min(answers, 50);
    double off = tokens - meanTokens;
    meanTokens += off * rate;
    variance += (off * (tokens - meanTokens) - variance) * rate;
  }

  private void solve() {
    double prior = PRIOR_SECONDS * PRIOR_SECONDS;
    double a = besideSquares + prior;
    double b = aloneSquares + prior;
    double x = besideTokens + prior * PRIOR_TOKENS_PER_SECOND;
    double y = aloneTokens + prior * PRIOR_TOKENS_PER_SECOND;
    double determinant = a * b - products * products;
    beside = (x * b - y * products) / determinant;
    alone = (y * a - x * products) / determinant;
    if (beside < 0) {
      beside = 0;
      alone = y / b;
    } else if (alone < 0) {
      alone = 0;
      beside = x / a;
    }
  }
}
