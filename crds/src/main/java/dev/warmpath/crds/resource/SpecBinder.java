package dev.warmpath.crds.resource;

import dev.warmpath.crds.resource.RecordSchema.Field;
import dev.warmpath.crds.resource.RecordSchema.Limits;
import dev.warmpath.crds.resource.RecordSchema.Shape;
import dev.warmpath.crds.resource.YamlNode.Mapping;
import dev.warmpath.crds.resource.YamlNode.Scalar;
import dev.warmpath.crds.resource.YamlNode.ScalarType;
import dev.warmpath.crds.resource.YamlNode.Sequence;
import dev.warmpath.crds.v1alpha1.Durations;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Nodes to a spec record, as its annotations say. Goes on after a fault, so that one reading names
 * all of them. Used by one thread for one document.
 */
final class SpecBinder {
  /** Nodes visited in one document: aliases can repeat a part, this bounds how often. */
  static final int MAX_VISITED_NODES = 100_000;

  /** Problems kept of one document: nobody reads more. */
  static final int MAX_PROBLEMS = 100;

  // Bounds the cost of arithmetic with a number such as 1e999999999.
  private static final int MAX_DECIMAL_PLACES = 30;
  private static final BigDecimal LARGEST_DECIMAL = new BigDecimal("1e18");

  private static final Pattern WHOLE_NUMBER = Pattern.compile("[-+]?(0|[1-9][0-9]{0,30})");
  private static final Pattern DECIMAL_NUMBER =
      Pattern.compile("[-+]?[0-9]{1,40}(\\.[0-9]{0,40})?([eE][-+]?[0-9]{1,4})?");

  // YAML 1.1, which kubectl and helm read, has these as booleans.
  private static final Set<String> OLD_BOOLEANS =
      Set.of(
          "y", "Y", "yes", "Yes", "YES", "n", "N", "no", "No", "NO", "on", "On", "ON", "off", "Off",
          "OFF");

  /** Takes problems of one document. */
  interface Problems {
    void add(Problem.Severity severity, int line, String field, Reason reason, String message);
  }

  /** The document repeats itself beyond {@link #MAX_VISITED_NODES}. */
  @SuppressWarnings("serial")
  static final class TooManyNodes extends RuntimeException {
    TooManyNodes() {
      super("too many nodes", null, false, false);
    }
  }

  /**
   * A value twice: for the record, and as the API server sees it (maps, lists, text, numbers),
   * which is what rules are written over. Null and absent in {@code plain} mean absent.
   */
  private record Bound(@Nullable Object value, @Nullable Object plain) {
    static final Bound NOTHING = new Bound(null, null);
  }

  private final Problems problems;
  private final Map<String, Integer> fieldLines;
  private int errors;
  private int visited;

  SpecBinder(Problems problems, Map<String, Integer> fieldLines) {
    this.problems = problems;
    this.fieldLines = fieldLines;
  }

  /** The record, or null if there was an error. */
  <R extends Record> @Nullable R bind(Class<R> type, YamlNode node, String path) {
    int before = errors;
    Bound bound = nested(type, node, path);
    return errors == before ? type.cast(bound.value) : null;
  }

  private Bound nested(Class<? extends Record> type, YamlNode node, String path) {
    if (!(node instanceof Mapping mapping)) {
      return wrongType(node, path, "a mapping of fields", "");
    }
    int before = errors;
    RecordSchema schema = RecordSchema.of(type);
    unknownFields(schema, mapping, path);
    @Nullable Object[] values = new Object[schema.fields().size()];
    Map<String, Object> plain = new LinkedHashMap<>();
    int index = 0;
    for (Field field : schema.fields().values()) {
      Bound bound = field(field, mapping, path);
      values[index++] = bound.value;
      if (bound.plain != null) {
        plain.put(field.name(), bound.plain);
      }
    }
    if (errors != before) {
      return Bound.NOTHING;
    }
    for (SchemaRules.Violation violation : SchemaRules.violations(schema, plain)) {
      String field = path + violation.fieldPath();
      Mapping.Entry entry =
          violation.fieldPath().isEmpty()
              ? null
              : mapping.entries().get(violation.fieldPath().substring(1));
      error(
          entry == null ? mapping.line() : entry.keyLine(),
          field,
          Reason.RuleViolated,
          violation.message());
    }
    return errors == before ? new Bound(schema.create(values), plain) : Bound.NOTHING;
  }

  private void unknownFields(RecordSchema schema, Mapping mapping, String path) {
    mapping
        .entries()
        .forEach((key, entry) -> {
          if (!schema.fields().containsKey(key) && errors < MAX_PROBLEMS) {
            error(
                entry.keyLine(),
                FieldPath.child(path, key),
                Reason.UnknownField,
                "there is no such field" + Nearest.hint(key, schema.fields().keySet()));
          }
        });
  }

  private Bound field(Field field, Mapping mapping, String path) {
    String fieldPath = FieldPath.child(path, field.name());
    Mapping.Entry entry = mapping.entries().get(field.name());
    if (entry != null && !YamlNode.isNull(entry.value())) {
      fieldLines.put(fieldPath, entry.keyLine());
      return value(field.shape(), field.limits(), entry.value(), fieldPath);
    }
    if (field.required()) {
      error(
          entry == null ? mapping.line() : entry.keyLine(),
          fieldPath,
          Reason.MissingField,
          "this field is required");
      return Bound.NOTHING;
    }
    YamlNode defaultNode = field.defaultNode();
    if (defaultNode != null) {
      return value(field.shape(), field.limits(), defaultNode, fieldPath);
    }
    return new Bound(field.absent(), null);
  }

  private Bound value(Shape shape, Limits limits, YamlNode node, String path) {
    if (++visited > MAX_VISITED_NODES) {
      throw new TooManyNodes();
    }
    return switch (shape) {
      case Shape.Text() -> text(limits, node, path);
      case Shape.WholeNumber number -> wholeNumber(number, limits, node, path);
      case Shape.DecimalNumber(Class<?> type) -> decimalNumber(type, limits, node, path);
      case Shape.Bool() -> bool(node, path);
      case Shape.DurationText() -> duration(node, path);
      case Shape.Choice choice -> choice(choice, node, path);
      case Shape.Nested(Class<? extends Record> type) -> nested(type, node, path);
      case Shape.ListOf list -> list(list, limits, node, path);
      case Shape.MapOfText() -> map(limits, node, path);
      case Shape.Opaque() -> Bound.NOTHING;
    };
  }

  private Bound text(Limits limits, YamlNode node, String path) {
    String text = string(node, path, "text");
    if (text == null) {
      return Bound.NOTHING;
    }
    if (!sizeFits(limits, text.codePointCount(0, text.length()), "characters", node, path)) {
      return Bound.NOTHING;
    }
    if (limits.pattern() != null && !limits.pattern().matcher(text).find()) {
      return error(
          node.line(),
          path,
          Reason.InvalidFormat,
          "must match " + limits.pattern().pattern() + ", got " + node.describe());
    }
    return new Bound(text, text);
  }

  private @Nullable String string(YamlNode node, String path, String wanted) {
    if (!(node instanceof Scalar scalar)) {
      wrongType(node, path, wanted, "");
      return null;
    }
    if (scalar.type() != ScalarType.STRING) {
      wrongType(node, path, wanted, "; write it in quotes");
      return null;
    }
    if (isOldBoolean(scalar)) {
      problems.add(
          Problem.Severity.WARNING,
          node.line(),
          path,
          Reason.AmbiguousScalar,
          oldBooleanMessage(scalar));
    }
    return scalar.text();
  }

  static boolean isOldBoolean(Scalar scalar) {
    return scalar.plain() && OLD_BOOLEANS.contains(scalar.text());
  }

  static String oldBooleanMessage(Scalar scalar) {
    return "write \"" + scalar.text() + "\" in quotes: kubectl and helm read it bare as a boolean";
  }

  private Bound wholeNumber(Shape.WholeNumber shape, Limits limits, YamlNode node, String path) {
    if (!(node instanceof Scalar scalar)
        || scalar.type() != ScalarType.INTEGER
        || !WHOLE_NUMBER.matcher(scalar.text()).matches()) {
      return wrongType(node, path, "a whole number", unquoteHint(node, WHOLE_NUMBER));
    }
    BigDecimal number = new BigDecimal(scalar.text());
    BigDecimal lowest = BigDecimal.valueOf(shape.lowest());
    BigDecimal highest = BigDecimal.valueOf(shape.highest());
    if (number.compareTo(lowest) < 0 || number.compareTo(highest) > 0) {
      return error(
          node.line(),
          path,
          Reason.OutOfRange,
          "must be between " + lowest + " and " + highest + ", got " + scalar.text());
    }
    if (!numberFits(limits, number, node, path)) {
      return Bound.NOTHING;
    }
    long value = number.longValueExact();
    return new Bound(shape.type() == Integer.class ? (Object) (int) value : (Object) value, value);
  }

  private Bound decimalNumber(Class<?> type, Limits limits, YamlNode node, String path) {
    if (!(node instanceof Scalar scalar)
        || (scalar.type() != ScalarType.INTEGER && scalar.type() != ScalarType.NUMBER)
        || !DECIMAL_NUMBER.matcher(scalar.text()).matches()) {
      return wrongType(node, path, "a number", unquoteHint(node, DECIMAL_NUMBER));
    }
    BigDecimal number = new BigDecimal(scalar.text());
    if (number.abs().compareTo(LARGEST_DECIMAL) > 0 || number.scale() > MAX_DECIMAL_PLACES) {
      return error(
          node.line(),
          path,
          Reason.OutOfRange,
          "must be at most "
              + LARGEST_DECIMAL.toPlainString()
              + " with at most "
              + MAX_DECIMAL_PLACES
              + " decimal places");
    }
    if (!numberFits(limits, number, node, path)) {
      return Bound.NOTHING;
    }
    double value = number.doubleValue();
    return new Bound(type == BigDecimal.class ? (Object) normal(number) : (Object) value, value);
  }

  /** One value has one form: an API server does not keep the zeros of 0.20. */
  private static BigDecimal normal(BigDecimal number) {
    BigDecimal stripped = number.stripTrailingZeros();
    return stripped.scale() < 0 ? stripped.setScale(0) : stripped;
  }

  private static String unquoteHint(YamlNode node, Pattern pattern) {
    boolean quotedNumber =
        node instanceof Scalar scalar
            && scalar.type() == ScalarType.STRING
            && pattern.matcher(scalar.text()).matches();
    return quotedNumber ? "; write it without quotes" : "";
  }

  private Bound bool(YamlNode node, String path) {
    if (node instanceof Scalar scalar && scalar.type() == ScalarType.BOOLEAN) {
      boolean value = Boolean.parseBoolean(scalar.text());
      return new Bound(value, value);
    }
    return wrongType(node, path, "true or false", "");
  }

  private Bound duration(YamlNode node, String path) {
    Duration duration =
        node instanceof Scalar scalar && scalar.type() == ScalarType.STRING
            ? Durations.parse(scalar.text())
            : null;
    if (duration == null) {
      String got = node instanceof Scalar scalar ? scalar.describe() : node.describe();
      String hint =
          node instanceof Scalar scalar
                  && (scalar.type() == ScalarType.INTEGER || scalar.type() == ScalarType.NUMBER)
              ? "; a unit is needed"
              : "";
      return error(
          node.line(),
          path,
          Reason.InvalidDuration,
          "must be a duration such as 900ms, 1s or 1m30s, got " + got + hint);
    }
    return new Bound(duration, Durations.format(duration));
  }

  private Bound choice(Shape.Choice shape, YamlNode node, String path) {
    String text = string(node, path, "one of " + String.join(", ", shape.names()));
    if (text == null) {
      return Bound.NOTHING;
    }
    int index = shape.names().indexOf(text);
    if (index < 0) {
      return error(
          node.line(),
          path,
          Reason.UnsupportedValue,
          "must be one of "
              + String.join(", ", shape.names())
              + ", got "
              + node.describe()
              + Nearest.hint(text, shape.names()));
    }
    return new Bound(shape.type().getEnumConstants()[index], text);
  }

  private Bound list(Shape.ListOf shape, Limits limits, YamlNode node, String path) {
    if (!(node instanceof Sequence sequence)) {
      return wrongType(node, path, "a list", node instanceof Scalar ? "; write [value]" : "");
    }
    int before = errors;
    if (!sizeFits(limits, sequence.items().size(), "entries", node, path)) {
      return Bound.NOTHING;
    }
    List<Object> values = new ArrayList<>();
    List<Object> plain = new ArrayList<>();
    for (int i = 0; i < sequence.items().size(); i++) {
      YamlNode item = sequence.items().get(i);
      String itemPath = FieldPath.item(path, i);
      fieldLines.put(itemPath, item.line());
      Bound bound =
          YamlNode.isNull(item)
              ? wrongType(item, itemPath, "a value", "")
              : value(shape.item(), shape.itemLimits(), item, itemPath);
      if (bound.value != null && bound.plain != null) {
        values.add(bound.value);
        plain.add(bound.plain);
      }
    }
    return errors == before ? new Bound(List.copyOf(values), plain) : Bound.NOTHING;
  }

  private Bound map(Limits limits, YamlNode node, String path) {
    if (!(node instanceof Mapping mapping)) {
      return wrongType(node, path, "a mapping of text to text", "");
    }
    int before = errors;
    if (!sizeFits(limits, mapping.entries().size(), "entries", node, path)) {
      return Bound.NOTHING;
    }
    Map<String, String> values = new LinkedHashMap<>();
    for (Map.Entry<String, Mapping.Entry> entry : mapping.entries().entrySet()) {
      if (++visited > MAX_VISITED_NODES) {
        throw new TooManyNodes();
      }
      String entryPath = FieldPath.child(path, entry.getKey());
      fieldLines.put(entryPath, entry.getValue().keyLine());
      String text = string(entry.getValue().value(), entryPath, "text");
      if (text != null) {
        values.put(entry.getKey(), text);
      }
    }
    // Map.copyOf would lose the order, which messages and generated output keep.
    return errors == before
        ? new Bound(java.util.Collections.unmodifiableMap(values), values)
        : Bound.NOTHING;
  }

  private boolean sizeFits(Limits limits, long size, String unit, YamlNode node, String path) {
    if (limits.size() == null || (size >= limits.size().min() && size <= limits.size().max())) {
      return true;
    }
    String bounds =
        size < limits.size().min()
            ? "at least " + limits.size().min()
            : "at most " + limits.size().max();
    error(
        node.line(), path, Reason.OutOfRange, "must have " + bounds + " " + unit + ", has " + size);
    return false;
  }

  private boolean numberFits(Limits limits, BigDecimal number, YamlNode node, String path) {
    if (limits.min() != null) {
      int order = number.compareTo(BigDecimal.valueOf(limits.min().value()));
      if (order < 0 || (order == 0 && !limits.min().inclusive())) {
        String bound = limits.min().inclusive() ? "at least " : "more than ";
        outOfRange(node, path, bound + plain(limits.min().value()), number);
        return false;
      }
    }
    if (limits.max() != null) {
      int order = number.compareTo(BigDecimal.valueOf(limits.max().value()));
      if (order > 0 || (order == 0 && !limits.max().inclusive())) {
        String bound = limits.max().inclusive() ? "at most " : "less than ";
        outOfRange(node, path, bound + plain(limits.max().value()), number);
        return false;
      }
    }
    return true;
  }

  private void outOfRange(YamlNode node, String path, String bound, BigDecimal number) {
    error(node.line(), path, Reason.OutOfRange, "must be " + bound + ", got " + number);
  }

  static String plain(double number) {
    return BigDecimal.valueOf(number).stripTrailingZeros().toPlainString();
  }

  private Bound wrongType(YamlNode node, String path, String wanted, String hint) {
    return error(
        node.line(),
        path,
        Reason.WrongType,
        "must be " + wanted + ", got " + node.describe() + hint);
  }

  private Bound error(int line, String path, Reason reason, String message) {
    if (++errors <= MAX_PROBLEMS) {
      problems.add(Problem.Severity.ERROR, line, path, reason, message);
    }
    return Bound.NOTHING;
  }
}
