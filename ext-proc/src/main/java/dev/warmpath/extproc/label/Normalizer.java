package dev.warmpath.extproc.label;

import java.text.Normalizer.Form;

/**
 * Folds what looks like ASCII to ASCII, character by character: compatibility forms (NFKC), decimal
 * digits of every script, dashes, spaces. Characters that show nothing (zero width, soft hyphen,
 * direction marks, variation selectors) are dropped, so that they can't split a number.
 */
final class Normalizer {
  /** Says that a character shows nothing. */
  static final char DROPPED = '\uFFFF';

  /** One entry for each character of the basic plane. */
  private static final char[] TABLE = table();

  private Normalizer() {}

  /** The folded character, or {@link #DROPPED}. */
  static char fold(char c) {
    return TABLE[c];
  }

  /** Beyond the basic plane, for example mathematical digits and letters. */
  static char fold(int codePoint) {
    if (codePoint < Character.MIN_SUPPLEMENTARY_CODE_POINT) {
      return TABLE[codePoint];
    }
    int digit = Character.digit(codePoint, 10);
    if (digit >= 0) {
      return (char) ('0' + digit);
    }
    // Variation selectors and tags.
    if (codePoint >= 0xE0000 && codePoint <= 0xE0FFF) {
      return DROPPED;
    }
    String folded = java.text.Normalizer.normalize(Character.toString(codePoint), Form.NFKC);
    // What is left is a symbol or a rare letter: a character that no pattern has.
    return folded.length() == 1 ? TABLE[folded.charAt(0)] : '\u25A1';
  }

  private static char[] table() {
    char[] table = new char[1 << 16];
    for (int i = 0; i < table.length; i++) {
      table[i] = entry((char) i);
    }
    return table;
  }

  private static char entry(char c) {
    if (c < 0x80) {
      return c;
    }
    int digit = Character.digit(c, 10);
    if (digit >= 0 && Character.isDigit(c)) {
      return (char) ('0' + digit);
    }
    boolean variationSelector = c >= 0xFE00 && c <= 0xFE0F;
    boolean filler = c == 0x115F || c == 0x1160 || c == 0x3164 || c == 0xFFA0 || c == 0x034F;
    return switch (Character.getType(c)) {
      case Character.FORMAT -> DROPPED;
      case Character.DASH_PUNCTUATION -> '-';
      case Character.SPACE_SEPARATOR, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR ->
          ' ';
      default -> {
        if (variationSelector || filler) {
          yield DROPPED;
        }
        if (c == '\u2212') { // minus sign
          yield '-';
        }
        if (Character.isSurrogate(c)) {
          yield '\u25A1';
        }
        String folded = java.text.Normalizer.normalize(String.valueOf(c), Form.NFKC);
        yield folded.length() == 1 ? folded.charAt(0) : c;
      }
    };
  }
}
