package dev.warmpath.extproc.request;

import org.jspecify.annotations.Nullable;

/** What reading a body gave. */
public sealed interface ParsedBody {

  /** A parsed request. */
  record Parsed(InferenceRequest request) implements ParsedBody {}

  /**
   * A body that no engine would accept.
   *
   * @param code stable code, listed in docs/errors.md
   * @param param the field at fault, or null where no field is
   */
  record Malformed(String code, String message, @Nullable String param) implements ParsedBody {}
}
