package dev.warmpath.crds.resource;

import org.jspecify.annotations.Nullable;

/**
 * One fault of one resource, for a terminal, a log line or a status condition.
 *
 * @param file as the source names it; empty for an object from an API server
 * @param line from 1; 0 where there are no lines
 * @param kind null while even the kind could not be read
 * @param namespace empty while it could not be read
 * @param name empty while it could not be read
 * @param field path such as {@code spec.route.tiers[0].endpoints}; empty for the whole document
 * @param reason CamelCase, from {@link Reason} or of the reporter's own
 * @param message a sentence without final stop that a person can act on; holds no secret
 */
public record Problem(
    Severity severity,
    String file,
    int line,
    @Nullable Kind kind,
    String namespace,
    String name,
    String field,
    String reason,
    String message) {

  public enum Severity {
    /** The resource is not accepted as it stands. */
    ERROR,
    /** The resource is in force, and probably not what its writer meant. */
    WARNING
  }

  /** A problem of a field of a resource that was read. */
  public static Problem of(
      Severity severity, Resource<?> resource, String field, Reason reason, String message) {
    return of(severity, resource, field, reason.name(), message);
  }

  /** The same, with a reason of the reporter's own. */
  public static Problem of(
      Severity severity, Resource<?> resource, String field, String reason, String message) {
    return new Problem(
        severity,
        resource.source().file(),
        resource.source().lineOf(field),
        resource.kind(),
        resource.namespace(),
        resource.name(),
        field,
        reason,
        message);
  }

  public boolean isError() {
    return severity == Severity.ERROR;
  }

  /** The resource that this is about, or null while its kind or name is unknown. */
  public Resource.@Nullable Key key() {
    return kind == null || name.isEmpty() ? null : new Resource.Key(kind, namespace, name);
  }

  /**
   * One line: {@code pools.yaml:12: error: InferencePool default/qwen: spec.model: required
   * (MissingField)}.
   */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    if (!file.isEmpty()) {
      text.append(file).append(line > 0 ? ":" + line : "").append(": ");
    }
    text.append(severity == Severity.ERROR ? "error: " : "warning: ");
    if (kind != null) {
      text.append(kind);
      if (!name.isEmpty()) {
        text.append(' ').append(namespace).append('/').append(name);
      }
      text.append(": ");
    }
    if (!field.isEmpty()) {
      text.append(field).append(": ");
    }
    return text.append(message).append(" (").append(reason).append(')').toString();
  }
}
