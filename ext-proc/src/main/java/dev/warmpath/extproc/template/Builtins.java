package dev.warmpath.extproc.template;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Functions, methods, filters and tests that templates may use, as Python has them. */
final class Builtins {
  static final Set<String> FUNCTIONS = Set.of("namespace", "raise_exception", "range");
  static final Set<String> METHODS =
      Set.of(
          "startswith",
          "endswith",
          "split",
          "strip",
          "lstrip",
          "rstrip",
          "upper",
          "lower",
          "replace",
          "get",
          "items",
          "keys",
          "values");
  static final Set<String> FILTERS =
      Set.of(
          "length", "count", "tojson", "trim", "upper", "lower", "join", "string", "list", "first",
          "last", "default", "replace", "items");
  static final Set<String> TESTS_OF_TWO = Set.of("equalto", "eq", "ne", "in");
  static final Set<String> TESTS =
      Set.of(
          "defined",
          "undefined",
          "none",
          "string",
          "mapping",
          "iterable",
          "sequence",
          "number",
          "integer",
          "boolean",
          "true",
          "false",
          "equalto",
          "eq",
          "ne",
          "in");

  private Builtins() {}

  static @Nullable Object method(@Nullable Object receiver, String name, List<Object> arguments) {
    if (receiver instanceof String text) {
      return textMethod(text, name, arguments);
    }
    if (receiver instanceof Map<?, ?> map) {
      return switch (name) {
        case "get" -> {
          Object found = map.get(arguments.getFirst());
          yield found != null || map.containsKey(arguments.getFirst()) || arguments.size() < 2
              ? found
              : Values.given(arguments.get(1));
        }
        case "items" -> pairs(map);
        case "keys" -> new ArrayList<>(map.keySet());
        case "values" -> new ArrayList<>(map.values());
        default -> throw unsupported(receiver, name);
      };
    }
    throw unsupported(receiver, name);
  }

  private static TemplateException unsupported(@Nullable Object receiver, String name) {
    return new TemplateException(
        Values.typeName(receiver) + " has no method '" + name + "' that is supported");
  }

  private static List<Object> pairs(Map<?, ?> map) {
    List<Object> pairs = new ArrayList<>();
    map.forEach((key, value) -> {
      List<@Nullable Object> pair = new ArrayList<>();
      pair.add(key);
      pair.add(value);
      pairs.add(pair);
    });
    return pairs;
  }

  private static Object textMethod(String text, String name, List<Object> arguments) {
    String first = arguments.isEmpty() ? null : Values.text(Values.given(arguments.getFirst()));
    return switch (name) {
      case "startswith" -> text.startsWith(needed(first, name));
      case "endswith" -> text.endsWith(needed(first, name));
      case "upper" -> text.toUpperCase(Locale.ROOT);
      case "lower" -> text.toLowerCase(Locale.ROOT);
      case "strip" -> strip(text, first, true, true);
      case "lstrip" -> strip(text, first, true, false);
      case "rstrip" -> strip(text, first, false, true);
      case "replace" ->
          text.replace(needed(first, name), Values.text(Values.given(arguments.get(1))));
      case "split" -> split(text, needed(first, name), arguments);
      default -> throw unsupported(text, name);
    };
  }

  private static String needed(@Nullable String argument, String name) {
    if (argument == null || argument.isEmpty()) {
      throw new TemplateException(name + " without its argument is not supported");
    }
    return argument;
  }

  private static List<Object> split(String text, String separator, List<Object> arguments) {
    long most = arguments.size() < 2 ? -1 : Values.integer(Values.given(arguments.get(1)));
    List<Object> parts = new ArrayList<>();
    int from = 0;
    for (int at = text.indexOf(separator);
        at >= 0 && (most < 0 || parts.size() < most);
        at = text.indexOf(separator, from)) {
      parts.add(text.substring(from, at));
      from = at + separator.length();
    }
    parts.add(text.substring(from));
    return parts;
  }

  /** Without {@code characters}, whitespace as Python sees it. */
  static String strip(String text, @Nullable String characters, boolean left, boolean right) {
    int from = 0;
    int to = text.length();
    while (left && from < to && stripped(text.charAt(from), characters)) {
      from++;
    }
    while (right && to > from && stripped(text.charAt(to - 1), characters)) {
      to--;
    }
    return text.substring(from, to);
  }

  private static boolean stripped(char c, @Nullable String characters) {
    return characters != null
        ? characters.indexOf(c) >= 0
        : Character.isWhitespace(c) || Character.isSpaceChar(c) || c == '\u0085';
  }

  static @Nullable Object filter(@Nullable Object value, String name, List<Object> arguments) {
    return switch (name) {
      case "length", "count" -> Values.length(value);
      case "tojson" -> {
        if (!arguments.isEmpty()) {
          throw new TemplateException("tojson with arguments is not supported");
        }
        yield PythonJson.write(value);
      }
      case "trim" -> strip(Values.text(value), null, true, true);
      case "upper" -> Values.text(value).toUpperCase(Locale.ROOT);
      case "lower" -> Values.text(value).toLowerCase(Locale.ROOT);
      case "string" -> Values.text(value);
      case "join" -> join(value, arguments);
      case "list" -> new ArrayList<>(Values.items(value));
      case "first" -> Values.items(value).isEmpty() ? Undefined.VALUE : item(value, 0);
      case "last" ->
          Values.items(value).isEmpty()
              ? Undefined.VALUE
              : item(value, Values.items(value).size() - 1);
      case "default" -> {
        boolean falsyToo = arguments.size() > 1 && Values.truth(Values.given(arguments.get(1)));
        yield value == Undefined.VALUE || (falsyToo && !Values.truth(value))
            ? arguments.isEmpty() ? "" : Values.given(arguments.getFirst())
            : value;
      }
      case "replace" ->
          Values.text(value)
              .replace(
                  Values.text(Values.given(arguments.get(0))),
                  Values.text(Values.given(arguments.get(1))));
      case "items" -> method(value, "items", List.of());
      default -> throw new TemplateException("the filter '" + name + "' is not supported");
    };
  }

  private static @Nullable Object item(@Nullable Object value, int index) {
    return new ArrayList<@Nullable Object>(Values.items(value)).get(index);
  }

  private static String join(@Nullable Object value, List<Object> arguments) {
    String separator = arguments.isEmpty() ? "" : Values.text(Values.given(arguments.getFirst()));
    StringBuilder text = new StringBuilder();
    for (Object item : Values.items(value)) {
      text.append(text.isEmpty() ? "" : separator).append(Values.text(item));
    }
    return text.toString();
  }

  static boolean test(@Nullable Object value, String name, List<Object> arguments) {
    return switch (name) {
      case "defined" -> value != Undefined.VALUE;
      case "undefined" -> value == Undefined.VALUE;
      case "none" -> value == null;
      case "string" -> value instanceof String;
      case "mapping" -> value instanceof Map;
      case "iterable", "sequence" ->
          value instanceof Collection || value instanceof String || value instanceof Map;
      case "number" -> value instanceof Number || value instanceof Boolean;
      case "integer" -> value instanceof Number number && !(number instanceof Double);
      case "boolean" -> value instanceof Boolean;
      case "true" -> Boolean.TRUE.equals(value);
      case "false" -> Boolean.FALSE.equals(value);
      case "equalto", "eq" -> Values.same(value, Values.given(arguments.getFirst()));
      case "ne" -> !Values.same(value, Values.given(arguments.getFirst()));
      case "in" -> Values.contains(Values.given(arguments.getFirst()), value);
      default -> throw new TemplateException("the test '" + name + "' is not supported");
    };
  }
}
