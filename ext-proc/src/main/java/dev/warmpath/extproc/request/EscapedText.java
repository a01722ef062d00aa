package dev.warmpath.extproc.request;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Decodes the content of JSON strings that {@link JsonScanner} has checked, by words. */
final class EscapedText {
  /** Bytes that {@link #decode} may write beyond what it has decoded. */
  static final int SLACK = 16;

  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long ONES = 0x0101010101010101L;
  private static final long HIGHS = 0x8080808080808080L;
  private static final long BACKSLASHES = ONES * '\\';

  /** What a one-letter escape stands for; 0 where there is none. */
  private static final byte[] ESCAPES = new byte[256];

  /** Value of a hex digit; -1 where it is none. */
  private static final byte[] HEX = new byte[256];

  static {
    for (int i = 0; i < HEX.length; i++) {
      HEX[i] = (byte) (i < 0x80 ? Character.digit(i, 16) : -1);
    }
    String letters = "\"\\/bfnrt";
    String meanings = "\"\\/\b\f\n\r\t";
    for (int i = 0; i < letters.length(); i++) {
      ESCAPES[letters.charAt(i)] = (byte) meanings.charAt(i);
    }
  }

  private final byte[] json;

  /** Where the last {@link #decode} stopped. */
  int decodedTo;

  EscapedText(byte[] json) {
    this.json = json;
  }

  /** Whether that byte behind a backslash makes an escape of two bytes. */
  static boolean isLetter(byte b) {
    return ESCAPES[b & 0xFF] != 0;
  }

  /** Value of four hex digits; negative if they are none. */
  static int hex4(byte[] json, int at) {
    return (HEX[json[at] & 0xFF] << 12)
        | (HEX[json[at + 1] & 0xFF] << 8)
        | (HEX[json[at + 2] & 0xFF] << 4)
        | HEX[json[at + 3] & 0xFF];
  }

  /** The first position from {@code at} on that is no hex digit; there must be one. */
  static int notHex(byte[] json, int at) {
    int k = at;
    while (HEX[json[k] & 0xFF] >= 0) {
      k++;
    }
    return k;
  }

  /** All of it. */
  byte[] bytes(int from, int to) {
    byte[] out = new byte[to - from + SLACK];
    return Arrays.copyOf(out, decode(from, to, out, 0));
  }

  String string(int from, int to) {
    byte[] out = new byte[to - from + SLACK];
    return new String(out, 0, decode(from, to, out, 0), StandardCharsets.UTF_8);
  }

  /**
   * Decodes checked string content into {@code out} from {@code length} on, until all of it is
   * decoded or {@code out} has no more than {@link #SLACK} bytes of room. Where it stopped is in
   * {@link #decodedTo}.
   *
   * @return the new length of {@code out}
   */
  int decode(int from, int to, byte[] out, int length) {
    int n = length;
    int i = from;
    int room = out.length - SLACK;
    int lastWord = to - Long.BYTES;
    while (i < to && n <= room) {
      if (i <= lastWord) {
        long w = (long) LONGS.get(json, i);
        LONGS.set(out, n, w); // what is behind the run is overwritten by the next
        long slash = w ^ BACKSLASHES;
        long hit = (slash - ONES) & ~slash & HIGHS;
        if (hit == 0) {
          i += Long.BYTES;
          n += Long.BYTES;
          continue;
        }
        int run = Long.numberOfTrailingZeros(hit) >>> 3;
        i += run;
        n += run;
      } else if (json[i] != '\\') {
        out[n++] = json[i++];
        continue;
      }
      byte simple = ESCAPES[json[i + 1] & 0xFF];
      if (simple != 0) {
        out[n++] = simple;
        i += 2;
      } else {
        n = decodeUnicodeEscape(i, out, n);
        i += escapeLength(i);
      }
    }
    decodedTo = i;
    return n;
  }

  /** Bytes of the escape at a backslash: 6, or 12 for a surrogate pair. */
  private int escapeLength(int at) {
    int unit = hex4(json, at + 2);
    return unit >= 0xD800 && unit <= 0xDBFF ? 12 : 6;
  }

  /** Writes the UTF-8 form of the escape at a backslash; returns the new length of {@code out}. */
  private int decodeUnicodeEscape(int at, byte[] out, int length) {
    int n = length;
    int unit = hex4(json, at + 2);
    int point =
        unit >= 0xD800 && unit <= 0xDBFF
            ? Character.toCodePoint((char) unit, (char) hex4(json, at + 8))
            : unit;
    if (point < 0x80) {
      out[n++] = (byte) point;
    } else if (point < 0x800) {
      out[n++] = (byte) (0xC0 | (point >> 6));
      out[n++] = (byte) (0x80 | (point & 0x3F));
    } else if (point < 0x10000) {
      out[n++] = (byte) (0xE0 | (point >> 12));
      out[n++] = (byte) (0x80 | ((point >> 6) & 0x3F));
      out[n++] = (byte) (0x80 | (point & 0x3F));
    } else {
      out[n++] = (byte) (0xF0 | (point >> 18));
      out[n++] = (byte) (0x80 | ((point >> 12) & 0x3F));
      out[n++] = (byte) (0x80 | ((point >> 6) & 0x3F));
      out[n++] = (byte) (0x80 | (point & 0x3F));
    }
    return n;
  }
}
