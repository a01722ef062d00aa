package dev.warmpath.simulator.conformance;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The metrics page: each family by its exact name, type and labels, none missing and none of the
 * same name space too many.
 */
public final class MetricsCheck {
  private static final Pattern TYPE = Pattern.compile("^# TYPE (vllm:\\S+) (\\S+)$");
  private static final Pattern SAMPLE =
      Pattern.compile("^(vllm:[a-z0-9_]+?)(_bucket|_count|_sum)?(?:\\{(.*)\\})? (\\S+)$");
  private static final Pattern LABEL = Pattern.compile("(\\w+)=\"");

  /** There where the server was started with a tool parser. */
  private static final String OF_AN_OPTION = "vllm:tool_call_parser_invocations";

  private MetricsCheck() {}

  /** What is wrong with a page; empty when nothing is. */
  public static List<String> problems(String page) {
    Map<String, String> types = new HashMap<>();
    Map<String, TreeSet<String>> labels = new HashMap<>();
    List<String> problems = new ArrayList<>();
    for (String line : page.split("\n", -1)) {
      Matcher type = TYPE.matcher(line);
      Matcher sample = SAMPLE.matcher(line);
      if (type.matches()) {
        types.put(type.group(1), type.group(2));
      } else if (sample.matches()) {
        String family =
            types.containsKey(sample.group(1))
                ? sample.group(1)
                : sample.group(1) + sample.group(2);
        TreeSet<String> names = labels.computeIfAbsent(family, ignored -> new TreeSet<>());
        Matcher label = LABEL.matcher(sample.group(3) == null ? "" : sample.group(3));
        while (label.find()) {
          names.add(label.group(1));
        }
        try {
          double value = Double.parseDouble(sample.group(4));
          if (Double.isNaN(value)) {
            problems.add("not a number: " + line);
          }
        } catch (NumberFormatException e) {
          problems.add("not a number: " + line);
        }
      }
    }
    for (String line : expected()) {
      String[] family = line.split(" ", -1);
      if (!family[1].equals(types.remove(family[0]))) {
        problems.add("family " + family[0] + " must be a " + family[1]);
      }
      String actual = String.join(",", labels.getOrDefault(family[0], new TreeSet<>()));
      if (!actual.equals(family[2])) {
        problems.add("family " + family[0] + " must have labels " + family[2] + ", has " + actual);
      }
    }
    types.keySet().removeIf(name -> name.startsWith(OF_AN_OPTION));
    types.keySet().forEach(name -> problems.add("unknown family " + name));
    return problems;
  }

  private static List<String> expected() {
    try (InputStream in = MetricsCheck.class.getResourceAsStream("metric-families.txt")) {
      if (in == null) {
        throw new IllegalStateException("metric-families.txt is not on the class path");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
