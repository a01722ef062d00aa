package dev.warmpath.e2e.support;

import tools.jackson.databind.json.JsonMapper;

/** The one JSON reader of the tests. */
public final class Json {
  public static final JsonMapper MAPPER = JsonMapper.builder().build();

  private Json() {}

  /** The text as a JSON string, with its quotes. */
  public static String quote(String text) {
    return MAPPER.writeValueAsString(text);
  }
}
