package dev.warmpath.extproc.label;

import java.util.List;

/**
 * Label {@code code}: {@code present} or {@code absent} in the last user message. A fenced block,
 * or at least two lines that are written like code. Abstains where there is no text.
 */
final class CodeClassifier implements Classifier {
  private static final int MAX_CHARS = 64 * 1024;
  private static final int LINES = 2;

  private static final List<String> STARTS =
      List.of(
          "import ",
          "from ",
          "def ",
          "class ",
          "public ",
          "private ",
          "fn ",
          "func ",
          "function ",
          "const ",
          "let ",
          "var ",
          "return ",
          "if (",
          "for (",
          "while (",
          "#include",
          "package ",
          "select ",
          "insert ",
          "update ",
          "create table",
          "@",
          "</",
          "<div",
          "$ ",
          "async ");

  @Override
  public String key() {
    return "code";
  }

  @Override
  public Verdict classify(RequestText text) {
    String message = UserWords.of(text.normalized(), MAX_CHARS);
    if (message.isBlank()) {
      return Verdict.unknown("no user text");
    }
    return Verdict.of(looksLikeCode(message) ? "present" : "absent");
  }

  static boolean looksLikeCode(String message) {
    if (message.contains("```")) {
      return true;
    }
    int lines = 0;
    for (String line : message.split("[\n\r]", 400)) {
      if (isCode(line.strip()) && ++lines == LINES) {
        return true;
      }
    }
    return false;
  }

  private static boolean isCode(String line) {
    if (line.length() < 2) {
      return line.equals("}");
    }
    char last = line.charAt(line.length() - 1);
    boolean closed = last == ';' || last == '{' || last == '}' || last == ')' || last == ':';
    boolean operators =
        line.contains(" = ")
            || line.contains("()")
            || line.contains("->")
            || line.contains("=>")
            || line.contains("::")
            || line.contains("==");
    if (operators && closed) {
      return true;
    }
    String lower = line.toLowerCase(java.util.Locale.ROOT);
    for (String start : STARTS) {
      if (lower.startsWith(start)) {
        return closed || operators || line.startsWith("#") || line.startsWith("import ");
      }
    }
    return false;
  }
}
