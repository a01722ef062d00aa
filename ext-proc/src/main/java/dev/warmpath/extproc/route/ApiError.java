package dev.warmpath.extproc.route;

import dev.warmpath.extproc.request.Dialect;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An error as a client sees it, before it is written in the client's dialect.
 *
 * @param status HTTP status
 * @param code stable machine-readable code, snake case, listed in docs/errors.md
 * @param message what happened and what the caller can do about it
 * @param param the request field at fault, or null
 * @param retryAfterSeconds 1 to 5, or 0 for no header
 * @param shouldRetry false adds {@code x-should-retry: false}, which stops the vendor SDKs
 * @param headers what the status calls for besides, by lower-case name
 */
public record ApiError(
    Dialect dialect,
    int status,
    String code,
    String message,
    @Nullable String param,
    int retryAfterSeconds,
    boolean shouldRetry,
    Map<String, String> headers) {
  public ApiError {
    headers = Map.copyOf(headers);
  }

  /** An error whose status calls for no header of its own. */
  public ApiError(
      Dialect dialect,
      int status,
      String code,
      String message,
      @Nullable String param,
      int retryAfterSeconds,
      boolean shouldRetry) {
    this(dialect, status, code, message, param, retryAfterSeconds, shouldRetry, Map.of());
  }
}
