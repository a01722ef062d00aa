package dev.warmpath.extproc.request;

/**
 * Steps over the fields of an object or the items of an array, one at a time; each step checks and
 * skips one value. After a {@code true} from {@link #next}, {@link #start} and {@link #end} delimit
 * the value and, in an object, {@link #name} is its field name.
 */
final class JsonCursor {
  private final JsonScanner scanner;
  private final boolean object;
  private final int depth;
  private int at;
  private boolean first = true;
  private String name = "";
  private int start;
  private int end;

  private JsonCursor(JsonScanner scanner, int open, int depth, boolean object) {
    this.scanner = scanner;
    this.object = object;
    this.depth = depth;
    this.at = open + 1;
  }

  /** A cursor over the object whose brace is at {@code open}. */
  static JsonCursor fields(JsonScanner scanner, int open, int depth) {
    return new JsonCursor(scanner, open, depth, true);
  }

  /** A cursor over the array whose bracket is at {@code open}. */
  static JsonCursor items(JsonScanner scanner, int open, int depth) {
    return new JsonCursor(scanner, open, depth, false);
  }

  boolean next() {
    at = scanner.skipBlank(at);
    int b = scanner.peek(at);
    if (b == (object ? '}' : ']') && first) {
      at++;
      return false;
    }
    if (!first) {
      if (b == (object ? '}' : ']')) {
        at++;
        return false;
      }
      if (b != ',') {
        throw MalformedBody.notJson("expected ',' or a closing bracket", at);
      }
      at = scanner.skipBlank(at + 1);
    }
    first = false;
    if (object) {
      if (scanner.peek(at) != '"') {
        throw MalformedBody.notJson("expected a field name", at);
      }
      int close = scanner.skipString(at);
      name = scanner.string(at, close);
      at = scanner.skipBlank(scanner.expect(scanner.skipBlank(close), ':'));
    }
    start = at;
    at = scanner.skipValue(at, depth + 1);
    end = at;
    return true;
  }

  String name() {
    return name;
  }

  int start() {
    return start;
  }

  int end() {
    return end;
  }

  /** Behind the closing bracket, once {@link #next} has returned false. */
  int behind() {
    return at;
  }
}
