package dev.warmpath.extproc.route;

import dev.warmpath.extproc.request.Dialect;
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
 */
public record ApiError(
    Dialect dialect,
    int status,
    String code,
    String message,
    @Nullable String param,
    int retryAfterSeconds,
    boolean shouldRetry) {}
