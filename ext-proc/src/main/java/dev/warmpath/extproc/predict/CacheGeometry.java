package dev.warmpath.extproc.predict;

/**
 * What {@code cached_tokens} has taught about the caches of one kind of worker: the unit in which
 * prompts hit, and how much of the nominal size is of use for prefixes.
 *
 * <p>Unit: the greatest common divisor of the values seen. Hybrid models hit in steps of 784 to
 * 1,600 tokens, so a prompt that shares 900 tokens saves 784, and one that shares 700 saves
 * nothing. One prefix that all prompts share shows one value, and no divisor of it; until there are
 * three, the unit is the block that workers report, if the values seen are whole blocks.
 *
 * <p>Share: a miss where a hit was expected means that the cache is smaller than thought (answers,
 * recurrent states and running requests take their part), a hit where none was expected that it is
 * larger. Down and up by 2 % each, between a tenth and four times. Of hits that nobody expected
 * only those are seen whose prompt came by chance to where its prefix still was, so the estimate
 * errs on the small side even so.
 *
 * <p>Not thread-safe: guarded by the router's lock.
 */
public final class CacheGeometry {
  private static final double DOWN = 0.98;
  private static final double UP = 1.02;
  private static final double LEAST = 0.1;
  private static final double MOST = 4;
  private static final int ENOUGH_VALUES = 3;

  private int blockTokens = 1;
  private int unit;
  private int lastValue;
  private int values;
  private double share = 1;
  private boolean reported;

  /** Whether a worker of this kind has ever reported cached tokens. */
  public boolean reported() {
    return reported;
  }

  /** Tokens of one step in which prompts hit; 1 while unknown. */
  public int unitTokens() {
    if (values < ENOUGH_VALUES) {
      return unit % blockTokens == 0 ? blockTokens : 1;
    }
    return unit;
  }

  /** A worker reports blocks of so many tokens. */
  void reportedBlock(int tokens) {
    blockTokens = Math.max(1, tokens);
  }

  /** Multiplies the nominal cache size. */
  public double share() {
    return share;
  }

  /** Tokens that will hit where {@code held} of {@code prompt} tokens are in the cache. */
  public int hit(double held, int prompt) {
    int possible = (int) Math.min(held, prompt - 1.0); // the last token is always computed
    int unitTokens = unitTokens();
    return Math.max(0, possible - possible % unitTokens);
  }

  /** Tokens that the cache sets aside for this many. */
  double roundedUp(double tokens) {
    int unitTokens = unitTokens();
    return Math.ceil(tokens / unitTokens) * unitTokens;
  }

  /** Learns from one answer. */
  void learn(int expected, int cached) {
    if (cached > 0) {
      reported = true;
      if (cached != lastValue) {
        lastValue = cached;
        values++;
        unit = gcd(unit, cached);
      }
    }
    double noise = 64 + Math.max(unitTokens(), 0.1 * Math.max(expected, cached));
    if (cached < expected - noise) {
      share = Math.max(LEAST, share * DOWN);
    } else if (cached > expected + noise) {
      share = Math.min(MOST, share * UP);
    }
  }

  private static int gcd(int a, int b) {
    int x = a;
    int y = b;
    while (y != 0) {
      int rest = x % y;
      x = y;
      y = rest;
    }
    return x;
  }
}
