package dev.warmpath.simulator.api;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Error bodies. Validation has the type "Bad Request", errors of the engine have class names;
 * Anthropic routes use their own shape only for the latter.
 */
public final class Errors {
  private static final String BUSY =
      "The engine is currently busy and cannot accept new requests. Please try again later or on a different instance.";

  private Errors() {}

  /** A field has a value that its type doesn't allow. */
  public static ApiException validation(
      String type, String location, String message, String input) {
    return new ApiException(
        400,
        error(
            "1 validation error:\n  {'type': '"
                + type
                + "', 'loc': '"
                + location
                + "', 'msg': '"
                + message
                + "', 'input': "
                + input
                + "}",
            "Bad Request",
            location,
            400));
  }

  /** A field that must be there is not. */
  public static ApiException missing(String field, int fields) {
    return validation(
        "missing", "body." + field, "Field required", "'<dict of " + fields + " items>'");
  }

  static ApiException notJson(int offset) {
    return validation(
        "json_invalid",
        "body." + offset,
        "JSON decode error",
        "'<dict of 0 items>', 'ctx': {'error': 'Expecting value'}");
  }

  /** Bodies must say that they are JSON. */
  public static ApiException contentType() {
    return new ApiException(
        400,
        error(
            "1 validation error:\n  Unsupported Media Type: Only 'application/json' is allowed",
            "Bad Request",
            null,
            400));
  }

  static ApiException unknownModel(Operation operation, String model, List<String> served) {
    String message =
        "The model `"
            + model
            + "` does not exist. Valid aliases: "
            + String.join(", ", served)
            + ".";
    return new ApiException(
        404,
        operation.anthropic()
            ? anthropic("NotFoundError", message)
            : error(message, "NotFoundError", "model", 404));
  }

  static ApiException bad(Operation operation, String message, @Nullable String parameter) {
    return new ApiException(
        400,
        operation.anthropic()
            ? anthropic("BadRequestError", message)
            : error(message, "BadRequestError", parameter, 400));
  }

  /** The prompt alone is longer than the model allows. */
  public static ApiException promptTooLong(Operation operation, int tokens, int most) {
    return bad(
        operation,
        "This model's maximum context length is "
            + most
            + " tokens. However, your prompt contains at least "
            + tokens
            + " input tokens, which exceeds this limit even without any output tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value="
            + tokens
            + ")",
        "input_tokens");
  }

  /** The queue is full: status and body of a request that wasn't accepted. */
  public static ApiException busy() {
    return new ApiException(503, error(BUSY, "Service Unavailable", null, 503));
  }

  /**
   * The same as the data of an event inside a stream that has begun, spaced as the original spaces
   * it there.
   */
  public static String busyEvent() {
    return inBand(BUSY, "Service Unavailable", 503);
  }

  /**
   * The same inside a stream of the Messages API, which the original makes from a Chat Completions
   * stream: it stumbles over the error, and tells of that.
   */
  public static String busyMessageEvent() {
    String found =
        " [type=missing, input_value={'error': {'message': 'Th...am': None, 'code': 503}}, input_type=dict]";
    return anthropic(
        "internal_error",
        "2 validation errors for ChatCompletionStreamResponse\nmodel\n  Field required"
            + found
            + "\nchoices\n  Field required"
            + found);
  }

  /** The data of an error event inside a stream. */
  public static String inBand(String message, String type, int code) {
    return "{\"error\": {\"message\": "
        + Json.quote(message)
        + ", \"type\": "
        + Json.quote(type)
        + ", \"param\": null, \"code\": "
        + code
        + "}}";
  }

  /** An error body in the OpenAI shape. */
  public static String error(String message, String type, @Nullable String parameter, int code) {
    return "{\"error\":{\"message\":"
        + Json.quote(message)
        + ",\"type\":"
        + Json.quote(type)
        + ",\"param\":"
        + (parameter == null ? "null" : Json.quote(parameter))
        + ",\"code\":"
        + code
        + "}}";
  }

  private static String anthropic(String type, String message) {
    return "{\"type\":\"error\",\"error\":{\"type\":"
        + Json.quote(type)
        + ",\"message\":"
        + Json.quote(message)
        + "}}";
  }
}
