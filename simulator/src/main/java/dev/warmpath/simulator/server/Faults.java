package dev.warmpath.simulator.server;

import org.jspecify.annotations.Nullable;

/** Faults that strike the next so many requests for an answer. */
final class Faults {
  /** What can go wrong with one request. */
  enum Kind {
    STATUS,
    RESET_BEFORE_FIRST_BYTE,
    RESET_AFTER_FIRST_BYTE,
    IN_BAND_503
  }

  private @Nullable Kind kind;
  private int left;
  private int status;
  private int afterEvents;

  /** Arms a fault for the next {@code count} requests; below 0 means until cleared. */
  void arm(Kind kind, int count, int status, int afterEvents) {
    this.kind = kind;
    this.status = status;
    this.afterEvents = afterEvents;
    left = count;
  }

  void clear() {
    kind = null;
  }

  /** The fault that strikes this request, if any. */
  @Nullable Kind next() {
    if (kind == null || left == 0) {
      return null;
    }
    if (left > 0) {
      left--;
    }
    return kind;
  }

  int status() {
    return status;
  }

  /** Events that still go out before a reset. */
  int afterEvents() {
    return afterEvents;
  }
}
