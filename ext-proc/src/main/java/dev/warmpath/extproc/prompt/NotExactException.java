package dev.warmpath.extproc.prompt;

/** A request whose tokens cannot be told exactly. The message says why, without prompt text. */
final class NotExactException extends Exception {
  private static final long serialVersionUID = 1;

  NotExactException(String message) {
    super(message);
  }
}
