package dev.warmpath.simulator.api;

/**
 * Writes one response, as events or whole, in the shape of its route. For one response and one
 * thread.
 */
public sealed interface ResponseFormat
    permits ChatFormat, CompletionFormat, MessagesFormat, ResponsesFormat, EmbeddingFormat {
  /** Events that don't wait for the first token. */
  default void start(EventSink sink) {}

  /** Events that open the answer, just before the first token of any choice. */
  default void open(EventSink sink) {}

  /** Token {@code index} of a choice. */
  void token(EventSink sink, int choice, int index);

  /** Events after the last token of the last choice. */
  void end(EventSink sink, Usage usage);

  /** The whole response. */
  String whole(Usage usage);

  /** The format for a request. */
  static ResponseFormat of(
      Generation request, ServedModel model, String id, long createdUnixSeconds) {
    return switch (request.operation()) {
      case CHAT -> new ChatFormat(request, model, "chatcmpl-" + id, createdUnixSeconds);
      case COMPLETIONS -> new CompletionFormat(request, model, "cmpl-" + id, createdUnixSeconds);
      case MESSAGES -> new MessagesFormat(request, "chatcmpl-" + id);
      case RESPONSES -> new ResponsesFormat(request, id, createdUnixSeconds);
      case EMBEDDINGS -> new EmbeddingFormat(request, "embd-" + id, createdUnixSeconds);
      case COUNT_TOKENS, TOKENIZE, DETOKENIZE ->
          throw new IllegalArgumentException(request.operation() + " has no answer");
    };
  }
}
