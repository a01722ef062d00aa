package dev.warmpath.extproc.stream;

import dev.warmpath.extproc.route.ApiError;
import dev.warmpath.extproc.route.RequestHead;
import dev.warmpath.extproc.wire.RequestHeads;

/** Errors that the protocol itself gives rise to. */
final class GatewayErrors {
  private static final int SOON_SECONDS = 1;

  private GatewayErrors() {}

  static ApiError bufferFull(RequestHead head) {
    return error(
        head,
        503,
        "buffer_full",
        "The gateway holds as many request bytes as it may. Retry shortly.",
        SOON_SECONDS,
        true);
  }

  static ApiError tooLarge(RequestHead head, long maxBytes) {
    return error(
        head,
        413,
        "request_too_large",
        "The request body is larger than the limit of " + maxBytes + " bytes.",
        0,
        false);
  }

  static ApiError overloaded(RequestHead head) {
    return error(
        head,
        503,
        "gateway_overloaded",
        "More requests wait for a decision than the gateway can take. Retry shortly.",
        SOON_SECONDS,
        true);
  }

  /** The cause is in the log, under the decision's id. */
  static ApiError internal(RequestHead head) {
    return error(
        head,
        503,
        "gateway_internal",
        "The gateway failed to decide this request. Retry shortly.",
        SOON_SECONDS,
        true);
  }

  static ApiError unsupportedBodyMode(RequestHead head) {
    return error(
        head,
        503,
        "unsupported_body_mode",
        "The data plane sends request bodies in a mode in which no worker can be chosen; use"
            + " BUFFERED or FULL_DUPLEX_STREAMED.",
        0,
        false);
  }

  private static ApiError error(
      RequestHead head,
      int status,
      String code,
      String message,
      int retryAfterSeconds,
      boolean shouldRetry) {
    return new ApiError(
        RequestHeads.dialect(head.path()),
        status,
        code,
        message,
        null,
        retryAfterSeconds,
        shouldRetry);
  }
}
