package dev.warmpath.extproc.request;

/** What a path asks for. The list is the allow-list: any other path is answered with 404. */
public enum Operation {
  CHAT_COMPLETIONS(Dialect.OPENAI, "/v1/chat/completions"),
  COMPLETIONS(Dialect.OPENAI, "/v1/completions"),
  RESPONSES(Dialect.OPENAI, "/v1/responses"),
  EMBEDDINGS(Dialect.OPENAI, "/v1/embeddings"),
  MESSAGES(Dialect.ANTHROPIC, "/v1/messages"),
  COUNT_TOKENS(Dialect.ANTHROPIC, "/v1/messages/count_tokens");

  private final Dialect dialect;
  private final String path;

  Operation(Dialect dialect, String path) {
    this.dialect = dialect;
    this.path = path;
  }

  public Dialect dialect() {
    return dialect;
  }

  /** Exact path, without a query. */
  public String path() {
    return path;
  }
}
