package dev.warmpath.cli.input;

/** A failure that the user can understand and act on: shown as its message alone. */
public final class CommandException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int exitCode;

  public CommandException(String message) {
    this(1, message);
  }

  public CommandException(int exitCode, String message) {
    super(message);
    this.exitCode = exitCode;
  }

  public int exitCode() {
    return exitCode;
  }
}
