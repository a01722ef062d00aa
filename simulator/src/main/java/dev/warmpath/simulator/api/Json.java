package dev.warmpath.simulator.api;

import java.util.Locale;

/** JSON text, written by hand where field order and form must be exactly those of the original. */
public final class Json {
  private Json() {}

  /** {@code text} as a JSON string with quotes. */
  public static String quote(String text) {
    return escape(new StringBuilder(text.length() + 2).append('"'), text).append('"').toString();
  }

  /** Appends {@code text} escaped, without quotes. */
  static StringBuilder escape(StringBuilder out, String text) {
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
          // A lone surrogate has no UTF-8 form; escaped it survives.
          if (c < 0x20 || (Character.isSurrogate(c) && !paired(text, i))) {
            out.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
          } else {
            out.append(c);
          }
        }
      }
    }
    return out;
  }

  private static boolean paired(String text, int at) {
    char c = text.charAt(at);
    return Character.isHighSurrogate(c)
        ? at + 1 < text.length() && Character.isLowSurrogate(text.charAt(at + 1))
        : at > 0 && Character.isHighSurrogate(text.charAt(at - 1));
  }
}
