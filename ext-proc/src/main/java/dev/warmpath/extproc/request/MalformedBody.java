package dev.warmpath.extproc.request;

import org.jspecify.annotations.Nullable;

/**
 * Unwinds the scanner; never leaves the package. Carries no stack trace because bad input is an
 * expected outcome and must stay cheap.
 */
@SuppressWarnings("serial") // never serialised
final class MalformedBody extends RuntimeException {
  private final String code;
  private final @Nullable String param;

  MalformedBody(String code, String message, @Nullable String param) {
    super(message, null, false, false);
    this.code = code;
    this.param = param;
  }

  static MalformedBody notJson(String what, int at) {
    return new MalformedBody(
        "invalid_json",
        "The request body is not valid JSON: " + what + " at byte " + at + ".",
        null);
  }

  static MalformedBody wrongType(String param, String expected) {
    return new MalformedBody(
        "invalid_type", "Field '" + param + "' must be " + expected + ".", param);
  }

  String code() {
    return code;
  }

  @Nullable String param() {
    return param;
  }

  String text() {
    return String.valueOf(getMessage());
  }
}
