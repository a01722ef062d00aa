package dev.warmpath.extproc.label;

/** Identity numbers that mix digits with letters. */
final class Letters {
  private static final int CODICE_LENGTH = 16;

  private Letters() {}

  /** Eight digits and their letter, upper case as it is printed: {@code 12345678Z}. */
  static boolean spanishDni(char[] text, int length, int start, int end) {
    if (end - start != 8 || end >= length || (start > 0 && Words.isPart(text[start - 1]))) {
      return false;
    }
    int letter = text[end] == '-' ? end + 1 : end;
    if (letter >= length || (letter + 1 < length && Words.isPart(text[letter + 1]))) {
      return false;
    }
    int number = 0;
    for (int i = start; i < end; i++) {
      number = number * 10 + (text[i] - '0');
    }
    return text[letter] == Checksums.dniLetter(number);
  }

  /** {@code RSSMRA85T10A562S}; {@code digit} is where its first two digits start. */
  static boolean codiceFiscale(char[] text, int length, int digit) {
    int start = digit - 6;
    if (start < 0
        || start + CODICE_LENGTH > length
        || (start > 0 && Words.isPart(text[start - 1]))
        || (start + CODICE_LENGTH < length && Words.isPart(text[start + CODICE_LENGTH]))) {
      return false;
    }
    String pattern = "LLLLLLDDLDDLDDDL";
    char[] code = new char[CODICE_LENGTH];
    for (int i = 0; i < CODICE_LENGTH; i++) {
      char c = text[start + i];
      boolean digitWanted = pattern.charAt(i) == 'D';
      if (digitWanted ? c < '0' || c > '9' : !Words.isLetter(c)) {
        return false;
      }
      code[i] = c >= 'a' ? (char) (c - 32) : c;
    }
    return Checksums.codiceFiscale(code);
  }
}
