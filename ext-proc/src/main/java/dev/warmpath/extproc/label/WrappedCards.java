package dev.warmpath.extproc.label;

import java.util.Arrays;

/**
 * Card numbers in groups that go on in the next line: a text was wrapped in the middle of one.
 * {@link DigitGroups} stops at the end of a line, because the numbers of a table don't go on.
 */
final class WrappedCards {
  /** Digits of the longest number. */
  private static final int MAX_DIGITS = 19;

  private WrappedCards() {}

  /**
   * Whether the line break at {@code at} lies between two groups of a card number, with nothing
   * else in its row before and after.
   */
  static boolean at(char[] text, int length, int at) {
    int left = at - 1;
    while (left >= 0 && at - left <= 2 && isGap(text[left])) {
      left--;
    }
    int right = at + 1;
    while (right < length && right - at <= 3 && isGap(text[right])) {
      right++;
    }
    if (left < 0 || right >= length || !Words.isDigit(text[left]) || !Words.isDigit(text[right])) {
      return false;
    }
    int from = start(text, left);
    int to = end(text, length, right);
    return from >= 0 && to >= 0 && isCard(text, from, to);
  }

  /** Where the row of digit groups that ends at {@code last} starts, or -1 if it is no such row. */
  private static int start(char[] text, int last) {
    int i = last;
    while (i >= 0 && last - i <= MAX_DIGITS + 4 && isInRow(text, i)) {
      i--;
    }
    return i < 0 || !(Words.isPart(text[i]) || isInRow(text, i)) ? i + 1 : -1;
  }

  private static int end(char[] text, int length, int first) {
    int i = first;
    while (i < length
        && i - first <= MAX_DIGITS + 4
        && (Words.isDigit(text[i])
            || (isSeparator(text[i]) && i + 1 < length && Words.isDigit(text[i + 1])))) {
      i++;
    }
    return i >= length || !Words.isPart(text[i]) ? i : -1;
  }

  /** A digit, or a separator with a digit on its left. */
  private static boolean isInRow(char[] text, int i) {
    return Words.isDigit(text[i]) || (isSeparator(text[i]) && i > 0 && Words.isDigit(text[i - 1]));
  }

  private static boolean isCard(char[] text, int from, int to) {
    byte[] digits = new byte[MAX_DIGITS];
    int[] sizes = new int[6];
    int count = 0;
    int groups = 0;
    boolean inGroup = false;
    for (int i = from; i < to; i++) {
      if (Words.isDigit(text[i])) {
        if (count == MAX_DIGITS || (!inGroup && groups == sizes.length)) {
          return false;
        }
        groups += inGroup ? 0 : 1;
        sizes[groups - 1]++;
        digits[count++] = (byte) (text[i] - '0');
        inGroup = true;
      } else {
        inGroup = false;
      }
    }
    for (int[] wanted : DigitGroups.CARD_SIZES) {
      if (Arrays.equals(wanted, 0, wanted.length, sizes, 0, groups)) {
        return Checksums.paymentCard(digits, 0, count);
      }
    }
    return false;
  }

  private static boolean isGap(char c) {
    return isSeparator(c) || PiiScanner.isLineBreak(c);
  }

  private static boolean isSeparator(char c) {
    return c == ' ' || c == '-';
  }
}
