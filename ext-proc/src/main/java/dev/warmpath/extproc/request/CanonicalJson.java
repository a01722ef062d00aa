package dev.warmpath.extproc.request;

/**
 * Writes checked JSON into a {@link PromptHasher}, without what does not reach the rendered prompt:
 * blanks and the client's way of escaping.
 */
final class CanonicalJson {
  private final JsonScanner scanner;
  private final PromptHasher out;
  private final byte[] decoded = new byte[4];

  CanonicalJson(JsonScanner scanner, PromptHasher out) {
    this.scanner = scanner;
    this.out = out;
  }

  /** The decoded content of the string at {@code from}, its opening quote. Returns the end. */
  int string(int from) {
    byte[] json = scanner.json;
    int i = from + 1;
    int run = i;
    while (true) {
      i = scanner.plainRun(i);
      byte b = json[i];
      if (b == '"') {
        out.bytes(json, run, i);
        return i + 1;
      }
      if (b == '\\') {
        out.bytes(json, run, i);
        out.bytes(decoded, 0, scanner.decodeEscape(i, decoded, 0));
        i += scanner.escapeLength(i);
        run = i;
      } else {
        do {
          i++; // the bytes of multi-byte characters are copied with their run
        } while (json[i] < 0);
      }
    }
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
          i = scanner.skipValue(i, 0);
          out.bytes(json, start, i);
        }
      }
    } while (depth > 0);
    return i;
  }
}
