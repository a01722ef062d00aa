package dev.warmpath.crds.cel;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The parser's refusals in words: what was found, and how it is written instead. The parser names
 * the tokens of its grammar, which no writer of a policy knows.
 */
final class SyntaxError {
  private static final Pattern UNEXPECTED =
      Pattern.compile(
          "(?:mismatched input|extraneous input|no viable alternative at input) .*?"
              + "(?: expecting (.*))?");
  private static final Pattern MISSING = Pattern.compile("missing (\\S+) at .*");
  private static final Pattern UNKNOWN_SIGN = Pattern.compile("token recognition error at: .*");
  private static final Pattern RESERVED = Pattern.compile("reserved identifier: (.*)");
  private static final Pattern TOO_DEEP =
      Pattern.compile("Expression recursion limit exceeded. limit: (.*)");

  /** What stands at the place: a word or number, a run of operator signs, or one character. */
  private static final Pattern FOUND =
      Pattern.compile("\\G(?:[\\p{L}_][\\p{L}\\p{N}_]*|[0-9][0-9A-Za-z_.]*|[=<>!&|]+|\\.+|.)");

  /** Where the grammar goes on with an operand, a number is among what it expects. */
  private static final String OPERAND = "NUM_FLOAT";

  private static final Map<String, String> INSTEAD =
      Map.ofEntries(
          Map.entry("=", "a comparison is written =="),
          Map.entry("===", "a comparison is written =="),
          Map.entry("=>", "at least is written >="),
          Map.entry("=<", "at most is written <="),
          Map.entry("<>", "unequal is written !="),
          Map.entry("!==", "unequal is written !="),
          Map.entry("&", "and is written &&"),
          Map.entry("|", "or is written ||"),
          Map.entry("and", "and is written &&"),
          Map.entry("or", "or is written ||"),
          Map.entry("not", "not is written !"),
          Map.entry("is", "a comparison is written =="),
          Map.entry("\u201c", "text is quoted with \" or '"),
          Map.entry("\u201d", "text is quoted with \" or '"),
          Map.entry("\u2018", "text is quoted with \" or '"),
          Map.entry("\u2019", "text is quoted with \" or '"),
          Map.entry("`", "text is quoted with \" or '"),
          Map.entry("#", "a comment begins with //"),
          Map.entry(";", "there is one expression, without a sign at its end"));

  private SyntaxError() {}

  /** Null where the message is none of the parser's. */
  static @Nullable CelProblem of(String message, String expression, int line, int column) {
    Matcher missing = MISSING.matcher(message);
    if (missing.matches()) {
      return new CelProblem(line, column, missing.group(1).replace("'", "") + " is missing");
    }
    Matcher reserved = RESERVED.matcher(message);
    if (reserved.matches()) {
      return new CelProblem(line, column, reserved.group(1) + " is a reserved word");
    }
    Matcher deep = TOO_DEEP.matcher(message);
    if (deep.matches()) {
      return new CelProblem(line, column, "nested deeper than " + deep.group(1));
    }
    Matcher unexpected = UNEXPECTED.matcher(message);
    boolean sign = UNKNOWN_SIGN.matcher(message).matches();
    if (!sign && !unexpected.matches()) {
      return null;
    }
    String expected = sign ? null : unexpected.group(1);
    return new Place(expression, line, column).problem(expected, sign);
  }

  /** A place in the text, moved to the beginning of what stands there. */
  private static final class Place {
    private final String expression;
    private final String text;
    private final int line;
    private final int column;

    Place(String expression, int line, int column) {
      this.expression = expression;
      this.line = line;
      this.text = expression.lines().skip(line - 1L).findFirst().orElse("");
      int at = Math.clamp(column - 1L, 0, text.length());
      while (at > 0 && at < text.length() && isOperator(at) && isOperator(at - 1)) {
        at--;
      }
      this.column = at + 1;
    }

    private boolean isOperator(int at) {
      return "=<>!&|".indexOf(text.charAt(at)) >= 0;
    }

    CelProblem problem(@Nullable String expected, boolean unknownSign) {
      if (expression.isBlank()) {
        return at("is empty");
      }
      Matcher here = FOUND.matcher(text);
      if (!here.find(column - 1)) {
        return at(
            expected != null && expected.contains(OPERAND)
                ? "ends where a value is expected"
                : "is not complete");
      }
      String found = here.group();
      String instead = INSTEAD.get(found);
      if (instead == null) {
        instead = INSTEAD.get(wordBefore());
      }
      if (instead == null && unknownSign && (found.equals("'") || found.equals("\""))) {
        return at("text that is not closed, or an escape in it that does not exist");
      }
      if (instead == null && expected != null) {
        instead = expected.contains(OPERAND) ? "a value is expected" : "an operator is expected";
      }
      return at("unexpected " + found + (instead == null ? "" : ": " + instead));
    }

    /** In "not true" it is the second word that the grammar stumbles over. */
    private String wordBefore() {
      String before = text.substring(0, column - 1).stripTrailing();
      int begin = before.length();
      while (begin > 0 && Character.isLetter(before.charAt(begin - 1))) {
        begin--;
      }
      return before.substring(begin);
    }

    private CelProblem at(String message) {
      return new CelProblem(line, column, message);
    }
  }
}
