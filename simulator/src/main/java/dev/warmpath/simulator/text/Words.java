package dev.warmpath.simulator.text;

/**
 * The words of made-up answers. Each with its leading space is one token of {@link Tokenizer}, so
 * an answer that comes back as history has the tokens it was given out with.
 */
public final class Words {
  private static final String[] WORDS =
      ("a the and of to in is it on for with as at by from one two be this that can may we you then now"
              + " here there time work path warm cold fast slow step plan part line word place point water light"
              + " stone river field cloud paper glass house green black white quiet early later small large plain"
              + " clear sharp round table chair door road hill lake tree leaf wind rain snow sun moon star night"
              + " day hour year half many some each most more less than over under near far left right front back")
          .split(" ");

  private Words() {}

  /** Word {@code index} of the answer that belongs to {@code seed}. */
  public static String word(long seed, int index) {
    long z = seed + 0x9E3779B97F4A7C15L * (index + 1);
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    String word = WORDS[(int) ((z >>> 33) % WORDS.length)];
    return index == 0 ? word : " " + word;
  }
}
