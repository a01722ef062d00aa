package dev.warmpath.crds.cel;

/**
 * Why an expression is refused.
 *
 * @param line from 1, inside the expression
 * @param column from 1, inside the line
 * @param message one sentence without the position
 */
public record CelProblem(int line, int column, String message) implements CelResult {
  /** {@code 1:9: message}. */
  @Override
  public String toString() {
    return line + ":" + column + ": " + message;
  }
}
