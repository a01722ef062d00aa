package dev.warmpath.extproc.request;

import org.jspecify.annotations.Nullable;

/**
 * A request as routing needs it: a few fields, where they stand in the body, and the fingerprint of
 * the prompt. Holds the body only for the length of the call that reads it.
 *
 * @param model the requested name, or the default of the route
 * @param modelSpan where the name stands, quotes included; where the body has no name, the null
 *     that stands there, or the empty span behind the opening brace
 * @param modelNamed the body itself names the model
 * @param streamOptions what the client said about usage in the stream, and where
 * @param maxTokens the client's limit on the answer, or null
 * @param tools whether tool definitions are given
 * @param images image parts in the prompt
 * @param priority the body's {@code priority} field, or 0
 * @param fingerprint of the prompt, cache salt included
 * @param text the prompt's text on demand, for classifiers
 */
public record InferenceRequest(
    Operation operation,
    String model,
    Span modelSpan,
    boolean modelNamed,
    boolean stream,
    StreamOptions streamOptions,
    @Nullable Integer maxTokens,
    boolean tools,
    int images,
    int priority,
    PromptFingerprint fingerprint,
    PromptText text) {

  /** Bytes {@code [start, end)} of the body. */
  public record Span(int start, int end) {}

  /** What {@code stream_options} holds, as far as usage is concerned. */
  public sealed interface StreamOptions {
    /** The client gets usage by itself, or the operation has no such option. */
    record UsageGiven() implements StreamOptions {}

    /** There is no usable {@code stream_options}; {@code insertAt} is behind the opening brace. */
    record Absent(int insertAt) implements StreamOptions {}

    /** The value is null. */
    record Null(Span value) implements StreamOptions {}

    /** An object without {@code include_usage}; {@code insertAt} is behind its opening brace. */
    record WithoutUsage(int insertAt, boolean empty) implements StreamOptions {}

    /** {@code include_usage} is there, but false or null. */
    record UsageRefused(Span value) implements StreamOptions {}
  }

  public Dialect dialect() {
    return operation.dialect();
  }
}
