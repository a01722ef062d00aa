package dev.warmpath.extproc.wire;

import static dev.warmpath.extproc.route.JsonText.quote;

import dev.warmpath.extproc.route.ApiError;

/** Error bodies in the two dialects that clients parse. */
final class ErrorBodies {
  private ErrorBodies() {}

  static String render(ApiError error, String requestId) {
    return switch (error.dialect()) {
      case OPENAI -> openAi(error);
      case ANTHROPIC -> anthropic(error, requestId);
    };
  }

  private static String openAi(ApiError error) {
    StringBuilder out = new StringBuilder(160 + error.message().length());
    out.append("{\"error\":{\"message\":");
    quote(out, error.message());
    out.append(",\"type\":");
    quote(out, openAiType(error.status()));
    out.append(",\"param\":");
    if (error.param() == null) {
      out.append("null");
    } else {
      quote(out, error.param());
    }
    out.append(",\"code\":");
    quote(out, error.code());
    return out.append("}}").toString();
  }

  private static String anthropic(ApiError error, String requestId) {
    StringBuilder out = new StringBuilder(160 + error.message().length());
    out.append("{\"type\":\"error\",\"error\":{\"type\":");
    quote(out, anthropicType(error.status()));
    out.append(",\"message\":");
    quote(out, error.message());
    out.append("},\"request_id\":");
    quote(out, requestId);
    return out.append('}').toString();
  }

  private static String openAiType(int status) {
    return switch (status) {
      case 401 -> "authentication_error";
      case 403 -> "permission_error";
      case 429 -> "rate_limit_error";
      default -> status < 500 ? "invalid_request_error" : "server_error";
    };
  }

  private static String anthropicType(int status) {
    return switch (status) {
      case 401 -> "authentication_error";
      case 402 -> "billing_error";
      case 403 -> "permission_error";
      case 404 -> "not_found_error";
      case 413 -> "request_too_large";
      case 429 -> "rate_limit_error";
      case 503, 529 -> "overloaded_error";
      case 504 -> "timeout_error";
      default -> status < 500 ? "invalid_request_error" : "api_error";
    };
  }
}
