package dev.warmpath.e2e.support;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The table of a chart's values, from {@code values.yaml}: a comment that begins with {@code # --}
 * describes the value below it. Reads lines, not YAML, because a YAML reader drops comments; so
 * values.yaml keeps to two spaces a level and one value a line.
 */
public final class ChartReadme {

  private static final Pattern KEY = Pattern.compile("^( *)([A-Za-z][A-Za-z0-9]*):(?: (.*))?$");
  private static final String BEGIN = "<!-- values: generated from values.yaml -->";
  private static final String END = "<!-- /values -->";

  /** One value that can be set. */
  public record Value(String path, String defaultValue, String meaning) {}

  private ChartReadme() {}

  /** The values in their order; a map of values gets a row only where it is described itself. */
  public static List<Value> values(String yaml) {
    List<Value> values = new ArrayList<>();
    Deque<String> path = new ArrayDeque<>();
    StringBuilder comment = new StringBuilder();
    for (String line : yaml.split("\n", -1)) {
      String text = line.strip();
      Matcher key = KEY.matcher(line);
      if (text.startsWith("# -- ")) {
        comment.setLength(0);
        comment.append(text.substring("# -- ".length()));
      } else if (text.startsWith("#") && !comment.isEmpty()) {
        comment.append(' ').append(text.substring(1).strip());
      } else if (key.matches()) {
        while (path.size() > key.group(1).length() / 2) {
          path.removeLast();
        }
        path.addLast(key.group(2));
        String value = key.group(3) == null ? "" : key.group(3);
        if (!value.isEmpty() || !comment.isEmpty()) {
          values.add(new Value(String.join(".", path), value, comment.toString()));
        }
        comment.setLength(0);
      } else if (!text.isEmpty() && !text.startsWith("#")) {
        throw new IllegalArgumentException("values.yaml: one value a line, please: " + line);
      }
    }
    return values;
  }

  /** The README with the table for these values in place of the one that it has. */
  public static String withTable(String readme, String yaml) {
    StringBuilder table = new StringBuilder(BEGIN).append("\n\n| value | default | meaning |\n");
    table.append("| --- | --- | --- |\n");
    for (Value value : values(yaml)) {
      table
          .append("| `")
          .append(value.path())
          .append("` | ")
          .append(value.defaultValue().isEmpty() ? "" : "`" + value.defaultValue() + "`")
          .append(" | ")
          .append(value.meaning().replace("|", "\\|"))
          .append(" |\n");
    }
    table.append('\n');
    int begin = readme.indexOf(BEGIN);
    int end = readme.indexOf(END);
    if (begin < 0 || end < begin) {
      throw new IllegalArgumentException("the README has no place for the table");
    }
    return readme.substring(0, begin) + table + readme.substring(end);
  }
}
