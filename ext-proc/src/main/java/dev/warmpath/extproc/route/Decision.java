package dev.warmpath.extproc.route;

import dev.warmpath.extproc.inflight.InFlightRequest;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** What is to happen with a request. */
public sealed interface Decision {

  /**
   * Send it on.
   *
   * @param request owner of the lease; every later event of this request goes to it
   * @param destinations "ip:port" of the workers in order of preference, best first; empty where
   *     only providers follow
   * @param clusters Envoy clusters, one per attempt, in order; one entry means a plain cluster
   *     route
   * @param edits body edits, possibly none
   * @param stripUsageChunk the usage chunk was asked for by the gateway and must not reach the
   *     client
   */
  record Routed(
      InFlightRequest request,
      List<String> destinations,
      List<String> clusters,
      List<BodyEdit> edits,
      boolean stripUsageChunk)
      implements Decision {}

  /** The gateway answers by itself, for example the model list. */
  @SuppressWarnings("ArrayRecordComponent") // wire bytes; never compared or hashed
  record Answered(int status, String contentType, byte[] body) implements Decision {}

  /** Refused, in the client's dialect. */
  record Rejected(ApiError error) implements Decision {}

  /**
   * Not decided yet: the request waits in a queue, or for a label. The caller keeps it in Envoy
   * until {@code decision} completes; it completes normally, always, and never with another {@code
   * Deferred}.
   *
   * @param maxWaitNanos upper bound of the wait, for Envoy's message timeout
   * @param clientGone to be run when the client leaves; then {@code decision} completes with an
   *     arbitrary value that reaches nobody, and nothing stays reserved
   */
  record Deferred(CompletionStage<Decision> decision, long maxWaitNanos, Runnable clientGone)
      implements Decision {}
}
