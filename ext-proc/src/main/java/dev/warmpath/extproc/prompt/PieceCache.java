package dev.warmpath.extproc.prompt;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

/**
 * Tokens of pieces of text that came before: of the messages of a conversation all but the last
 * have been tokenised in the turn before. Bounded by memory. Thread-safe.
 */
final class PieceCache {
  /** Shorter pieces are tokenised sooner than they are looked up. */
  private static final int LEAST_CHARS = 256;

  private static final int ENTRY_BYTES = 128;

  private final Cache<String, int[]> known;

  PieceCache(long bytes) {
    known =
        Caffeine.newBuilder()
            .maximumWeight(bytes)
            .weigher((String text, int[] ids) ->
                ENTRY_BYTES + 2 * text.length() + Integer.BYTES * ids.length)
            .build();
  }

  /** Tokens of these pieces, one after the other. */
  int[] tokens(List<String> pieces, Function<String, int[]> tokenizer) {
    Ids all = new Ids();
    StringBuilder several = new StringBuilder();
    for (String piece : pieces) {
      if (piece.length() < LEAST_CHARS) {
        several.append(piece); // what stands between two known pieces is tokenised at once
        continue;
      }
      flush(several, all, tokenizer);
      int[] ids = known.getIfPresent(piece);
      if (ids == null) {
        ids = tokenizer.apply(piece);
        known.put(piece, ids);
      }
      all.add(ids);
    }
    flush(several, all, tokenizer);
    return all.toArray();
  }

  private static void flush(StringBuilder text, Ids all, Function<String, int[]> tokenizer) {
    if (!text.isEmpty()) {
      all.add(tokenizer.apply(text.toString()));
      text.setLength(0);
    }
  }

  /** Pieces that are remembered. */
  long size() {
    known.cleanUp();
    return known.estimatedSize();
  }

  private static final class Ids {
    private int[] ids = new int[1024];
    private int size;

    void add(int[] more) {
      if (size + more.length > ids.length) {
        ids = Arrays.copyOf(ids, Math.max(size + more.length, 2 * ids.length));
      }
      System.arraycopy(more, 0, ids, size, more.length);
      size += more.length;
    }

    int[] toArray() {
      return Arrays.copyOf(ids, size);
    }
  }
}
