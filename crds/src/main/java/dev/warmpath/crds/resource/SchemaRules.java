package dev.warmpath.crds.resource;

import dev.warmpath.crds.cel.SelfRule;
import io.fabric8.generator.annotation.ValidationRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Evaluates the CEL rules that a record's annotations state, as the API server does. */
final class SchemaRules {
  /**
   * A rule that does not hold.
   *
   * @param fieldPath relative, such as {@code .interval}; empty for the record itself
   */
  record Violation(String fieldPath, String message) {}

  private SchemaRules() {}

  /** The rules of {@code schema} that {@code self} violates. */
  static List<Violation> violations(RecordSchema schema, Map<String, Object> self) {
    List<Violation> violations = new ArrayList<>();
    for (ValidationRule rule : schema.rules()) {
      if (!SelfRule.of(rule.value()).holds(self)) {
        violations.add(new Violation(rule.fieldPath(), rule.message()));
      }
    }
    return violations;
  }
}
