package dev.warmpath.extproc.label;

/** Bank account numbers: country, length, and check digits. */
final class Ibans {
  private static final int MAX_LENGTH = 34;

  private Ibans() {}

  /**
   * Whether the digit at {@code digit} is the first check digit of an IBAN. Letters and digits may
   * be separated by single spaces, dashes or dots anywhere, and by the end of a line.
   */
  static boolean at(char[] text, int length, int digit) {
    int second = back(text, digit);
    if (second < 0 || !isLetter(text[second])) {
      return false;
    }
    int first = back(text, second);
    if (first < 0 || !isLetter(text[first]) || (first > 0 && isAlphanumeric(text[first - 1]))) {
      return false;
    }
    int wanted = Checksums.ibanLength(text[first], text[second]);
    if (wanted == 0) {
      return false;
    }
    char[] iban = new char[MAX_LENGTH];
    int read = 0;
    int digits = 0;
    int i = first;
    int last = first;
    while (read < wanted && i < length) {
      char c = text[i];
      if (isAlphanumeric(c)) {
        iban[read++] = c >= 'a' ? (char) (c - 32) : c;
        digits += c <= '9' ? 1 : 0;
        last = i;
      } else if (!isSeparator(c) || !isShortGap(text, last, i)) {
        return false;
      }
      i++;
    }
    // Words that happen to read like one are mostly letters.
    return read == wanted
        && digits * 2 >= wanted
        && iban[3] <= '9'
        && (i == length || !isAlphanumeric(text[i]))
        && Checksums.iban(iban, wanted);
  }

  /** One separator after {@code last}, or up to three with a line break among them. */
  private static boolean isShortGap(char[] text, int last, int at) {
    boolean broken = false;
    for (int k = last + 1; k <= at; k++) {
      broken |= PiiScanner.isLineBreak(text[k]);
    }
    return at - last == 1 || (at - last <= 3 && broken);
  }

  /** The character before, over at most one separator; -1 at the start of the text. */
  private static int back(char[] text, int index) {
    int before = index - 1;
    return before > 0 && isSeparator(text[before]) ? before - 1 : before;
  }

  private static boolean isSeparator(char c) {
    return c == ' ' || c == '-' || c == '.' || PiiScanner.isLineBreak(c);
  }

  private static boolean isAlphanumeric(char c) {
    return isLetter(c) || (c >= '0' && c <= '9');
  }

  private static boolean isLetter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  }
}
