package dev.warmpath.extproc.route;

import dev.warmpath.extproc.inflight.InFlightRequest;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

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
   * @param modelNames where a later cluster serves the model under another name; null where all are
   *     content with the body as edited
   */
  record Routed(
      InFlightRequest request,
      List<String> destinations,
      List<String> clusters,
      List<BodyEdit> edits,
      boolean stripUsageChunk,
      @Nullable ModelNames modelNames)
      implements Decision {

    public Routed(
        InFlightRequest request,
        List<String> destinations,
        List<String> clusters,
        List<BodyEdit> edits,
        boolean stripUsageChunk) {
      this(request, destinations, clusters, edits, stripUsageChunk, null);
    }
  }

  /**
   * The model's name in the body, for attempts at clusters that know it under another one.
   *
   * @param literalByCluster cluster to the JSON string literal, quotes included, that it wants
   * @param start first byte of the literal in the body after the edits
   * @param end first byte behind it
   */
  record ModelNames(Map<String, String> literalByCluster, int start, int end) {}

  /** The gateway answers by itself, for example the model list. */
  @SuppressWarnings("ArrayRecordComponent") // wire bytes; never compared or hashed
  record Answered(int status, String contentType, byte[] body) implements Decision {}

  /** Refused, in the client's dialect. */
  record Rejected(ApiError error) implements Decision {}

  /** The client left while its request waited: nothing was decided, and nobody is there to hear. */
  record ClientGone() implements Decision {}

  /**
   * Not decided yet: the request waits in a queue, or for a label. The caller keeps it in Envoy
   * until {@code decision} completes; it completes normally, always, and never with another {@code
   * Deferred}.
   *
   * @param maxWaitNanos upper bound of the wait, for Envoy's message timeout
   * @param clientGone to be run when the client leaves; then {@code decision} completes with {@link
   *     ClientGone} if nothing has been decided, and nothing stays reserved
   */
  record Deferred(CompletionStage<Decision> decision, long maxWaitNanos, Runnable clientGone)
      implements Decision {}
}
