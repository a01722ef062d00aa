package dev.warmpath.extproc.request;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import net.openhft.hashing.LongHashFunction;

/**
 * Takes the canonical prompt as a stream of bytes and chains the hashes of its blocks.
 *
 * <p>{@code h[i] = mix(h[i-1] * P + xx3(block[i]))}, 64 bits. A false match needs two equal 64-bit
 * values among the few million blocks that an index holds: once in about a million years of
 * traffic, and then it costs one wrong prediction.
 *
 * <p>Structure is written with byte values that UTF-8 never uses (0xF8 to 0xFF), so that no text
 * can imitate it.
 */
final class PromptHasher {
  static final byte OPTION = (byte) 0xF8;
  static final byte TOOL = (byte) 0xF9;
  static final byte MESSAGE = (byte) 0xFA;
  static final byte TEXT = (byte) 0xFB;
  static final byte MEDIA = (byte) 0xFC;
  static final byte CALL = (byte) 0xFD;
  static final byte REASONING = (byte) 0xFE;
  static final byte END = (byte) 0xFF;

  /**
   * An image of a megapixel is about a thousand tokens in current vision models; as canonical bytes
   * at four bytes a token it would be 4 kB, of which half is taken, because smaller ones are
   * common.
   */
  static final int MEDIA_BYTES = 2_048;

  private static final LongHashFunction XX3 = LongHashFunction.xx3();
  private static final int BLOCK = PromptFingerprint.BLOCK_BYTES;
  private static final long PRIME = 0x9E3779B97F4A7C15L;

  private final byte[] pending = new byte[BLOCK + EscapedText.SLACK];
  private int filled;
  private long size;
  private long last;
  private long[] chain;
  private int blocks;

  /**
   * @param saltHash hash of the cache salt, 0 if there is none
   * @param expectedBytes about how much will be written
   */
  PromptHasher(long saltHash, int expectedBytes) {
    last = mix(saltHash + PRIME);
    chain = new long[Math.max(4, expectedBytes / BLOCK + 2)];
  }

  static long hash(byte[] bytes, int from, int to) {
    return XX3.hashBytes(bytes, from, to - from);
  }

  /** Finaliser of MurmurHash3: every input bit reaches every output bit. */
  static long mix(long value) {
    long h = value;
    h = (h ^ (h >>> 33)) * 0xFF51AFD7ED558CCDL;
    h = (h ^ (h >>> 33)) * 0xC4CEB9FE1A85EC53L;
    return h ^ (h >>> 33);
  }

  void mark(byte marker) {
    pending[filled++] = marker;
    size++;
    if (filled == BLOCK) {
      close(pending, 0);
      filled = 0;
    }
  }

  void text(String ascii) {
    byte[] bytes = ascii.getBytes(StandardCharsets.UTF_8);
    bytes(bytes, 0, bytes.length);
  }

  void bytes(byte[] source, int from, int to) {
    int i = from;
    size += to - from;
    if (filled > 0) {
      int take = Math.min(BLOCK - filled, to - i);
      System.arraycopy(source, i, pending, filled, take);
      filled += take;
      i += take;
      if (filled < BLOCK) {
        return;
      }
      close(pending, 0);
      filled = 0;
    }
    while (to - i >= BLOCK) {
      close(source, i);
      i += BLOCK;
    }
    System.arraycopy(source, i, pending, 0, to - i);
    filled = to - i;
  }

  /** Content of a checked string that holds escapes, decoded block by block. */
  void decoded(EscapedText text, int from, int to) {
    int i = from;
    while (i < to) {
      int n = text.decode(i, to, pending, filled);
      i = text.decodedTo;
      size += n - filled;
      if (n >= BLOCK) {
        close(pending, 0);
        n -= BLOCK;
        System.arraycopy(pending, BLOCK, pending, 0, n);
      }
      filled = n;
    }
  }

  void word(long value, int bytes) {
    for (int k = 0; k < bytes; k++) {
      mark((byte) (value >>> (8 * k)));
    }
  }

  /** Stands for an image or a sound by the hash of its address or data. */
  void media(long hash) {
    mark(MEDIA);
    for (int written = 0; written < MEDIA_BYTES; written += Long.BYTES) {
      word(hash, Long.BYTES);
    }
  }

  private void close(byte[] source, int from) {
    last = mix(last * PRIME + XX3.hashBytes(source, from, BLOCK));
    if (blocks == chain.length) {
      chain = Arrays.copyOf(chain, blocks * 2);
    }
    chain[blocks++] = last;
  }

  PromptFingerprint finish() {
    return new PromptFingerprint(chain, blocks, size, BLOCK, false);
  }
}
