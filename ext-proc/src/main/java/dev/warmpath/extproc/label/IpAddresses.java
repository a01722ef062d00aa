package dev.warmpath.extproc.label;

/** Addresses that can belong to a person: public ones, written as such. */
final class IpAddresses {
  private IpAddresses() {}

  /** Not private, local, reserved or for documentation, and not a version number. */
  static boolean isPersonalV4(char[] text, DigitGroups groups, int from) {
    int a = octet(groups, from);
    int b = octet(groups, from + 1);
    int c = octet(groups, from + 2);
    int d = octet(groups, from + 3);
    boolean special =
        a == 0
            || a == 10
            || a == 127
            || a >= 224
            || (a == 100 && b >= 64 && b < 128)
            || (a == 169 && b == 254)
            || (a == 172 && b >= 16 && b < 32)
            || (a == 192 && b == 168)
            || (a == 192 && b == 0 && (c == 0 || c == 2))
            || (a == 198 && (b == 18 || b == 19))
            || (a == 198 && b == 51 && c == 100)
            || (a == 203 && b == 0 && c == 113);
    // Small numbers and zeros at the end are how programs are numbered.
    boolean versionLike = (c == 0 && d == 0) || (a < 16 && b < 16 && c < 16 && d < 16);
    return !special && !versionLike && !isVersionContext(text, groups.start(from));
  }

  private static int octet(DigitGroups groups, int group) {
    return groups.number(group, 0, groups.digits(group, group));
  }

  /**
   * {@code Chrome/120.0.6099.71}, {@code v1.2.3.4}, {@code version 4.18.25.1}, {@code lib-1.2.3.4}.
   */
  private static boolean isVersionContext(char[] text, int start) {
    if (start == 0) {
      return false;
    }
    char before = text[start - 1];
    boolean address = start >= 3 && before == '/' && text[start - 2] == '/'; // https://81.2.69.142/
    if ((before == '/' && !address) || before == '-' || before == '_' || before == '=') {
      return before != '=' || endsWith(text, start - 1, "version");
    }
    return endsWith(text, start, "version ")
        || endsWith(text, start, "version: ")
        || endsWith(text, start, "version:")
        || endsWith(text, start, "ver ")
        || endsWith(text, start, "release ");
  }

  private static boolean endsWith(char[] text, int end, String word) {
    int from = end - word.length();
    if (from < 0) {
      return false;
    }
    for (int i = 0; i < word.length(); i++) {
      if ((text[from + i] | 0x20) != (word.charAt(i) | 0x20)) {
        return false;
      }
    }
    return true;
  }

  /** The colon is the first of a global unicast address: {@code 2001:db9:…}. */
  static boolean v6At(char[] text, int length, int colon) {
    int start = colon - 4;
    if (start < 0 || (text[start] != '2' && text[start] != '3')) {
      return false;
    }
    if (start > 0
        && (isHex(text[start - 1]) || text[start - 1] == ':' || Words.isPart(text[start - 1]))) {
      return false;
    }
    int hextets = 0;
    int digits = 0;
    boolean compressed = false;
    int i = start;
    while (i < length && (isHex(text[i]) || text[i] == ':')) {
      if (text[i] == ':') {
        if (i + 1 < length && text[i + 1] == ':') {
          compressed = true;
        }
        digits = 0;
      } else {
        hextets += digits == 0 ? 1 : 0;
        if (++digits > 4) {
          return false;
        }
      }
      i++;
    }
    boolean documentation =
        length - start >= 9 && new String(text, start, 9).equalsIgnoreCase("2001:db8:");
    return !documentation
        && (i == length || !Words.isPart(text[i]))
        && (hextets == 8 || (compressed && hextets >= 3 && hextets < 8));
  }

  private static boolean isHex(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  }
}
