package dev.warmpath.extproc.response;

/** What the begin of an event stream says. */
public sealed interface FirstEvent {

  /** Nothing yet that tells. */
  record Undecided() implements FirstEvent {}

  /** Output of the model: the time of these bytes is the time of the first token. */
  record Token() implements FirstEvent {}

  /** The stream ended without output and without an error. */
  record Ended() implements FirstEvent {}

  /**
   * An error under HTTP 200.
   *
   * @param code HTTP-like status; 500 where the upstream gave none
   */
  record Failed(int code) implements FirstEvent {}
}
