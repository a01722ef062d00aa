package dev.warmpath.extproc.stream;

import java.security.SecureRandom;
import java.util.Arrays;
import java.util.function.Supplier;

/**
 * Ids of decisions: 128 random bits as 26 characters of base 32. Unguessable, because an id is all
 * that is needed to ask for a decision's explanation. Thread-safe.
 */
public final class DecisionIds implements Supplier<String> {
  private static final char[] ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz".toCharArray();
  private static final int ID_LENGTH = 26;
  private static final int ID_BYTES = 16;
  private static final int IDS_PER_FILL = 64;

  private final SecureRandom random;
  private final byte[] pool = new byte[ID_BYTES * IDS_PER_FILL];
  private int used = pool.length;

  public DecisionIds(SecureRandom random) {
    this.random = random;
  }

  /** Whether that could be one: a text of another form never was. */
  public static boolean isId(String text) {
    if (text.length() != ID_LENGTH) {
      return false;
    }
    for (int i = 0; i < ID_LENGTH; i++) {
      if (Arrays.binarySearch(ALPHABET, text.charAt(i)) < 0) {
        return false;
      }
    }
    return true;
  }

  @Override
  public String get() {
    long high;
    long low;
    synchronized (this) {
      if (used == pool.length) {
        random.nextBytes(pool);
        used = 0;
      }
      high = readLong(used);
      low = readLong(used + Long.BYTES);
      used += ID_BYTES;
    }
    char[] id = new char[ID_LENGTH];
    for (int i = ID_LENGTH - 1; i >= 0; i--) {
      id[i] = ALPHABET[(int) (low & 31)];
      low = (low >>> 5) | (high << 59);
      high >>>= 5;
    }
    return new String(id);
  }

  private long readLong(int offset) {
    long value = 0;
    for (int i = 0; i < Long.BYTES; i++) {
      value = (value << 8) | (pool[offset + i] & 0xff);
    }
    return value;
  }
}
