package dev.warmpath.extproc.request;

/**
 * Writes checked JSON into a {@link PromptHasher}, without what does not reach the rendered prompt:
 * blanks and the client's way of escaping.
 */
final class CanonicalJson {
  private final JsonScanner scanner;
  private final PromptHasher out;

  CanonicalJson(JsonScanner scanner, PromptHasher out) {
    this.scanner = scanner;
    this.out = out;
  }

  /** The decoded content of the string at {@code from}, its opening quote. Returns the end. */
  int string(int from) {
    int end = scanner.skipCheckedString(from);
    if (scanner.skippedPlain()) {
      out.bytes(scanner.json, from + 1, end - 1);
    } else {
      out.decoded(scanner.escaped, from + 1, end - 1);
    }
    return end;
  }

  /** Any value: blanks dropped, strings decoded, everything else as it stands. Returns the end. */
  int value(int from) {
    byte[] json = scanner.json;
    int depth = 0;
    int i = from;
    do {
      byte b = json[i];
      switch (b) {
        case '"' -> {
          out.mark(PromptHasher.TEXT);
          i = string(i);
          out.mark(PromptHasher.END);
        }
        case ' ', '\n', '\r', '\t' -> i++;
        case '{', '[' -> {
          out.mark(b);
          depth++;
          i++;
        }
        case '}', ']' -> {
          out.mark(b);
          depth--;
          i++;
        }
        case ',', ':' -> {
          out.mark(b);
          i++;
        }
        default -> {
          int start = i;
          i = scanner.skipScalar(i);
          out.bytes(json, start, i);
        }
      }
    } while (depth > 0);
    return i;
  }
}
