package dev.warmpath.extproc.template;

import java.math.BigDecimal;
import java.util.Collection;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * JSON as Python's {@code json.dumps} writes it with {@code ensure_ascii=False}, which is what
 * engines give templates as {@code tojson}.
 */
final class PythonJson {
  private PythonJson() {}

  static String write(@Nullable Object value) {
    StringBuilder out = new StringBuilder();
    write(value, out);
    return out.toString();
  }

  private static void write(@Nullable Object value, StringBuilder out) {
    switch (value) {
      case null -> out.append("null");
      case String text -> string(text, out);
      case Boolean truth -> out.append(truth);
      case Double number -> out.append(number(number));
      case Number number -> out.append(number);
      case Map<?, ?> map -> {
        out.append('{');
        boolean first = true;
        for (Map.Entry<?, ?> entry : map.entrySet()) {
          out.append(first ? "" : ", ");
          first = false;
          string(String.valueOf(entry.getKey()), out);
          out.append(": ");
          write(entry.getValue(), out);
        }
        out.append('}');
      }
      case Collection<?> items -> {
        out.append('[');
        boolean first = true;
        for (Object item : items) {
          out.append(first ? "" : ", ");
          first = false;
          write(item, out);
        }
        out.append(']');
      }
      default -> throw new TemplateException("tojson of " + Values.typeName(value));
    }
  }

  private static void string(String text, StringBuilder out) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '"' -> out.append("\\\"");
        case '\\' -> out.append("\\\\");
        case '\n' -> out.append("\\n");
        case '\r' -> out.append("\\r");
        case '\t' -> out.append("\\t");
        case '\b' -> out.append("\\b");
        case '\f' -> out.append("\\f");
        default -> {
          if (c < 0x20) {
            out.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
          } else {
            out.append(c);
          }
        }
      }
    }
    out.append('"');
  }

  /**
   * A float as Python prints it: the shortest digits, with an exponent from 1e16 and below 1e-4.
   */
  static String number(double value) {
    if (Double.isNaN(value) || Double.isInfinite(value)) {
      throw new TemplateException("a number without end");
    }
    if (value == 0) {
      return 1 / value < 0 ? "-0.0" : "0.0";
    }
    BigDecimal exact = new BigDecimal(Double.toString(value)).stripTrailingZeros();
    int exponent = exact.precision() - exact.scale() - 1;
    if (exponent >= -4 && exponent < 16) {
      String plain = exact.toPlainString();
      return plain.indexOf('.') < 0 ? plain + ".0" : plain;
    }
    String digits = exact.unscaledValue().abs().toString();
    return (value < 0 ? "-" : "")
        + digits.charAt(0)
        + (digits.length() > 1 ? "." + digits.substring(1) : "")
        + (exponent < 0 ? "e-" : "e+")
        + String.format(Locale.ROOT, "%02d", Math.abs(exponent));
  }
}
