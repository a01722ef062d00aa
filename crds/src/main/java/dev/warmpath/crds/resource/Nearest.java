package dev.warmpath.crds.resource;

import java.util.Collection;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Finds what a mistyped word was probably meant to be. */
final class Nearest {
  private Nearest() {}

  /**
   * The candidate nearest by edit distance without regard to case, if it is near enough; or null.
   */
  static @Nullable String of(String word, Collection<String> candidates) {
    if (word.length() > 100) {
      return null;
    }
    String lower = word.toLowerCase(Locale.ROOT);
    String best = null;
    int bestDistance = Integer.MAX_VALUE;
    for (String candidate : candidates) {
      int distance = distance(lower, candidate.toLowerCase(Locale.ROOT));
      if (distance < bestDistance) {
        bestDistance = distance;
        best = candidate;
      }
    }
    return best != null && bestDistance <= Math.max(1, best.length() / 3) ? best : null;
  }

  /** {@code ; did you mean "x"?} or an empty text. */
  static String hint(String word, Collection<String> candidates) {
    String nearest = of(word, candidates);
    return nearest == null ? "" : "; did you mean " + nearest + "?";
  }

  private static int distance(String a, String b) {
    int[] row = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int substitution = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(substitution, 1 + Math.min(row[j], row[j - 1]));
      }
    }
    return row[b.length()];
  }
}
