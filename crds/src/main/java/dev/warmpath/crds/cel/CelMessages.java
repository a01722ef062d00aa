package dev.warmpath.crds.cel;

import dev.cel.common.CelIssue;
import dev.cel.common.types.CelType;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The compiler's messages in words of the resource's writer. */
final class CelMessages {
  private static final Pattern UNDECLARED = Pattern.compile("undeclared reference to '([^']*)'.*");
  private static final Pattern UNDEFINED_FIELD = Pattern.compile("undefined field '([^']*)'.*");
  private static final Pattern NO_OVERLOAD =
      Pattern.compile("found no matching overload for '([^']*)' applied to '([^']*)'.*");

  private static final Map<String, String> OPERATORS =
      Map.ofEntries(
          Map.entry("_<_", "<"),
          Map.entry("_<=_", "<="),
          Map.entry("_>_", ">"),
          Map.entry("_>=_", ">="),
          Map.entry("_==_", "=="),
          Map.entry("_!=_", "!="),
          Map.entry("_+_", "+"),
          Map.entry("_-_", "-"),
          Map.entry("_*_", "*"),
          Map.entry("_/_", "/"),
          Map.entry("_%_", "%"),
          Map.entry("_&&_", "&&"),
          Map.entry("_||_", "||"),
          Map.entry("!_", "!"),
          Map.entry("-_", "-"),
          Map.entry("@in", "in"),
          Map.entry("_[_]", "[]"),
          Map.entry("_?_:_", "?:"));

  private CelMessages() {}

  static CelProblem problem(List<CelIssue> issues, String expression, CelEnvironments.Scope scope) {
    CelIssue issue =
        issues.stream()
            .filter(i -> i.getSeverity() == CelIssue.Severity.ERROR)
            .findFirst()
            .orElseThrow(() -> new IllegalArgumentException("no error among " + issues));
    int line = Math.max(1, issue.getSourceLocation().getLine());
    int column = Math.max(0, issue.getSourceLocation().getColumn()) + 1;
    CelProblem syntax = SyntaxError.of(firstLine(issue.getMessage()), expression, line, column);
    return syntax != null
        ? syntax
        : new CelProblem(line, column, message(issue.getMessage(), scope));
  }

  private static String message(String text, CelEnvironments.Scope scope) {
    String line = firstLine(text);
    Matcher undeclared = UNDECLARED.matcher(line);
    if (undeclared.matches()) {
      String name = undeclared.group(1);
      String elsewhere = CelEnvironments.isVariable(name) ? " in this field" : "";
      return name
          + " is not known"
          + elsewhere
          + "; known are "
          + String.join(", ", scope.variables());
    }
    Matcher field = UNDEFINED_FIELD.matcher(line);
    if (field.matches()) {
      return "there is no field " + field.group(1);
    }
    Matcher overload = NO_OVERLOAD.matcher(line);
    if (overload.matches()) {
      String function = overload.group(1);
      String operator = OPERATORS.get(function);
      String types = overload.group(2).replace("warmpath.", "");
      return operator != null
          ? "the operator " + operator + " does not take " + types
          : "the function " + function + " does not take " + types;
    }
    return line;
  }

  static String typeName(CelType type) {
    return type.name().replace("warmpath.", "");
  }

  static String firstLine(Throwable e) {
    String message = e.getMessage();
    return message == null ? e.getClass().getSimpleName() : firstLine(message);
  }

  private static String firstLine(String text) {
    String line = text.lines().findFirst().orElse("").strip();
    return line.length() <= 300 ? line : line.substring(0, 300) + "…";
  }
}
