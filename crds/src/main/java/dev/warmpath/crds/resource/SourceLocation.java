package dev.warmpath.crds.resource;

import java.util.Map;

/**
 * Where a resource was written.
 *
 * @param file path as the source names it; empty for an object from an API server
 * @param line first line of the document, from 1; 0 where there are no lines
 * @param fieldLines line of each field, by path such as {@code spec.route.tiers[0].endpoints}
 */
public record SourceLocation(String file, int line, Map<String, Integer> fieldLines) {
  public SourceLocation {
    fieldLines = Map.copyOf(fieldLines);
  }

  public SourceLocation(String file, int line) {
    this(file, line, Map.of());
  }

  /** Line of the field, or of the nearest enclosing field that was written. */
  public int lineOf(String fieldPath) {
    String path = fieldPath;
    while (!path.isEmpty()) {
      Integer found = fieldLines.get(path);
      if (found != null) {
        return found;
      }
      path = path.substring(0, Math.max(0, Math.max(path.lastIndexOf('.'), path.lastIndexOf('['))));
    }
    return line;
  }

  /** {@code file:line}, as editors and terminals link it. */
  @Override
  public String toString() {
    return file + ":" + line;
  }
}
