package dev.warmpath.extproc.label;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** National ids by how many digits they have, as most numbers of a text have as many as none. */
final class NationalIds {
  private static final Written[] NONE = {};

  /** An id in one of the ways in which it is written. */
  record Written(NationalId id, NationalId.Shape shape) {}

  private final Written[][] byDigits;

  NationalIds(List<NationalId> ids) {
    List<List<Written>> sorted = new ArrayList<>();
    for (NationalId id : ids) {
      for (NationalId.Shape shape : id.parsed()) {
        int digits = Arrays.stream(shape.groups()).sum();
        while (sorted.size() <= digits) {
          sorted.add(new ArrayList<>());
        }
        sorted.get(digits).add(new Written(id, shape));
      }
    }
    byDigits = sorted.stream().map(list -> list.toArray(NONE)).toArray(Written[][]::new);
  }

  Written[] withDigits(int digits) {
    return digits < byDigits.length ? byDigits[digits] : NONE;
  }
}
