package dev.warmpath.extproc.inflight;

import org.jspecify.annotations.Nullable;

/**
 * A decided request until its end. Every method is idempotent, may be called from any thread and in
 * any order, and never blocks: events come from the watching stream, the access log and the
 * deciding stream, each of which may be missing, late or repeated. After {@link #ended} everything
 * is ignored.
 */
public interface InFlightRequest {

  /** The id that the request's head carried. */
  String decisionId();

  /**
   * Envoy connected the request to a worker or provider; moves the lease if it isn't the one it was
   * reserved on.
   *
   * @param upstreamAddress "ip:port"
   */
  void attempted(String upstreamAddress, int attempt);

  /**
   * The first body byte that holds a token. Not called for a stream whose first event is an error.
   *
   * @param atNanos on the injected nanosecond clock
   */
  void firstToken(long atNanos);

  /** Token counts as the upstream reported them; later calls replace the fields that they carry. */
  void usage(Usage usage);

  /** Terminal. Releases the lease; the first call wins. */
  void ended(Outcome outcome, long atNanos);

  /**
   * Token counts; null where the upstream did not say. {@code cachedTokens} null means unknown, not
   * zero.
   */
  record Usage(
      @Nullable Integer promptTokens,
      @Nullable Integer cachedTokens,
      @Nullable Integer completionTokens) {}

  /** How a request ended. */
  enum Outcome {
    /** Everything was relayed; also where the client closed right after the last event. */
    COMPLETED,
    /** The client went away before the end. */
    CLIENT_GONE,
    /** The upstream answered with an error status, or with an error event. */
    UPSTREAM_ERROR,
    /** The upstream's stream broke after it began. */
    UPSTREAM_RESET,
    /** Envoy answered by itself: no upstream could be reached. */
    NO_UPSTREAM,
    /** The worker said that it is full (503, or the in-band form under HTTP 200). */
    UPSTREAM_FULL,
    /** The processor lost track of it (restart of Envoy, reconciliation). */
    LOST
  }
}
