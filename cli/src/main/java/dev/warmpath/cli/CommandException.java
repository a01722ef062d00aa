package dev.warmpath.cli;

/** A failure that the user can understand and act on: shown as its message alone. */
final class CommandException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int exitCode;

  CommandException(String message) {
    this(1, message);
  }

  CommandException(int exitCode, String message) {
    super(message);
    this.exitCode = exitCode;
  }

  int exitCode() {
    return exitCode;
  }
}
