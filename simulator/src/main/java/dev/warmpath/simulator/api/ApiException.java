package dev.warmpath.simulator.api;

/** A request that is answered with an error before any work. */
public final class ApiException extends Exception {
  private static final long serialVersionUID = 1L;

  private final int status;
  private final String body;

  ApiException(int status, String body) {
    super(body, null, false, false);
    this.status = status;
    this.body = body;
  }

  public int status() {
    return status;
  }

  /** The JSON body. */
  public String body() {
    return body;
  }
}
