package dev.warmpath.simulator.text;

import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * A tokenizer without a vocabulary file: text is cut into words with their leading space, numbers,
 * runs of blanks and single signs, pieces longer than six characters are cut again, and an id is a
 * hash of the piece. English comes out near four bytes per token. Cuts depend only on what stands
 * before them, so texts that share a prefix share its tokens except perhaps the last.
 *
 * <p>Two pieces may have one id; this costs a look-alike nothing. Thread-safe.
 */
public final class Tokenizer {
  /** Ids from here on are special. */
  public static final int VOCABULARY = 151_643;

  public static final int MESSAGE_START = 151_644;
  public static final int MESSAGE_END = 151_645;
  public static final int IMAGE = 151_655;

  private static final int LONGEST_PIECE = 6;
  private static final int BLANK = 0;
  private static final int LETTER = 1;
  private static final int DIGIT = 2;
  private static final int SIGN = 3;
  private static final byte[] ASCII_KIND = asciiKinds();

  /** The last piece that was seen for each id, for turning ids back into text. */
  private final AtomicReferenceArray<String> pieces = new AtomicReferenceArray<>(VOCABULARY);

  /** Appends the tokens of {@code text}. */
  public void encode(String text, TokenBuffer into) {
    int end = text.length();
    int at = 0;
    while (at < end) {
      int next = pieceEnd(text, at);
      int hash = 0;
      for (int i = at; i < next; i++) {
        hash = hash * 31 + text.charAt(i);
      }
      int id = id(hash);
      into.add(id);
      if (pieces.getPlain(id) == null) {
        pieces.setPlain(id, text.substring(at, next));
      }
      at = next;
    }
  }

  /** Where the token ends that starts at {@code start}. */
  public int pieceEnd(String text, int start) {
    int end = text.length();
    int at = start;
    int kind = kind(text.charAt(at));
    if (text.charAt(at) == ' ' && at + 1 < end && kind(text.charAt(at + 1)) == LETTER) {
      at++;
      kind = LETTER;
    }
    int longest = kind == DIGIT ? 3 : kind == SIGN ? 1 : LONGEST_PIECE;
    int limit = Math.min(end, start + longest);
    while (at < limit && kind(text.charAt(at)) == kind) {
      at++;
    }
    return Character.isHighSurrogate(text.charAt(at - 1)) && at < end ? at + 1 : at;
  }

  /** The text of one token. */
  public String piece(int id) {
    if (id >= 0 && id < VOCABULARY) {
      String piece = pieces.get(id);
      return piece == null ? " w" + id : piece;
    }
    return switch (id) {
      case MESSAGE_START -> "<|im_start|>";
      case MESSAGE_END -> "<|im_end|>";
      default -> "<|" + id + "|>";
    };
  }

  /** The text of some tokens; of ids that were never produced, a made-up word. */
  public String decode(int[] ids) {
    StringBuilder text = new StringBuilder();
    for (int id : ids) {
      text.append(piece(id));
    }
    return text.toString();
  }

  /** Tokens of a text of which only the size matters. */
  public static int estimate(long bytes) {
    return Math.clamp(bytes / 4, 1, Integer.MAX_VALUE);
  }

  private static int id(int hash) {
    int mixed = hash * 0x9E3779B1;
    mixed ^= mixed >>> 15;
    mixed *= 0x85EBCA77;
    mixed ^= mixed >>> 13;
    return (int) (((mixed & 0xFFFFFFFFL) * VOCABULARY) >>> 32);
  }

  private static int kind(char c) {
    if (c < 128) {
      return ASCII_KIND[c];
    }
    if (Character.isLetter(c) || Character.isSurrogate(c)) {
      return LETTER;
    }
    return Character.isDigit(c) ? DIGIT : Character.isWhitespace(c) ? BLANK : SIGN;
  }

  private static byte[] asciiKinds() {
    byte[] kinds = new byte[128];
    for (char c = 0; c < 128; c++) {
      kinds[c] =
          (byte)
              (Character.isLetter(c)
                  ? LETTER
                  : Character.isDigit(c) ? DIGIT : Character.isWhitespace(c) ? BLANK : SIGN);
    }
    return kinds;
  }
}
