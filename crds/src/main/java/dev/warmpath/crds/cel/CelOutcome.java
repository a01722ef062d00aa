package dev.warmpath.crds.cel;

/** What an evaluation gave. */
public sealed interface CelOutcome {
  /** The answer. */
  record Answer(boolean value) implements CelOutcome {}

  /**
   * No answer: a value is missing, a limit was reached, arithmetic failed. What that means depends
   * on the place of the expression, and always narrows.
   */
  record Failed(String reason) implements CelOutcome {}
}
