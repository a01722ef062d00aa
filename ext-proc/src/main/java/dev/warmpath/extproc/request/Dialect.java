package dev.warmpath.extproc.request;

/** The API family whose shapes the client speaks; decides how errors look. */
public enum Dialect {
  OPENAI,
  ANTHROPIC
}
