package dev.warmpath.extproc.label;

import org.jspecify.annotations.Nullable;

/**
 * Gives one label of a request by looking at its text. Implementations are thread-safe, fast (they
 * run on the path of the request) and deterministic; they abstain rather than guess.
 */
public interface Classifier {
  /** What policies call it: {@code labels.KEY}. */
  String key();

  /** Never throws for any text. */
  Verdict classify(RequestText text);

  /**
   * What a classifier says.
   *
   * @param value null where it can't say; then {@code reason} tells why
   * @param kinds what was found; never the text itself
   */
  record Verdict(@Nullable String value, java.util.List<String> kinds, @Nullable String reason) {
    public Verdict {
      kinds = java.util.List.copyOf(kinds);
    }

    public static Verdict of(String value) {
      return new Verdict(value, java.util.List.of(), null);
    }

    public static Verdict unknown(String reason) {
      return new Verdict(null, java.util.List.of(), reason);
    }
  }
}
