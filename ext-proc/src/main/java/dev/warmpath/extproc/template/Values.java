package dev.warmpath.extproc.template;

import java.math.BigInteger;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What Python does with values: truth, equality, text. */
final class Values {
  /** Stands for None in lists that cannot hold null. */
  enum None {
    VALUE
  }

  private Values() {}

  /** For an argument list. */
  static Object argument(@Nullable Object value) {
    return value == null ? None.VALUE : value;
  }

  /** Out of an argument list. */
  static @Nullable Object given(Object argument) {
    return argument == None.VALUE ? null : argument;
  }

  static boolean truth(@Nullable Object value) {
    return switch (value) {
      case null -> false;
      case Undefined undefined -> false;
      case Boolean truth -> truth;
      case String text -> !text.isEmpty();
      case Double number -> number != 0;
      case Number number -> !number.toString().equals("0");
      case Collection<?> items -> !items.isEmpty();
      case Map<?, ?> map -> !map.isEmpty();
      default -> true;
    };
  }

  static boolean same(@Nullable Object a, @Nullable Object b) {
    if (a instanceof Number x && b instanceof Number y) {
      return x.doubleValue() == y.doubleValue();
    }
    return a == null ? b == null : a.equals(b);
  }

  static boolean contains(@Nullable Object container, @Nullable Object value) {
    return switch (container) {
      case String text when value instanceof String part -> text.contains(part);
      case Map<?, ?> map -> map.containsKey(value);
      case Collection<?> items -> {
        for (Object item : items) {
          if (same(item, value)) {
            yield true;
          }
        }
        yield false;
      }
      case null, default ->
          throw new TemplateException("'in' " + typeName(container) + " is an error");
    };
  }

  /** As an output or a concatenation shows it. */
  static String text(@Nullable Object value) {
    return switch (value) {
      case null -> "None";
      case Undefined undefined -> "";
      case String text -> text;
      case Boolean truth -> truth ? "True" : "False";
      case Double number -> PythonJson.number(number);
      case Long number -> number.toString();
      case BigInteger number -> number.toString();
      default -> throw new TemplateException("printing " + typeName(value) + " is not supported");
    };
  }

  static long integer(@Nullable Object value) {
    if (value instanceof Long number) {
      return number;
    }
    throw new TemplateException(typeName(value) + " where a whole number is needed");
  }

  static long length(@Nullable Object value) {
    return switch (value) {
      case String text -> text.codePointCount(0, text.length());
      case Collection<?> items -> items.size();
      case Map<?, ?> map -> map.size();
      case Undefined undefined -> 0;
      case null, default -> throw new TemplateException(typeName(value) + " has no length");
    };
  }

  /** What a loop goes over. */
  static Collection<? extends @Nullable Object> items(@Nullable Object value) {
    return switch (value) {
      case Collection<?> items -> items;
      case Map<?, ?> map -> map.keySet();
      case Undefined undefined -> List.of();
      case null, default ->
          throw new TemplateException("a loop over " + typeName(value) + " is not supported");
    };
  }

  static @Nullable Object at(Collection<? extends @Nullable Object> items, long index) {
    long at = index < 0 ? items.size() + index : index;
    if (at < 0 || at >= items.size()) {
      return Undefined.VALUE;
    }
    if (items instanceof List<? extends @Nullable Object> list) {
      return list.get((int) at);
    }
    Iterator<? extends @Nullable Object> all = items.iterator();
    for (long i = 0; i < at; i++) {
      all.next();
    }
    return all.next();
  }

  static String typeName(@Nullable Object value) {
    return switch (value) {
      case null -> "None";
      case Undefined undefined -> "an undefined value";
      case String text -> "text";
      case Boolean truth -> "a truth value";
      case Number number -> "a number";
      case Map<?, ?> map -> "a mapping";
      case Collection<?> items -> "a list";
      default -> "a value";
    };
  }
}
