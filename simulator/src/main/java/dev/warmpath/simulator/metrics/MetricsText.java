package dev.warmpath.simulator.metrics;

import java.math.BigDecimal;

/** Text exposition, with numbers in the form that Python gives them. */
final class MetricsText {
  private final StringBuilder out = new StringBuilder(64 * 1024);

  void family(String name, String type, String help) {
    out.append("# HELP ").append(name).append(' ').append(help).append('\n');
    out.append("# TYPE ").append(name).append(' ').append(type).append('\n');
  }

  void sample(String name, String labels, double value) {
    out.append(name);
    if (!labels.isEmpty()) {
      out.append('{').append(labels).append('}');
    }
    out.append(' ').append(number(value)).append('\n');
  }

  void sample(String name, String labels, long value) {
    sample(name, labels, (double) value);
  }

  /** 5 is "5.0", 1795967289.5 is "1.7959672895e+09". */
  static String number(double value) {
    if (Math.abs(value) < 1e6) {
      if (value == 0 || Math.abs(value) >= 1e-4) {
        return BigDecimal.valueOf(value).toPlainString();
      }
      return Double.toString(value).replaceFirst("E-(\\d)$", "e-0$1").replace('E', 'e');
    }
    String text = Double.toString(value);
    int exponent = text.indexOf('E');
    if (exponent < 0) {
      int digits = text.indexOf('.') - 1;
      String mantissa = text.charAt(0) + "." + text.substring(1).replace(".", "");
      mantissa = mantissa.replaceAll("0+$", "");
      return (mantissa.endsWith(".") ? mantissa + "0" : mantissa)
          + "e+"
          + (digits < 10 ? "0" : "")
          + digits;
    }
    String power = text.substring(exponent + 1);
    return text.substring(0, exponent) + "e+" + (power.length() < 2 ? "0" : "") + power;
  }

  @Override
  public String toString() {
    return out.toString();
  }
}
