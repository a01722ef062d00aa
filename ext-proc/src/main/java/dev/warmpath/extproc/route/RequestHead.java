package dev.warmpath.extproc.route;

import dev.warmpath.extproc.tenant.VerifiedIdentity;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The request headers that a decision may look at.
 *
 * @param decisionId id of the decision to come, given when the headers arrive, so that even an
 *     aborted upload can be explained; unique, unguessable, at most 26 characters of [0-9a-z]
 * @param requestId Envoy's {@code x-request-id}
 * @param method upper case
 * @param path percent-encoding kept, query removed
 * @param query what stood behind '?', without it; empty if none
 * @param headers lower-case names; holds credentials, so never logged
 * @param arrivalNanos when the headers reached the processor, on the injected nanosecond clock
 * @param identity what Envoy has verified about the caller (token claims, trusted mesh identity)
 * @param route the operator's route that it came by, whose prefix {@code path} no longer has; null
 *     for the API's own paths
 */
public record RequestHead(
    String decisionId,
    String requestId,
    String method,
    String path,
    String query,
    Map<String, String> headers,
    long arrivalNanos,
    VerifiedIdentity identity,
    @Nullable OperatorRoute route) {

  /** A head as it arrives. */
  public RequestHead(
      String decisionId,
      String requestId,
      String method,
      String path,
      String query,
      Map<String, String> headers,
      long arrivalNanos,
      VerifiedIdentity identity) {
    this(decisionId, requestId, method, path, query, headers, arrivalNanos, identity, null);
  }

  /** A head of which Envoy has verified nothing. */
  public RequestHead(
      String decisionId,
      String requestId,
      String method,
      String path,
      String query,
      Map<String, String> headers,
      long arrivalNanos) {
    this(decisionId, requestId, method, path, query, headers, arrivalNanos, VerifiedIdentity.NONE);
  }

  /** The same, by that route. */
  RequestHead via(OperatorRoute by) {
    return new RequestHead(
        decisionId,
        requestId,
        method,
        by.stripped(path),
        query,
        headers,
        arrivalNanos,
        identity,
        by);
  }

  /** Labels that the route gives; none without a route. */
  public Map<String, String> routeLabels() {
    return route == null ? Map.of() : route.labels();
  }
}
