package dev.warmpath.simulator.conformance;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * What a JSON value must look like, written as JSON: objects must have exactly these keys in this
 * order, arrays elements of the one shape given (none given: empty), and a string stands for a kind
 * of value: {@code string}, {@code int}, {@code number}, {@code bool}, {@code null}, {@code any},
 * {@code =text} for exactly this value, {@code ~pattern} for a matching string; {@code ?} at the
 * end also allows null.
 */
final class Shape {
  private static final JsonMapper MAPPER = JsonMapper.shared();

  private final JsonNode shape;

  private Shape(JsonNode shape) {
    this.shape = shape;
  }

  static Shape of(String json) {
    return new Shape(MAPPER.readTree(json));
  }

  /** What is wrong with {@code text}; empty when nothing is. */
  List<String> problems(String text) {
    List<String> problems = new ArrayList<>();
    try {
      compare("$", shape, MAPPER.readTree(text), problems);
    } catch (JacksonException e) {
      problems.add("not JSON: " + e.getOriginalMessage() + " in '" + text + "'");
    }
    return problems;
  }

  private static void compare(String at, JsonNode shape, JsonNode value, List<String> problems) {
    if (shape.isObject()) {
      object(at, shape, value, problems);
    } else if (shape.isArray()) {
      if (!value.isArray()) {
        problems.add(at + " must be an array, is " + value);
      } else if (shape.isEmpty() != value.isEmpty()) {
        problems.add(
            at + (shape.isEmpty() ? " must be empty, is " : " must not be empty, is ") + value);
      } else {
        for (int i = 0; i < value.size(); i++) {
          compare(at + "[" + i + "]", shape.get(0), value.get(i), problems);
        }
      }
    } else if (!matches(shape.stringValue(), value)) {
      problems.add(at + " must be " + shape.stringValue() + ", is " + value);
    }
  }

  private static void object(String at, JsonNode shape, JsonNode value, List<String> problems) {
    if (!value.isObject()) {
      problems.add(at + " must be an object, is " + value);
      return;
    }
    List<String> expected = List.copyOf(shape.propertyNames());
    List<String> actual = List.copyOf(value.propertyNames());
    if (!expected.equals(actual)) {
      problems.add(at + " must have keys " + expected + ", has " + actual);
    }
    for (String key : expected) {
      JsonNode member = value.get(key);
      if (member != null) {
        compare(at + "." + key, shape.get(key), member, problems);
      }
    }
  }

  private static boolean matches(String kind, JsonNode value) {
    if (kind.endsWith("?") && !kind.startsWith("~") && !kind.startsWith("=")) {
      return value.isNull() || matches(kind.substring(0, kind.length() - 1), value);
    }
    return switch (kind) {
      case "string" -> value.isString();
      case "int" -> value.isIntegralNumber();
      case "number" -> value.isNumber();
      case "bool" -> value.isBoolean();
      case "null" -> value.isNull();
      case "any" -> true;
      default ->
          kind.startsWith("=")
              ? value.asString().equals(kind.substring(1))
              : value.isString()
                  && Pattern.compile(kind.substring(1), Pattern.DOTALL)
                      .matcher(value.stringValue())
                      .matches();
    };
  }
}
