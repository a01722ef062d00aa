package dev.warmpath.extproc.label;

import java.util.Arrays;

/**
 * Everything readable in a request body, as one normalised text: every string of the JSON document
 * at every depth (system, history, tool arguments and results, schemas, URLs, metadata, keys too),
 * decoded, and every number. Strings are separated by a line feed, so that nothing matches across
 * two of them.
 *
 * <p>Decoding: JSON escapes, UTF-8, then {@link Normalizer}; {@code \}{@code u0041} once more
 * inside the decoded text (arguments of tool calls are JSON inside JSON), and percent-encoding of
 * printable ASCII. It never fails: a body that isn't JSON is text.
 *
 * <p>Linear in the body; one pass.
 */
final class BodyText {
  private static final int MAX_SEGMENTS = 1 << 14;

  /** Longer than any word, key, hash or token that people write. */
  private static final int BASE64_PROBE = 512;

  private final byte[] body;
  private final int limit;
  private char[] chars;
  private int length;
  private boolean cut;
  private boolean opaque;
  private boolean tools;

  // Segments, column by column: strings of members named role, and those with a message's or
  // prompt's text (content, text, input, prompt).
  private int segments;
  private int[] starts = new int[32];
  private int[] ends = new int[32];
  private int[] objects = new int[32];
  private boolean[] isRole = new boolean[32];

  // Objects: the enclosing one of each.
  private int objectCount = 1;
  private int[] parents = new int[32];

  private BodyText(byte[] body, int limit) {
    this.body = body;
    this.limit = limit;
    this.chars = new char[Math.min(body.length, limit) + 16];
  }

  /**
   * Reads a body.
   *
   * @param limit characters after which the rest is cut off
   */
  static BodyText read(byte[] body, int limit) {
    BodyText text = new BodyText(body, limit);
    text.readAll();
    return text;
  }

  char[] chars() {
    return chars;
  }

  int length() {
    return length;
  }

  /** The body was longer than the limit. */
  boolean cut() {
    return cut;
  }

  /** Something in it can't be read as text: an image, audio, a file, token ids. */
  boolean opaque() {
    return opaque;
  }

  /** It has a {@code tools} or {@code functions} member. */
  boolean tools() {
    return tools;
  }

  /** Texts of the last message of role {@code user}, or of the only prompt; start and end pairs. */
  int[] lastUserText() {
    int user = -1;
    for (int i = segments - 1; i >= 0 && user < 0; i--) {
      if (isRole[i] && equals(starts[i], ends[i], "user")) {
        user = objects[i];
      }
    }
    int[] spans = new int[8];
    int count = 0;
    for (int i = 0; i < segments; i++) {
      if (isRole[i]) {
        continue;
      }
      boolean wanted =
          user >= 0 ? objects[i] == user || parents[objects[i]] == user : objects[i] <= 1;
      if (wanted) {
        spans = count + 2 > spans.length ? Arrays.copyOf(spans, spans.length * 2) : spans;
        spans[count++] = starts[i];
        spans[count++] = ends[i];
      }
    }
    return Arrays.copyOf(spans, count);
  }

  /** Number of messages with that role. */
  int messages(String role) {
    int count = 0;
    for (int i = 0; i < segments; i++) {
      if (isRole[i] && equals(starts[i], ends[i], role)) {
        count++;
      }
    }
    return count;
  }

  private boolean equals(int start, int end, String text) {
    if (end - start != text.length()) {
      return false;
    }
    for (int i = 0; i < text.length(); i++) {
      if (chars[start + i] != text.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  // --- reading

  private int at;
  private int object;
  private int keyStart;
  private int keyEnd;

  private void readAll() {
    while (at < body.length && body[at] >= 0 && body[at] <= ' ') {
      at++;
    }
    if (at < body.length && body[at] != '{' && body[at] != '[') {
      readPlain();
    }
    while (at < body.length) {
      if (length >= limit) {
        cut = true;
        return;
      }
      byte b = body[at];
      switch (b) {
        case '"' -> readString();
        case '{' -> openObject();
        case '}' -> {
          object = parents[object];
          at++;
        }
        case '-', '+', '.', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9' -> readNumber();
        case ' ', '\t', '\n', '\r', ',', ':', '[', ']' -> at++;
        default -> readBare();
      }
    }
  }

  /** Not JSON at all. */
  private void readPlain() {
    while (at < body.length && length < limit) {
      at = decode(at, body.length);
    }
    cut |= at < body.length;
    at = body.length;
  }

  private void openObject() {
    if (objectCount == parents.length) {
      parents = Arrays.copyOf(parents, objectCount * 2);
    }
    parents[objectCount] = object;
    object = objectCount++;
    keyStart = keyEnd = 0;
    at++;
  }

  /** Numbers can be personal data too; a row of them under a prompt is token ids. */
  private void readNumber() {
    opaque |= keyIs("prompt") || keyIs("input");
    while (at < body.length && length < limit && isNumber(body[at])) {
      put((char) body[at++]);
    }
    put('\n');
  }

  private static boolean isNumber(byte b) {
    return (b >= '0' && b <= '9') || b == '.' || b == '-' || b == '+' || b == 'e' || b == 'E';
  }

  /** {@code true}, {@code null}, or text where JSON was expected. */
  private void readBare() {
    while (at < body.length && length < limit && !isStructural(body[at])) {
      at = decode(at, body.length);
    }
    put('\n');
  }

  private static boolean isStructural(byte b) {
    return b == '"' || b == '{' || b == '}' || b == '[' || b == ']' || b == ',';
  }

  private void readString() {
    int start = length;
    at++;
    boolean base64 = isBase64Data() || isLongBase64();
    if (base64) {
      opaque = true;
    }
    while (at < body.length && body[at] != '"') {
      byte b = body[at];
      if (base64) {
        at += b == '\\' ? 2 : 1;
        continue;
      }
      if (length >= limit) {
        cut = true;
        return;
      }
      if (isPlain(b)) {
        copyPlain();
      } else {
        at = decode(at, body.length);
      }
    }
    at++;
    int end = length;
    put('\n');
    if (isKey()) {
      keyStart = start;
      keyEnd = end;
      tools |= equals(start, end, "tools") || equals(start, end, "functions");
    } else {
      value(start, end);
    }
  }

  /** Nothing to decode: the bulk of most bodies, so its loop writes no field. */
  private void copyPlain() {
    int from = at;
    int to = length;
    int end = Math.min(body.length, from + limit - to);
    while (from < end && isPlain(body[from])) {
      chars[to++] = (char) body[from++];
    }
    at = from;
    length = to;
  }

  private static boolean isPlain(byte b) {
    return b >= 0x20 && b != '\\' && b != '%' && b != '"';
  }

  /** The next byte that isn't white space is a colon. */
  private boolean isKey() {
    int next = at;
    while (next < body.length && body[next] <= ' ' && body[next] >= 0) {
      next++;
    }
    return next < body.length && body[next] == ':';
  }

  private void value(int start, int end) {
    if (keyIs("type")) {
      opaque |= isOpaqueType(start, end);
    }
    boolean role = keyIs("role");
    boolean content = keyIs("content") || keyIs("text") || keyIs("input") || keyIs("prompt");
    if ((!role && !content) || segments == MAX_SEGMENTS) {
      return;
    }
    if (segments == starts.length) {
      int size = segments * 2;
      starts = Arrays.copyOf(starts, size);
      ends = Arrays.copyOf(ends, size);
      objects = Arrays.copyOf(objects, size);
      isRole = Arrays.copyOf(isRole, size);
    }
    starts[segments] = start;
    ends[segments] = end;
    objects[segments] = object;
    isRole[segments++] = role;
  }

  private boolean keyIs(String name) {
    return equals(keyStart, keyEnd, name);
  }

  /** Parts whose substance isn't in the text: it was not read, so nothing may be concluded. */
  private boolean isOpaqueType(int start, int end) {
    return equals(start, end, "image_url")
        || equals(start, end, "image")
        || equals(start, end, "input_image")
        || equals(start, end, "input_audio")
        || equals(start, end, "audio")
        || equals(start, end, "audio_url")
        || equals(start, end, "video_url")
        || equals(start, end, "video")
        || equals(start, end, "file")
        || equals(start, end, "input_file")
        || equals(start, end, "document")
        || equals(start, end, "container_upload");
  }

  /** {@code data:…;base64,} at the start of a string. */
  private boolean isBase64Data() {
    if (!matches(at, "data:")) {
      return false;
    }
    for (int i = at + 5; i < Math.min(body.length, at + 120) && body[i] != '"'; i++) {
      if (body[i] == ',') {
        return matches(i - 7, ";base64");
      }
    }
    return false;
  }

  /** A long string without a space or any punctuation is encoded data: its substance is hidden. */
  private boolean isLongBase64() {
    if (at + BASE64_PROBE > body.length) {
      return false;
    }
    for (int i = at; i < at + BASE64_PROBE; i++) {
      byte b = body[i];
      boolean inAlphabet =
          (b >= '0' && b <= '9')
              || (b >= 'A' && b <= 'Z')
              || (b >= 'a' && b <= 'z')
              || b == '+'
              || b == '/'
              || b == '-'
              || b == '_';
      if (!inAlphabet) {
        return false;
      }
    }
    return true;
  }

  private boolean matches(int from, String text) {
    if (from < 0 || from + text.length() > body.length) {
      return false;
    }
    for (int i = 0; i < text.length(); i++) {
      if (body[from + i] != text.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  /** Decodes one character at {@code i} (escape, UTF-8 or percent); gives the next position. */
  private int decode(int i, int end) {
    int b = body[i];
    if (b == '\\') {
      return escape(i, end);
    }
    if (b == '%') {
      int value = i + 2 < end ? hex(body[i + 1]) * 16 + hex(body[i + 2]) : -1;
      if (value >= 0x20 && value < 0x7F) {
        put((char) value);
        return i + 3;
      }
    }
    if (b >= 0) {
      put((char) b);
      return i + 1;
    }
    return utf8(i, end);
  }

  private int escape(int i, int end) {
    if (i + 1 >= end) {
      return end;
    }
    switch (body[i + 1]) {
      case 'u' -> {
        return unicode(i, end);
      }
      // Not the end of the string, which is a line feed: rows of numbers end there, wrapped ones go
      // on.
      case 'n', 'r' -> put('\r');
      case 't', 'b', 'f' -> put(' ');
      case '\\' -> {
        // JSON inside JSON: the inner document's own escape of a character.
        if (i + 6 < end && body[i + 2] == 'u' && hex4(i + 3, end) >= 0) {
          put(Normalizer.fold((char) hex4(i + 3, end)));
          return i + 7;
        }
        if (i + 2 < end && (body[i + 2] == 'n' || body[i + 2] == 't' || body[i + 2] == 'r')) {
          put(body[i + 2] == 't' ? ' ' : '\r');
          return i + 3;
        }
        put('\\');
      }
      default -> put((char) (body[i + 1] & 0xFF));
    }
    return i + 2;
  }

  private int unicode(int i, int end) {
    int unit = hex4(i + 2, end);
    if (unit < 0) {
      put('u');
      return i + 2;
    }
    if (Character.isHighSurrogate((char) unit)
        && i + 7 < end
        && body[i + 6] == '\\'
        && body[i + 7] == 'u') {
      int low = hex4(i + 8, end);
      if (low >= 0 && Character.isLowSurrogate((char) low)) {
        put(Normalizer.fold(Character.toCodePoint((char) unit, (char) low)));
        return i + 12;
      }
    }
    put(Normalizer.fold((char) unit));
    return i + 6;
  }

  private int hex4(int from, int end) {
    if (from + 4 > end) {
      return -1;
    }
    int value = 0;
    for (int i = from; i < from + 4; i++) {
      int digit = hex(body[i]);
      if (digit < 0) {
        return -1;
      }
      value = value * 16 + digit;
    }
    return value;
  }

  /** -1000 for no digit, so that a sum with one is negative. */
  private static int hex(byte b) {
    if (b >= '0' && b <= '9') {
      return b - '0';
    }
    int letter = b | 0x20;
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1000;
  }

  private int utf8(int i, int end) {
    int b = body[i] & 0xFF;
    int size = b >= 0xF0 ? 4 : b >= 0xE0 ? 3 : b >= 0xC0 ? 2 : 1;
    if (size == 1 || i + size > end) {
      put('\u25A1');
      return i + 1;
    }
    int codePoint = b & (0xFF >> (size + 1));
    for (int k = 1; k < size; k++) {
      codePoint = codePoint << 6 | (body[i + k] & 0x3F);
    }
    put(
        codePoint < Character.MIN_SUPPLEMENTARY_CODE_POINT
            ? Normalizer.fold((char) codePoint)
            : Normalizer.fold(codePoint));
    return i + size;
  }

  private void put(char c) {
    if (c == Normalizer.DROPPED) {
      return;
    }
    if (length == chars.length) {
      chars = Arrays.copyOf(chars, length + 64);
    }
    chars[length++] = c;
  }
}
