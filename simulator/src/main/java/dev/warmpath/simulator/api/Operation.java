package dev.warmpath.simulator.api;

/** The routes that take a model and a prompt. */
public enum Operation {
  CHAT,
  COMPLETIONS,
  MESSAGES,
  COUNT_TOKENS,
  RESPONSES,
  EMBEDDINGS,
  TOKENIZE,
  DETOKENIZE;

  boolean anthropic() {
    return this == MESSAGES || this == COUNT_TOKENS;
  }
}
