package dev.warmpath.extproc.request;

/** The API family whose shapes the client speaks; decides how errors look. */
public enum Dialect {
  OPENAI("OpenAI"),
  ANTHROPIC("Anthropic");

  private final String vendor;

  Dialect(String vendor) {
    this.vendor = vendor;
  }

  /** Whose API it is, for messages. */
  public String vendor() {
    return vendor;
  }
}
