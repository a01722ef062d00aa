package dev.warmpath.simulator.text;

import java.util.Arrays;

/** A growing array of token ids. */
public final class TokenBuffer {
  private int[] ids = new int[256];
  private int size;

  public void add(int id) {
    if (size == ids.length) {
      ids = Arrays.copyOf(ids, size * 2);
    }
    ids[size++] = id;
  }

  public int size() {
    return size;
  }

  public int get(int index) {
    return ids[index];
  }

  /** The backing array, valid up to {@link #size()}. */
  public int[] array() {
    return ids;
  }

  public int[] toArray() {
    return Arrays.copyOf(ids, size);
  }
}
