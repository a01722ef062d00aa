package dev.warmpath.simulator.api;

/** Tokens of a whole answer. */
public record Usage(int promptTokens, int cachedTokens, int completionTokens) {
  int totalTokens() {
    return promptTokens + completionTokens;
  }
}
