package dev.warmpath.extproc.route;

import dev.warmpath.extproc.candidate.ServedPool;
import dev.warmpath.extproc.request.Dialect;
import dev.warmpath.extproc.request.Operation;
import dev.warmpath.extproc.request.ParsedBody;
import dev.warmpath.extproc.tenant.Identification;
import dev.warmpath.extproc.tenant.Tenant;
import dev.warmpath.extproc.tenant.TenantLimits;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The errors that the gateway answers by itself; docs/errors.md lists their codes. */
final class Refusals {
  private static final int MAX_QUOTED_CHARS = 128;

  /** Paths for people: an SDK's other calls end here. */
  private static final String SERVED =
      Arrays.stream(Operation.values())
              .map(operation -> "POST " + operation.path())
              .collect(Collectors.joining(", "))
          + ", GET /v1/models";

  private Refusals() {}

  /** Who may call and what is served is not known yet, so nothing else can be said. */
  static ApiError notConfigured(Dialect dialect) {
    return new ApiError(
        dialect,
        503,
        "not_configured",
        "The gateway has no configuration yet; it has just been started. Retry shortly.",
        null,
        1,
        true);
  }

  static ApiError unknownPath(Dialect dialect) {
    return new ApiError(
        dialect,
        404,
        "unknown_path",
        "This gateway does not serve that path. It serves " + SERVED + ".",
        null,
        0,
        false);
  }

  static ApiError wrongMethod(Dialect dialect, String method, String wanted) {
    return new ApiError(
        dialect,
        405,
        "method_not_allowed",
        "Method " + shortened(method) + " is not allowed here; use " + wanted + ".",
        null,
        0,
        false,
        Map.of("allow", wanted));
  }

  /** A body that is no JSON, by what its head says of it. */
  static ApiError wrongMediaType(Dialect dialect, String mediaType) {
    return new ApiError(
        dialect,
        415,
        "unsupported_media_type",
        "The body has to be JSON with content-type application/json, not '"
            + shortened(mediaType)
            + "'. Files and forms are not taken here: put text, and images as URLs, into the JSON.",
        null,
        0,
        false);
  }

  /** A body that has to be unpacked first. */
  static ApiError wrongEncoding(Dialect dialect, String encoding) {
    return new ApiError(
        dialect,
        415,
        "unsupported_encoding",
        "The body comes with content-encoding '"
            + shortened(encoding)
            + "', which this gateway does not unpack. Send it uncompressed, without that header.",
        null,
        0,
        false,
        Map.of("accept-encoding", "identity"));
  }

  private static ApiError unauthorized(Dialect dialect, String reason) {
    return new ApiError(dialect, 401, "invalid_api_key", reason, null, 0, false);
  }

  private static ApiError forbidden(Dialect dialect, String reason) {
    return new ApiError(dialect, 403, "not_a_tenant", reason, null, 0, false);
  }

  /** The answer to somebody who is no tenant; null for a tenant. */
  static @Nullable ApiError refused(Dialect dialect, Identification who) {
    return switch (who) {
      case Identification.Identified tenant -> null;
      case Identification.Unauthorized unauthorized -> unauthorized(dialect, unauthorized.reason());
      case Identification.Forbidden forbidden -> forbidden(dialect, forbidden.reason());
    };
  }

  static ApiError malformed(Dialect dialect, ParsedBody.Malformed body) {
    return new ApiError(dialect, 400, body.code(), body.message(), body.param(), 0, false);
  }

  static ApiError unknownModel(Dialect dialect, String model) {
    return new ApiError(
        dialect,
        404,
        "model_not_found",
        "The model '" + shortened(model) + "' does not exist or is not open to you.",
        "model",
        0,
        false);
  }

  static ApiError noCandidate(
      Dialect dialect, int status, String code, String message, int retryAfterSeconds) {
    return new ApiError(
        dialect, status, code, message, null, retryAfterSeconds, retryAfterSeconds > 0);
  }

  static ApiError policyUnavailable(Dialect dialect, String message) {
    return new ApiError(dialect, 503, "policy_unavailable", message, null, 0, false);
  }

  static ApiError labelMissing(Dialect dialect) {
    return policyUnavailable(dialect, "A label that a policy needs is not there yet.");
  }

  static ApiError queueFull(Dialect dialect, int retryAfterSeconds) {
    return new ApiError(
        dialect,
        429,
        "queue_full",
        "Too many requests wait for this model already; try again later.",
        null,
        retryAfterSeconds,
        true);
  }

  static ApiError limited(Dialect dialect, Tenant tenant, TenantLimits.Reached reached) {
    return new ApiError(
        dialect,
        429,
        "rate_limited",
        "Tenant '" + tenant.name() + "' " + reached.what() + "; try again later.",
        null,
        reached.retryAfterSeconds(),
        true);
  }

  /**
   * Whatever might take it has its limit.
   *
   * @param tiers what was left to choose from
   */
  static ApiError saturated(Dialect dialect, List<List<Target>> tiers, int retryAfterSeconds) {
    Set<String> full = new LinkedHashSet<>();
    tiers.forEach(tier -> tier.forEach(target -> full.add(limit(target))));
    full.remove("");
    return saturated(
        dialect,
        full.isEmpty()
            ? "Every worker of this model has its limit of queued prompts."
            : "Everything that may take this request is at its limit: "
                + String.join("; ", full)
                + ".",
        retryAfterSeconds);
  }

  /** Others came before it and wait still. */
  static ApiError behindOthers(Dialect dialect, int retryAfterSeconds) {
    return saturated(
        dialect,
        "Requests that came before this one still wait for a worker of this model.",
        retryAfterSeconds);
  }

  private static ApiError saturated(Dialect dialect, String message, int retryAfterSeconds) {
    return new ApiError(dialect, 429, "workers_saturated", message, null, retryAfterSeconds, true);
  }

  /** Counts and the backend's name alone: workers are the operator's business. */
  private static String limit(Target target) {
    ServedPool pool = target.pool();
    if (pool != null) {
      int limit = pool.spec().limits().maxQueuedPromptsPerWorker();
      int workers = (int) IntStream.range(0, pool.workers().size()).filter(target.usable()).count();
      return limit <= 0 || workers == 0
          ? ""
          : (workers == 1
                  ? "the worker of '" + target.backend() + "' that may take it has "
                  : "each of the "
                      + workers
                      + " workers of '"
                      + target.backend()
                      + "' that may take it has ")
              + counted(limit, "prompt")
              + " queued";
    }
    int limit = target.provider() == null ? 0 : target.provider().spec().limits().concurrency();
    return limit <= 0
        ? ""
        : "'" + target.backend() + "' has " + counted(limit, "request") + " at one time";
  }

  private static String counted(int count, String what) {
    return count + " " + what + (count == 1 ? "" : "s");
  }

  /** Its candidates went away between the plan and the choice. */
  static ApiError noWorker(Dialect dialect, String model) {
    return new ApiError(
        dialect,
        503,
        "no_capacity",
        "The workers of model '"
            + shortened(model)
            + "' changed while this request was decided, and none of those left is ready. Retry"
            + " shortly.",
        null,
        2,
        true);
  }

  /** Client text in a message: bounded, so that a 50 MB name does not come back. */
  private static String shortened(String text) {
    return text.length() <= MAX_QUOTED_CHARS ? text : text.substring(0, MAX_QUOTED_CHARS) + "…";
  }
}
