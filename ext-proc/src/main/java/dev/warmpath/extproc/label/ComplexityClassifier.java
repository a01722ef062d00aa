package dev.warmpath.extproc.label;

import java.util.List;

/**
 * Label {@code complexity}: {@code simple}, {@code medium} or {@code complex}, from the words of
 * the last user message and the shape of the request. A score of points, each for something that
 * can be pointed at; docs/labels.md lists them. Between the bands, and for what can't be read (an
 * image, a script that has no word list here), it abstains: a wrong "simple" costs quality, an
 * unknown only money.
 *
 * <pre>
 *   long prompt      +1 above 300 words of the message, +2 above 1,500
 *   code             +2 a code block or code-like lines
 *   mathematics      +2 formulas, proofs
 *   reasoning words  +2 each of two (prove, derive, step by step, trade-off, root cause …)
 *   task words       +1 each of two (explain, compare, design, implement, refactor, analyse …)
 *   several steps    +1 numbered list, or "first … then … finally"
 *   tools            +1
 *   small talk       -2 short message of greeting, thanks, or a plain question of fact
 * </pre>
 */
final class ComplexityClassifier implements Classifier {
  private static final int SIMPLE_AT_MOST = 0;
  private static final int MEDIUM_FROM = 2;
  private static final int COMPLEX_FROM = 5;

  private static final int LONG_WORDS = 300;
  private static final int VERY_LONG_WORDS = 1500;
  private static final int SHORT_WORDS = 25;

  /** Characters that are looked at: the start of a message says what is wanted. */
  private static final int MAX_CHARS = 16 * 1024;

  private static final List<String> REASONING =
      List.of(
          "prove",
          "proof",
          "derive",
          "step by step",
          "step-by-step",
          "trade-off",
          "tradeoff",
          "root cause",
          "think through",
          "reason about",
          "optimal",
          "complexity of",
          "why does",
          "counterexample",
          "formally",
          "theorem");
  private static final List<String> TASKS =
      List.of(
          "explain",
          "compare",
          "design",
          "implement",
          "refactor",
          "analyse",
          "analyze",
          "debug",
          "architecture",
          "plan ",
          "write a program",
          "write code",
          "algorithm",
          "evaluate",
          "summarize",
          "summarise",
          "translate",
          "essay");
  private static final List<String> SMALL =
      List.of(
          "hello",
          "hi ",
          "hi!",
          "hey",
          "thanks",
          "thank you",
          "good morning",
          "what is",
          "what's",
          "who is",
          "when is",
          "when was",
          "where is",
          "how many",
          "how old",
          "what time",
          "capital of",
          "define ",
          "spell ",
          "yes",
          "no",
          "ok");

  @Override
  public String key() {
    return "complexity";
  }

  @Override
  public Verdict classify(RequestText text) {
    BodyText body = text.normalized();
    String message = UserWords.of(body, MAX_CHARS);
    if (message.isBlank()) {
      return Verdict.unknown("no user text");
    }
    if (body.opaque()) {
      return Verdict.unknown("holds what is no text");
    }
    if (!UserWords.mostlyLatin(message)) {
      return Verdict.unknown("no word list for this script");
    }
    int words = UserWords.count(message);
    String lower = " " + message.toLowerCase(java.util.Locale.ROOT) + " ";
    int score = 0;
    score += words > VERY_LONG_WORDS ? 2 : words > LONG_WORDS ? 1 : 0;
    score += CodeClassifier.looksLikeCode(message) ? 2 : 0;
    score += looksLikeMathematics(lower) ? 2 : 0;
    score += 2 * Math.min(2, UserWords.hits(lower, REASONING));
    score += Math.min(2, UserWords.hits(lower, TASKS));
    score += hasSteps(lower) ? 1 : 0;
    score += body.tools() ? 1 : 0;
    boolean small = words <= SHORT_WORDS && UserWords.hits(lower, SMALL) > 0;
    score -= small ? 2 : 0;
    if (score >= COMPLEX_FROM) {
      return Verdict.of("complex");
    }
    if (score >= MEDIUM_FROM) {
      return Verdict.of("medium");
    }
    boolean short_ = words <= SHORT_WORDS;
    if (score <= SIMPLE_AT_MOST && (small || short_)) {
      return Verdict.of("simple");
    }
    return Verdict.unknown("between simple and medium");
  }

  private static boolean looksLikeMathematics(String lower) {
    return lower.contains("\\frac")
        || lower.contains("\\int")
        || lower.contains("\\sum")
        || lower.contains("$$")
        || lower.contains("equation")
        || lower.contains("integral")
        || lower.contains("eigenvalue");
  }

  private static boolean hasSteps(String lower) {
    return (lower.contains(" first") && lower.contains(" then "))
        || lower.contains(" finally")
        || (lower.contains("1.") && lower.contains("2.") && lower.contains("3."));
  }
}
