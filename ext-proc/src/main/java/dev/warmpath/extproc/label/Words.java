package dev.warmpath.extproc.label;

/** What belongs to the same word or token as a neighbouring letter or digit. */
final class Words {
  private Words() {}

  static boolean isPart(char c) {
    if (c < 0x80) {
      return c == '_' || isLetter(c) || isDigit(c);
    }
    // Scripts that put no space between words do not make a number part of a token.
    return c < 0x1100 && Character.isLetter(c);
  }

  static boolean isLetter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  }

  static boolean isDigit(char c) {
    return c >= '0' && c <= '9';
  }
}
