package dev.warmpath.extproc.label;

import java.util.Arrays;

/** Secrets by the shapes that issuers give them. */
final class ApiKeys {
  private enum Alphabet {
    ALPHANUMERIC,
    UPPER,
    URL_SAFE
  }

  private record Shape(String prefix, char second, int length, Alphabet alphabet) {
    Shape(String prefix, int length, Alphabet alphabet) {
      this(prefix, prefix.charAt(1), length, alphabet);
    }
  }

  /** Prefix, how many characters must follow at least, and which. */
  private static final Shape[] SHAPES = {
    new Shape("sk-", 20, Alphabet.URL_SAFE),
    new Shape("sk_live_", 16, Alphabet.ALPHANUMERIC),
    new Shape("sk_test_", 16, Alphabet.ALPHANUMERIC),
    new Shape("rk_live_", 16, Alphabet.ALPHANUMERIC),
    new Shape("pk_live_", 16, Alphabet.ALPHANUMERIC),
    new Shape("AKIA", 16, Alphabet.UPPER),
    new Shape("ASIA", 16, Alphabet.UPPER),
    new Shape("ghp_", 36, Alphabet.ALPHANUMERIC),
    new Shape("gho_", 36, Alphabet.ALPHANUMERIC),
    new Shape("ghs_", 36, Alphabet.ALPHANUMERIC),
    new Shape("ghu_", 36, Alphabet.ALPHANUMERIC),
    new Shape("github_pat_", 40, Alphabet.URL_SAFE),
    new Shape("glpat-", 20, Alphabet.URL_SAFE),
    new Shape("xoxb-", 20, Alphabet.URL_SAFE),
    new Shape("xoxp-", 20, Alphabet.URL_SAFE),
    new Shape("xoxa-", 20, Alphabet.URL_SAFE),
    new Shape("AIza", 35, Alphabet.URL_SAFE),
    new Shape("hf_", 30, Alphabet.ALPHANUMERIC),
    new Shape("npm_", 36, Alphabet.ALPHANUMERIC),
    new Shape("pypi-", 40, Alphabet.URL_SAFE),
    new Shape("dop_v1_", 60, Alphabet.ALPHANUMERIC)
  };

  /** The same by their first character: most words of a text are none of them. */
  private static final Shape[][] BY_FIRST = new Shape[128][];

  static {
    for (Shape shape : SHAPES) {
      char first = shape.prefix().charAt(0);
      Shape[] before = BY_FIRST[first];
      Shape[] all = before == null ? new Shape[1] : Arrays.copyOf(before, before.length + 1);
      all[all.length - 1] = shape;
      BY_FIRST[first] = all;
    }
  }

  private static final String PRIVATE_KEY = "-----BEGIN ";

  private ApiKeys() {}

  /** A word starts at {@code i}, with an ASCII letter. */
  static boolean at(char[] text, int length, int i) {
    if (text[i] == 'e') {
      return isToken(text, length, i);
    }
    Shape[] shapes = BY_FIRST[text[i]];
    if (shapes == null || i + 1 == length) {
      return false;
    }
    for (Shape shape : shapes) {
      if (text[i + 1] == shape.second() && matches(text, length, i, shape)) {
        return true;
      }
    }
    return false;
  }

  private static boolean matches(char[] text, int length, int i, Shape shape) {
    String prefix = shape.prefix();
    int start = i + prefix.length();
    if (start + shape.length() > length) {
      return false;
    }
    for (int k = 0; k < prefix.length(); k++) {
      if (text[i + k] != prefix.charAt(k)) {
        return false;
      }
    }
    // The whole of it is looked at: a key may begin with a long row of letters or of digits.
    boolean digit = false;
    boolean letter = false;
    int k = start;
    while (k < length && isIn(shape.alphabet(), text[k])) {
      char c = text[k++];
      digit |= c >= '0' && c <= '9';
      letter |= (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
      if (digit && letter && k - start >= shape.length()) {
        return true;
      }
    }
    return false; // words-joined-by-dashes are no key
  }

  private static boolean isIn(Alphabet alphabet, char c) {
    boolean digit = c >= '0' && c <= '9';
    boolean upper = c >= 'A' && c <= 'Z';
    boolean lower = c >= 'a' && c <= 'z';
    return switch (alphabet) {
      case UPPER -> digit || upper;
      case ALPHANUMERIC -> digit || upper || lower;
      case URL_SAFE -> digit || upper || lower || c == '-' || c == '_';
    };
  }

  /** A signed token: two dots between three base64url parts, the first of which opens an object. */
  private static boolean isToken(char[] text, int length, int i) {
    if (i + 40 > length || text[i + 1] != 'y' || text[i + 2] != 'J') {
      return false;
    }
    int dots = 0;
    int part = 0;
    for (int k = i; k < length; k++) {
      char c = text[k];
      if (c == '.') {
        if (part < 8) {
          return false;
        }
        if (++dots == 2) {
          return k + 8 < length && isIn(Alphabet.URL_SAFE, text[k + 1]);
        }
        part = 0;
      } else if (isIn(Alphabet.URL_SAFE, c)) {
        part++;
      } else {
        return false;
      }
    }
    return false;
  }

  /** {@code -----BEGIN RSA PRIVATE KEY-----}. */
  static boolean privateKeyAt(char[] text, int length, int i) {
    if (i + PRIVATE_KEY.length() + 20 > length || (i > 0 && text[i - 1] == '-')) {
      return false;
    }
    for (int k = 0; k < PRIVATE_KEY.length(); k++) {
      if (text[i + k] != PRIVATE_KEY.charAt(k)) {
        return false;
      }
    }
    int from = i + PRIVATE_KEY.length();
    return new String(text, from, Math.min(40, length - from)).contains("PRIVATE KEY-----");
  }
}
