package dev.warmpath.extproc.stream;

import dev.warmpath.extproc.inflight.InFlightRequest;
import dev.warmpath.extproc.response.FirstEventScanner;
import dev.warmpath.extproc.route.RequestHead;
import dev.warmpath.extproc.wire.BodyMode;
import org.jspecify.annotations.Nullable;

/**
 * Where a deciding stream stands.
 *
 * <pre>
 *   AwaitingHeaders --> ReadingBody --> Deciding --> Finished           our own Envoy: half-closed
 *         |                  |              |
 *         |                  |              +------> Following --> Finished   another data plane
 *         +------------------+--------------------> Finished            refused, or client gone
 * </pre>
 */
sealed interface DecideState {

  record AwaitingHeaders() implements DecideState {}

  record ReadingBody(RequestHead head, BodyMode mode, Upload upload) implements DecideState {}

  /**
   * A decision is being made.
   *
   * @param question what the decision will answer
   * @param clientGone what stops a deferred decision; null while none is deferred
   */
  record Deciding(Question question, @Nullable Runnable clientGone) implements DecideState {}

  /**
   * The request is on its way and the stream stays open until it ends, because this data plane may
   * have no access log for us.
   *
   * @param scanner looks for the first token; null where the body isn't an event stream or the
   *     token was seen
   * @param responseBody whether response body messages are to be expected
   */
  record Following(
      InFlightRequest request, @Nullable FirstEventScanner scanner, boolean responseBody)
      implements DecideState {}

  record Finished() implements DecideState {}

  /**
   * The message or messages that wait for the decision.
   *
   * @param headersOnly the header message is the one that waits; the body does not matter
   * @param trailers a trailers message ended the body
   */
  record Question(
      RequestHead head, BodyMode mode, Upload upload, boolean headersOnly, boolean trailers) {}
}
