package dev.warmpath.crds.resource;

/** Paths of fields as messages show them: {@code spec.route.tiers[0].endpoints}. */
final class FieldPath {
  private static final int MAX_KEY_LENGTH = 80;

  private FieldPath() {}

  static String child(String parent, String key) {
    if (!isIdentifier(key)) {
      String shown = key.length() <= MAX_KEY_LENGTH ? key : key.substring(0, MAX_KEY_LENGTH) + "…";
      return parent + "[\"" + printable(shown) + "\"]";
    }
    return parent.isEmpty() ? key : parent + "." + key;
  }

  static String item(String parent, int index) {
    return parent + "[" + index + "]";
  }

  private static boolean isIdentifier(String key) {
    return !key.isEmpty()
        && key.length() <= MAX_KEY_LENGTH
        && key.chars().allMatch(c -> Character.isLetterOrDigit(c) || c == '_' || c == '-');
  }

  /** Without what a terminal would obey. */
  static String printable(String text) {
    StringBuilder shown = new StringBuilder();
    text.codePoints().forEach(c -> shown.appendCodePoint(isPrintable(c) ? c : '\uFFFD'));
    return shown.toString();
  }

  private static boolean isPrintable(int codePoint) {
    return switch (Character.getType(codePoint)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.UNASSIGNED,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          false;
      default -> true;
    };
  }
}
