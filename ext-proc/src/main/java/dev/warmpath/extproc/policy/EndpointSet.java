package dev.warmpath.extproc.policy;

/** An immutable set of indices into a {@link ClusterState.PoolState}. */
public final class EndpointSet {
  static final EndpointSet EMPTY = new EndpointSet(new long[0]);

  private final long[] words;

  private EndpointSet(long[] words) {
    this.words = words;
  }

  /** Takes the array over. */
  static EndpointSet of(long[] words) {
    return new EndpointSet(words);
  }

  public boolean contains(int index) {
    int word = index >> 6;
    return word < words.length && (words[word] & (1L << index)) != 0;
  }

  public boolean isEmpty() {
    for (long word : words) {
      if (word != 0) {
        return false;
      }
    }
    return true;
  }

  public int size() {
    int size = 0;
    for (long word : words) {
      size += Long.bitCount(word);
    }
    return size;
  }

  /** The smallest member that is at least {@code from}, or -1. */
  public int next(int from) {
    int word = from >> 6;
    if (word >= words.length) {
      return -1;
    }
    long bits = words[word] & (-1L << from);
    while (bits == 0) {
      if (++word == words.length) {
        return -1;
      }
      bits = words[word];
    }
    return (word << 6) + Long.numberOfTrailingZeros(bits);
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder("{");
    for (int i = next(0); i >= 0; i = next(i + 1)) {
      text.append(text.length() == 1 ? "" : ", ").append(i);
    }
    return text.append('}').toString();
  }
}
