package dev.warmpath.extproc.stream;

import dev.warmpath.extproc.inflight.InFlightRequest.Outcome;

/** Outcome that a status code stands for. */
final class Outcomes {
  private Outcomes() {}

  /** 429, 503 and 529 say "not now, elsewhere perhaps". */
  static boolean isFull(int status) {
    return status == 429 || status == 503 || status == 529;
  }

  static Outcome ofStatus(int status) {
    if (isFull(status)) {
      return Outcome.UPSTREAM_FULL;
    }
    return status >= 400 ? Outcome.UPSTREAM_ERROR : Outcome.COMPLETED;
  }
}
