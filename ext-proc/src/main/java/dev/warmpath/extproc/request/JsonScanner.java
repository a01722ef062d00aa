package dev.warmpath.extproc.request;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Walks JSON text in a byte array without building anything. Every method takes the position where
 * to look and returns the position behind what it read; malformed text raises {@link
 * MalformedBody}.
 *
 * <p>Strict RFC 8259: no NaN, no comments, no trailing commas, no control characters in strings,
 * well-formed UTF-8, no lone surrogates (engines refuse them, so they are refused here, where the
 * message can name the byte). Nesting is limited, because engines recurse.
 */
final class JsonScanner {
  /** Python's json module, in front of every engine, gives up near 1,000; schemas need about 30. */
  static final int MAX_DEPTH = 256;

  /** CPython refuses integers above 4,300 digits; nothing legitimate comes near. */
  static final int MAX_NUMBER_BYTES = 1_024;

  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long ONES = 0x0101010101010101L;
  private static final long HIGHS = 0x8080808080808080L;
  private static final long QUOTES = ONES * '"';
  private static final long BACKSLASHES = ONES * '\\';
  private static final long BLANKS = ONES * ' ';

  /** Containers below this depth are not looked into one by one. */
  private static final int INNER_DEPTH = 8;

  private static final int[] NO_ENTRIES = {};

  /** Values shorter than this are walked again rather than remembered. */
  private static final int WORTH_REMEMBERING = 64;

  /** Three bytes as they lie in a word: what is fixed in a character of three bytes, and in two. */
  private static final int THREE_MASK = 0xC0C0F0;

  private static final int THREE = 0x8080E0;
  private static final int TWO_MASK = 0xC0E0;
  private static final int TWO = 0x80C0;

  final byte[] json;
  final int end;
  final EscapedText escaped;

  /** Where longer values start, in order, and where each ends: negative if without backslash. */
  private int[] starts = new int[16];

  private int[] ends = new int[16];
  private int remembered;

  /** All before this position has been checked, and its longer values are remembered. */
  private int checked;

  private boolean remembering;
  private boolean backslash;

  JsonScanner(byte[] json, int end) {
    this.json = json;
    this.end = end;
    this.escaped = new EscapedText(json);
  }

  int skipBlank(int from) {
    int i = from;
    while (i < end) {
      byte b = json[i];
      if (b != ' ' && b != '\n' && b != '\r' && b != '\t') {
        break;
      }
      i++;
    }
    return i;
  }

  /** The byte at a position, or -1 at the end. */
  int peek(int at) {
    return at < end ? json[at] & 0xFF : -1;
  }

  int expect(int at, char wanted) {
    if (peek(at) != wanted) {
      throw MalformedBody.notJson("expected '" + wanted + "'", at);
    }
    return at + 1;
  }

  /**
   * Skips one value that starts at {@code from} (blanks already skipped), checking all of it the
   * first time. Who descends into it later is spared another walk over its longer parts, so that a
   * body is read once to be checked, however deep its text lies, and once to be hashed.
   *
   * @param depth how many containers are open around it
   */
  int skipValue(int from, int depth) {
    int b = peek(from);
    if (b != '"' && b != '{' && b != '[') {
      return skipScalar(from);
    }
    if (from < checked) {
      int known = find(from);
      if (known >= 0) {
        return Math.abs(ends[known]);
      }
      return b == '"' ? skipString(from) : skipContainer(from, depth);
    }
    remembering = true;
    int behind = b == '"' ? rememberString(from) : skipContainer(from, depth);
    remembering = false;
    checked = behind;
    return behind;
  }

  /** Skips a string that has been checked; {@link #skippedPlain} then says what it is like. */
  int skipCheckedString(int from) {
    int known = find(from);
    if (known < 0) {
      backslash = false;
      return skipString(from);
    }
    backslash = ends[known] > 0;
    return Math.abs(ends[known]);
  }

  /** Whether that string has no escape. */
  boolean skippedPlain() {
    return !backslash;
  }

  private int find(int start) {
    return Arrays.binarySearch(starts, 0, remembered, start);
  }

  private int rememberString(int from) {
    backslash = false;
    int behind = skipString(from);
    if (behind - from >= WORTH_REMEMBERING) {
      int entry = remember(from);
      ends[entry] = backslash ? behind : -behind;
    }
    return behind;
  }

  private int remember(int start) {
    if (remembered == starts.length) {
      starts = Arrays.copyOf(starts, 2 * remembered);
      ends = Arrays.copyOf(ends, 2 * remembered);
    }
    starts[remembered] = start;
    return remembered++;
  }

  /** Iterative: a body of 10,000 brackets must not become 10,000 stack frames. */
  private int skipContainer(int from, int outerDepth) {
    long[] objects = new long[MAX_DEPTH / Long.SIZE];
    int[] entries = remembering ? new int[INNER_DEPTH] : NO_ENTRIES;
    int depth = 0;
    int i = from;
    boolean expectValue = true; // else: expect ',' or a closing bracket
    while (true) {
      int b = peek(i);
      if (expectValue && (b == '{' || b == '[')) {
        if (outerDepth + depth >= MAX_DEPTH) {
          throw new MalformedBody(
              "nesting_too_deep", "The body nests deeper than " + MAX_DEPTH + " levels.", null);
        }
        boolean object = b == '{';
        set(objects, depth, object);
        if (depth < entries.length) {
          entries[depth] = remember(i);
        }
        depth++;
        i = skipBlank(i + 1);
        int next = peek(i);
        if (next == (object ? '}' : ']')) {
          depth--;
          i++;
          closed(entries, depth, i);
          expectValue = false;
        } else if (object) {
          i = key(i);
        }
      } else if (expectValue) {
        if (b == '"') {
          i = remembering ? rememberString(i) : skipString(i);
        } else {
          i = skipScalar(i);
        }
        expectValue = false;
      } else {
        boolean object = get(objects, depth - 1);
        if (b == ',') {
          i = skipBlank(i + 1);
          if (object) {
            i = key(i);
          }
          expectValue = true;
          continue;
        }
        if (b != (object ? '}' : ']')) {
          throw MalformedBody.notJson("expected ',' or a closing bracket", i);
        }
        depth--;
        i++;
        closed(entries, depth, i);
      }
      if (!expectValue) {
        if (depth == 0) {
          return i;
        }
        i = skipBlank(i);
      }
    }
  }

  private void closed(int[] entries, int depth, int behind) {
    if (depth >= entries.length) {
      return;
    }
    int entry = entries[depth];
    if (behind - starts[entry] < WORTH_REMEMBERING) {
      remembered = entry; // what it holds is shorter still
    } else {
      ends[entry] = behind;
    }
  }

  private static void set(long[] bits, int at, boolean value) {
    long mask = 1L << (at & 63);
    bits[at >> 6] = value ? bits[at >> 6] | mask : bits[at >> 6] & ~mask;
  }

  private static boolean get(long[] bits, int at) {
    return (bits[at >> 6] & (1L << (at & 63))) != 0;
  }

  /** Reads {@code "name" :} and the blanks around it; returns where the value starts. */
  private int key(int from) {
    if (peek(from) != '"') {
      throw MalformedBody.notJson("expected a field name", from);
    }
    int i = skipBlank(skipString(from));
    return skipBlank(expect(i, ':'));
  }

  /** Skips a number or a literal. */
  int skipScalar(int from) {
    int b = peek(from);
    return switch (b) {
      case 't' -> literal(from, "true");
      case 'f' -> literal(from, "false");
      case 'n' -> literal(from, "null");
      case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9' -> skipNumber(from);
      case -1 -> throw MalformedBody.notJson("it ends too early", from);
      default -> throw MalformedBody.notJson("unexpected character", from);
    };
  }

  private int literal(int from, String word) {
    for (int k = 0; k < word.length(); k++) {
      if (peek(from + k) != word.charAt(k)) {
        throw MalformedBody.notJson("unexpected character", from + k);
      }
    }
    return from + word.length();
  }

  private int skipNumber(int from) {
    int i = from;
    if (peek(i) == '-') {
      i++;
    }
    if (peek(i) == '0') {
      i++;
    } else {
      i = digits(i);
    }
    if (peek(i) == '.') {
      i = digits(i + 1);
    }
    int b = peek(i);
    if (b == 'e' || b == 'E') {
      i++;
      b = peek(i);
      if (b == '+' || b == '-') {
        i++;
      }
      i = digits(i);
    }
    if (i - from > MAX_NUMBER_BYTES) {
      throw MalformedBody.notJson(
          "a number of more than " + MAX_NUMBER_BYTES + " characters", from);
    }
    return i;
  }

  private int digits(int from) {
    int i = from;
    while (i < end && json[i] >= '0' && json[i] <= '9') {
      i++;
    }
    if (i == from) {
      throw MalformedBody.notJson("expected a digit", from);
    }
    return i;
  }

  /**
   * Skips a string, its quotes included. Eight plain ASCII bytes are one step, so that a megabyte
   * of prompt costs about as much as reading it.
   */
  int skipString(int from) {
    int i = from + 1;
    while (true) {
      i = plainRun(i);
      int b = peek(i);
      if (b == '"') {
        return i + 1;
      }
      if (b == '\\') {
        backslash = true;
        i = i + 1 < end && EscapedText.isLetter(json[i + 1]) ? i + 2 : skipUnicodeEscape(i);
      } else if (b >= 0x80) {
        i = multiByteRun(i);
      } else if (b < 0) {
        throw MalformedBody.notJson("a string that does not end", from);
      } else {
        throw MalformedBody.notJson("a control character in a string", i);
      }
    }
  }

  /** Skips characters of several bytes. */
  private int multiByteRun(int from) {
    int i = from;
    int last = end - Integer.BYTES;
    while (i <= last && json[i] < 0) {
      int w = (int) INTS.get(json, i);
      int lead = w & 0xFF;
      if ((w & THREE_MASK) == THREE && lead != 0xE0 && lead != 0xED) {
        i += 3;
      } else if ((w & TWO_MASK) == TWO && lead >= 0xC2) {
        i += 2;
      } else {
        i = skipMultiByte(i);
      }
    }
    while (i < end && json[i] < 0) {
      i = skipMultiByte(i);
    }
    return i;
  }

  /** First position from {@code i} that isn't plain ASCII text, or the end. */
  int plainRun(int from) {
    int i = from;
    int last = end - Long.BYTES;
    while (i <= last) {
      long w = (long) LONGS.get(json, i);
      long quote = w ^ QUOTES;
      long backslash = w ^ BACKSLASHES;
      // High bit of each byte that is below 0x20, a quote, a backslash or not ASCII. A borrow sets
      // wrong bits only above a true one, and only the lowest is used.
      long hit =
          (((w - BLANKS) & ~w) | ((quote - ONES) & ~quote) | ((backslash - ONES) & ~backslash) | w)
              & HIGHS;
      if (hit != 0) {
        return i + (Long.numberOfTrailingZeros(hit) >>> 3);
      }
      i += Long.BYTES;
    }
    while (i < end) {
      int b = json[i];
      if (b < 0x20 || b == '"' || b == '\\') { // negative bytes are not ASCII
        return i;
      }
      i++;
    }
    return i;
  }

  private int skipUnicodeEscape(int at) {
    if (peek(at + 1) != 'u') {
      throw MalformedBody.notJson("an unknown escape", at);
    }
    int unit = hex4(at + 2);
    if (unit >= 0xDC00 && unit <= 0xDFFF) {
      throw loneSurrogate(at);
    }
    if (unit >= 0xD800 && unit <= 0xDBFF) {
      if (peek(at + 6) != '\\' || peek(at + 7) != 'u') {
        throw loneSurrogate(at);
      }
      int low = hex4(at + 8);
      if (low < 0xDC00 || low > 0xDFFF) {
        throw loneSurrogate(at);
      }
      return at + 12;
    }
    return at + 6;
  }

  private static MalformedBody loneSurrogate(int at) {
    return new MalformedBody(
        "invalid_unicode", "The body holds half of a surrogate pair at byte " + at + ".", null);
  }

  /** Value of four hex digits. */
  int hex4(int at) {
    if (at + 4 > end) {
      throw MalformedBody.notJson("a string that does not end", at);
    }
    int value = EscapedText.hex4(json, at);
    if (value < 0) {
      throw MalformedBody.notJson("expected a hex digit", EscapedText.notHex(json, at));
    }
    return value;
  }

  /** One UTF-8 sequence of two to four bytes; table 3-7 of the Unicode standard. */
  private int skipMultiByte(int at) {
    int lead = json[at] & 0xFF;
    int second = peek(at + 1);
    boolean ok;
    int length;
    if (lead >= 0xC2 && lead <= 0xDF) {
      length = 2;
      ok = continuation(second);
    } else if (lead >= 0xE0 && lead <= 0xEF) {
      length = 3;
      ok =
          continuation(second)
              && (lead != 0xE0 || second >= 0xA0)
              && (lead != 0xED || second <= 0x9F)
              && continuation(peek(at + 2));
    } else if (lead >= 0xF0 && lead <= 0xF4) {
      length = 4;
      ok =
          continuation(second)
              && (lead != 0xF0 || second >= 0x90)
              && (lead != 0xF4 || second <= 0x8F)
              && continuation(peek(at + 2))
              && continuation(peek(at + 3));
    } else {
      length = 1;
      ok = false;
    }
    if (!ok) {
      throw new MalformedBody(
          "invalid_unicode", "The body is not valid UTF-8 at byte " + at + ".", null);
    }
    return at + length;
  }

  private static boolean continuation(int b) {
    return (b & 0xC0) == 0x80 && b >= 0;
  }

  /**
   * Whether the string at {@code from} (its opening quote) has exactly this ASCII text, unescaped.
   */
  boolean stringIs(int from, String text) {
    int start = from + 1;
    int length = text.length();
    if (start + length >= end || json[start + length] != '"') {
      return false;
    }
    for (int k = 0; k < length; k++) {
      if (json[start + k] != text.charAt(k)) {
        return false;
      }
    }
    return true;
  }

  /**
   * The decoded string at {@code from} (its opening quote) up to {@code to}, behind the closing
   * quote.
   */
  String string(int from, int to) {
    int i = from + 1;
    int close = to - 1;
    int run = plainRun(i);
    if (run >= close) {
      return new String(json, i, close - i, StandardCharsets.ISO_8859_1);
    }
    return escaped.string(i, close);
  }
}
