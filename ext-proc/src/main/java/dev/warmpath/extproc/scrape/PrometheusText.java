package dev.warmpath.extproc.scrape;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;

/**
 * A cursor over samples in the Prometheus text format. Allocates nothing per line: an engine's page
 * has some hundred lines, of which a dozen are wanted. Lines that are not understood are passed
 * over. Not thread-safe.
 */
final class PrometheusText {
  private final byte[] text;
  private int position;

  private int nameStart;
  private int nameEnd;
  private int labelsStart;
  private int labelsEnd;
  private double value;

  PrometheusText(byte[] text) {
    this.text = text;
  }

  /** Moves to the next sample; false at the end. */
  boolean next() {
    while (position < text.length) {
      int lineEnd = endOfLine(position);
      int start = skipBlanks(position, lineEnd);
      position = lineEnd + 1;
      if (start < lineEnd && text[start] != '#' && readSample(start, lineEnd)) {
        return true;
      }
    }
    return false;
  }

  boolean nameIs(byte[] name) {
    return Arrays.equals(text, nameStart, nameEnd, name, 0, name.length);
  }

  double value() {
    return value;
  }

  /** Whether the label has exactly that value; false where the sample has no such label. */
  boolean labelIs(byte[] label, byte[] wanted) {
    int start = labelValue(label);
    if (start < 0) {
      return false;
    }
    int end = endOfQuoted(start);
    return Arrays.equals(text, start, end, wanted, 0, wanted.length);
  }

  boolean hasLabel(byte[] label) {
    return labelValue(label) >= 0;
  }

  /**
   * A label that holds a number, as engines put their settings into labels; NaN where it is absent,
   * "None" or no number.
   */
  double numericLabel(byte[] label) {
    int start = labelValue(label);
    return start < 0 ? Double.NaN : number(start, endOfQuoted(start));
  }

  private boolean readSample(int start, int lineEnd) {
    int i = start;
    while (i < lineEnd && text[i] != '{' && text[i] != ' ' && text[i] != '\t') {
      i++;
    }
    nameStart = start;
    nameEnd = i;
    labelsStart = i;
    labelsEnd = i;
    if (i < lineEnd && text[i] == '{') {
      labelsStart = i + 1;
      labelsEnd = endOfLabels(i + 1, lineEnd);
      if (labelsEnd < 0) {
        return false;
      }
      i = labelsEnd + 1;
    }
    int valueStart = skipBlanks(i, lineEnd);
    int valueEnd = valueStart;
    while (valueEnd < lineEnd && text[valueEnd] > ' ') {
      valueEnd++;
    }
    value = number(valueStart, valueEnd);
    return valueEnd > valueStart && !Double.isNaN(value);
  }

  /** Index of the closing brace; braces inside quoted values don't count. */
  private int endOfLabels(int start, int lineEnd) {
    boolean quoted = false;
    for (int i = start; i < lineEnd; i++) {
      byte b = text[i];
      if (quoted && b == '\\') {
        i++;
      } else if (b == '"') {
        quoted = !quoted;
      } else if (b == '}' && !quoted) {
        return i;
      }
    }
    return -1;
  }

  /** Index of the first byte of the label's value, behind its opening quote, or -1. */
  private int labelValue(byte[] label) {
    int i = labelsStart;
    while (i < labelsEnd) {
      while (i < labelsEnd && (text[i] == ',' || text[i] == ' ')) {
        i++;
      }
      int start = i;
      while (i < labelsEnd && text[i] != '=') {
        i++;
      }
      int end = i;
      i += 2; // the equals sign and the opening quote
      if (i > labelsEnd) {
        return -1;
      }
      if (Arrays.equals(text, start, end, label, 0, label.length)) {
        return i;
      }
      i = endOfQuoted(i) + 1;
    }
    return -1;
  }

  private int endOfQuoted(int start) {
    int i = start;
    while (i < labelsEnd && text[i] != '"') {
      i += text[i] == '\\' ? 2 : 1;
    }
    return Math.min(i, labelsEnd);
  }

  private int endOfLine(int from) {
    int i = from;
    while (i < text.length && text[i] != '\n') {
      i++;
    }
    return i;
  }

  private int skipBlanks(int from, int end) {
    int i = from;
    while (i < end && (text[i] == ' ' || text[i] == '\t')) {
      i++;
    }
    return i;
  }

  /** Plain decimals are read in place; the rest goes the long way. */
  private double number(int start, int end) {
    long digits = 0;
    long scale = 1;
    boolean fraction = false;
    if (end - start > 0 && end - start <= 15) {
      int i = start;
      for (; i < end; i++) {
        int digit = text[i] - '0';
        if (digit >= 0 && digit <= 9) {
          digits = digits * 10 + digit;
          scale = fraction ? scale * 10 : scale;
        } else if (text[i] == '.' && !fraction) {
          fraction = true;
        } else {
          break;
        }
      }
      if (i == end) {
        return (double) digits / scale;
      }
    }
    try {
      return Double.parseDouble(new String(text, start, end - start, UTF_8));
    } catch (NumberFormatException e) {
      return Double.NaN;
    }
  }
}
