package dev.warmpath.extproc.predict;

/**
 * Which prompts an engine computes beside a longer one that it is busy with, and how soon.
 *
 * <p>An engine with chunks of whole blocks can't spend all of a step's budget on a long prompt;
 * what is left goes to the next prompt if all that this one needs fits into it. A prompt of which
 * most is cached then has its first token long before the one in front of it. Other engines spend
 * all of each step on the prompt in front. Which kind this is, and how much fits, shows in the
 * order of first tokens: one band of uncached tokens for each power of two.
 *
 * <p>Not thread-safe: guarded by the router's lock.
 */
final class Riding {
  private static final int BANDS = 16;

  /** Three in a row are no accident. */
  private static final double RATE = 0.25;

  private static final double LIKELY = 0.5;
  private static final double STEP = 0.05;

  private final double[] share = new double[BANDS];
  private double stepSeconds = 0.5;
  private long samples;

  private static int band(int uncachedTokens) {
    return Math.min(BANDS - 1, 31 - Integer.numberOfLeadingZeros(Math.max(1, uncachedTokens)));
  }

  /** Whether a prompt with so much to compute does not wait for the longer one in front. */
  boolean rides(int uncachedTokens) {
    return share[band(uncachedTokens)] > LIKELY;
  }

  /**
   * Seconds from the moment when nothing but the long prompt and others like it are in front, at
   * speed 1.
   *
   * @param begun the long prompt is being computed already
   */
  double seconds(boolean begun, int ridersInFront) {
    return stepSeconds * steps(begun, ridersInFront);
  }

  /**
   * One goes with each step. Where the long prompt has begun, the next step begins in half a step
   * on average, and the first in front is in the running one twice out of three times.
   */
  private static double steps(boolean begun, int ridersInFront) {
    return begun ? 1.5 + Math.max(0, ridersInFront - 2.0 / 3) : 1.0 + ridersInFront;
  }

  /** A first token came before that of the longer prompt in front. */
  void rode(int uncachedTokens) {
    learn(uncachedTokens, 1);
  }

  /** What one took, at speed 1, that found the long prompt begun and nothing else in front. */
  void took(double seconds) {
    samples++;
    double error = Math.log(Math.max(1e-3, seconds)) - Math.log(stepSeconds * steps(true, 0));
    double rate = STEP * (1 + 10.0 / (samples + 5));
    stepSeconds *= Math.exp(Math.clamp(error, -rate, rate));
  }

  /** It waited until the longer prompt in front was done. */
  void waited(int uncachedTokens) {
    learn(uncachedTokens, 0);
  }

  private void learn(int uncachedTokens, double outcome) {
    int band = band(uncachedTokens);
    share[band] += RATE * (outcome - share[band]);
  }
}
