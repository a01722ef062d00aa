package dev.warmpath.extproc.stream;

import dev.warmpath.extproc.inflight.InFlightRequest;
import dev.warmpath.extproc.response.FirstEvent;
import dev.warmpath.extproc.response.FirstEventScanner;
import java.nio.ByteBuffer;

/** Turns the begin of an event stream into an event of its request. */
final class FirstTokens {
  private FirstTokens() {}

  /** Returns whether nothing more needs to be read. */
  static boolean observe(
      FirstEventScanner scanner, byte[] chunk, InFlightRequest request, long nowNanos) {
    return switch (scanner.feed(ByteBuffer.wrap(chunk))) {
      case FirstEvent.Undecided ignored -> false;
      case FirstEvent.Token ignored -> {
        request.firstToken(nowNanos);
        yield true;
      }
      case FirstEvent.Ended ignored -> true;
      case FirstEvent.Failed failed -> {
        // The stream holds nothing but this error, so the request is over for its worker.
        request.ended(Outcomes.ofStatus(failed.code()), nowNanos);
        yield true;
      }
    };
  }
}
