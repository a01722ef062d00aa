package dev.warmpath.extproc.label;

/**
 * A row of digit groups with short separators between them, as people write long numbers: {@code
 * 4111 1111-1111.1111}. Reused for every row of one text.
 */
final class DigitGroups {
  /** Sizes of the groups in which card numbers are printed. */
  static final int[][] CARD_SIZES = {
    {4, 4, 4, 4}, {4, 6, 5}, {4, 6, 4}, {4, 4, 4, 4, 3},
  };

  private static final int MAX_GROUPS = 40;
  private static final int MAX_DIGITS = 80;

  /** No number that is looked for is longer, so an overlap of that many digits loses none. */
  private static final int OVERLAP_DIGITS = 19;

  private final char[] text;
  private final int length;
  private final byte[] values = new byte[MAX_DIGITS + 1];
  private final int[] starts = new int[MAX_GROUPS];
  private final int[] ends = new int[MAX_GROUPS];
  private final int[] offsets = new int[MAX_GROUPS + 1];
  private int count;

  DigitGroups(char[] text, int length) {
    this.text = text;
    this.length = length;
  }

  /**
   * Reads the row that starts with the digit at {@code start}.
   *
   * @return where to go on; inside the row where it is longer than what fits
   */
  int read(int start) {
    count = 0;
    offsets[0] = 0;
    int i = start;
    while (true) {
      int from = i;
      int offset = offsets[count];
      while (i < length && Words.isDigit(text[i])) {
        if (offset < MAX_DIGITS) {
          values[offset++] = (byte) (text[i] - '0');
        }
        i++;
      }
      starts[count] = from;
      ends[count] = i;
      offsets[++count] = offset;
      int next = skipSeparator(i);
      if (next < 0) {
        return i;
      }
      if (count == MAX_GROUPS || offset >= MAX_DIGITS - OVERLAP_DIGITS) {
        return resume(i);
      }
      i = next;
    }
  }

  /** Where the digits at {@code start} end, if they are not the beginning of a row; else -1. */
  int endOfLoneGroup(int start) {
    int end = start + 1;
    while (end < length && Words.isDigit(text[end])) {
      end++;
    }
    return skipSeparator(end) < 0 ? end : -1;
  }

  /** The last group start with enough digits behind it, but never the first: the scan advances. */
  private int resume(int end) {
    for (int g = count - 1; g > 0; g--) {
      if (offsets[count] - offsets[g] >= OVERLAP_DIGITS) {
        return starts[g];
      }
    }
    return end;
  }

  /** Up to three characters such as {@code ") "} or {@code " - "} before the next digit, or -1. */
  private int skipSeparator(int i) {
    int end = Math.min(length, i + 4);
    for (int k = i; k < end; k++) {
      char c = text[k];
      if (Words.isDigit(c)) {
        return k > i ? k : -1;
      }
      if (c != ' ' && c != '-' && c != '.' && c != '/' && c != '(' && c != ')' && c != '_') {
        return -1;
      }
    }
    return -1;
  }

  int count() {
    return count;
  }

  /** All digits of the row, 0 to 9. */
  byte[] values() {
    return values;
  }

  int start(int group) {
    return starts[group];
  }

  int end(int group) {
    return ends[group];
  }

  /** Index in {@link #values} of a group's first digit. */
  int offset(int group) {
    return offsets[group];
  }

  /** Digits from one group to another, both included. */
  int digits(int from, int to) {
    return offsets[to + 1] - offsets[from];
  }

  /** The number that {@code digits} digits of a row make, {@code skip} after a group's first. */
  int number(int group, int skip, int digits) {
    int value = 0;
    for (int i = 0; i < digits; i++) {
      value = value * 10 + values[offsets[group] + skip + i];
    }
    return value;
  }

  /** A letter or underscore touches it, so it is part of a longer token such as a hash. */
  boolean tainted(int from, int to) {
    return (from == 0 && isWord(starts[0] - 1)) || (to == count - 1 && isWord(ends[to]));
  }

  private boolean isWord(int index) {
    if (index < 0 || index >= length) {
      return false;
    }
    return Words.isPart(text[index]);
  }

  /** The one separator character before a group, or 0 where there are several. */
  private char separator(int group) {
    return group > 0 && starts[group] - ends[group - 1] == 1 ? text[starts[group] - 1] : 0;
  }

  private int size(int group) {
    return offsets[group + 1] - offsets[group];
  }

  /** The same separator stands between all groups of a window. */
  private boolean uniform(int from, int to) {
    for (int g = from + 2; g <= to; g++) {
      if (separator(g) != separator(from + 1)) {
        return false;
      }
    }
    return to == from || separator(from + 1) != 0;
  }

  private boolean whole(int from, int to) {
    return from == 0 && to == count - 1;
  }

  /** A way in which card numbers are written, as against a row of unrelated numbers. */
  boolean cardShape(int from, int to) {
    if (from == to) {
      return !isFraction(from);
    }
    if (isCanonicalCard(from, to)) {
      return !(size(from) == 4 && size(from + 1) == 4 && isColumn(from, to));
    }
    if (!whole(from, to) || !uniform(from, to)) {
      return false;
    }
    boolean single = true;
    boolean pairs = separator(from + 1) != ' ';
    for (int g = from; g <= to; g++) {
      single &= size(g) == 1;
      pairs &= size(g) <= 2;
    }
    return single || pairs || to - from < 4;
  }

  /** {@code 0.123456}: the whole row is one number with a point. */
  boolean isDecimal() {
    return count == 2 && separator(1) == '.';
  }

  /** Digits behind a decimal point. */
  private boolean isFraction(int group) {
    return separator(group) == '.' && size(group) >= 9;
  }

  private boolean isCanonicalCard(int from, int to) {
    for (int[] sizes : CARD_SIZES) {
      if (hasSizes(from, to, sizes)) {
        return true;
      }
    }
    return false;
  }

  private boolean hasSizes(int from, int to, int... sizes) {
    if (to - from + 1 != sizes.length) {
      return false;
    }
    for (int i = 0; i < sizes.length; i++) {
      if (size(from + i) != sizes[i]) {
        return false;
      }
    }
    return true;
  }

  /** More than five numbers of four digits in a row are a table. */
  private boolean isColumn(int from, int to) {
    int first = from;
    while (first > 0 && size(first - 1) == 4) {
      first--;
    }
    int last = to;
    while (last < count - 1 && size(last + 1) == 4) {
      last++;
    }
    return last - first + 1 > 5;
  }

  /** {@code 123-45-6789}, with nothing joined to it. */
  boolean isSsnShape(int from, int to) {
    return hasSizes(from, to, 3, 2, 4)
        && uniform(from, to)
        && separator(from + 1) != '/'
        && separator(from + 1) != '_'
        && alone(from, to);
  }

  /** The neighbours are not joined to a window by the separator that it uses itself. */
  private boolean alone(int from, int to) {
    char inner = separator(from + 1);
    return (from == 0 ? !isJoined(starts[0] - 1, inner) : separator(from) != inner)
        && (to == count - 1 ? !isJoined(ends[to], inner) : separator(to + 1) != inner);
  }

  /** A dash or dot that goes on to a word: {@code x-123-45-6789}. */
  private boolean isJoined(int index, char inner) {
    if (inner == ' ' || index < 1 || index >= length - 1 || text[index] != inner) {
      return false;
    }
    return isWord(index - 1) && isWord(index + 1);
  }

  /** Four groups of at most three digits with dots, and no fifth. */
  boolean isDottedQuad(int from, int to) {
    if (to - from != 3) {
      return false;
    }
    for (int g = from; g <= to; g++) {
      boolean leadingZero = size(g) > 1 && values[offsets[g]] == 0;
      if (size(g) > 3 || leadingZero || number(g, 0, size(g)) > 255) {
        return false;
      }
      if (g > from && separator(g) != '.') {
        return false;
      }
    }
    return alone(from, to);
  }

  /** {@code (415) 555-2671}, {@code 415.555.2671}, {@code 1-415-555-2671}, and nothing more. */
  boolean isNorthAmericanShape(int from, int to) {
    boolean ten = hasSizes(from, to, 3, 3, 4);
    boolean eleven = hasSizes(from, to, 1, 3, 3, 4) && values[offsets[from]] == 1;
    if (!ten && !eleven) {
      return false;
    }
    int area = eleven ? from + 1 : from;
    boolean spaces = separator(area + 2) == ' ' && separator(area + 1) == ' ';
    return separator(area + 1) != '/'
        && separator(area + 1) != '_'
        && (!spaces || whole(from, to))
        && (from == 0 || starts[from] - ends[from - 1] > 1 || separator(from) == ' ')
        && (to == count - 1 || separator(to + 1) == ' ' || separator(to + 1) == 0);
  }

  boolean hasShape(int from, int to, NationalId.Shape shape) {
    int[] sizes = shape.groups();
    if (!hasSizes(from, to, sizes)) {
      return false;
    }
    if (sizes.length == 1) {
      return !isFraction(from);
    }
    for (int i = 0; i < shape.separators().length; i++) {
      char wanted = shape.separators()[i];
      if (wanted != 0 && separator(from + 1 + i) != wanted) {
        return false;
      }
    }
    return whole(from, to)
        || (alone(from, to) && !isColumn(from, to) && separator(from + 1) != ' ');
  }
}
