package dev.warmpath.xds.source;

import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Secret values by namespace, name and key, without surrounding white space (files and Secrets
 * often end with a line break that is not part of the value). Never prints a value.
 */
public final class Secrets {
  private static final Secrets EMPTY = new Secrets(Map.of());

  private final Map<Entry, String> values;

  /** Where a value is; {@code namespace} is empty where the source has none (a folder). */
  public record Entry(String namespace, String name, String key) {}

  public Secrets(Map<Entry, String> values) {
    Map<Entry, String> trimmed = new java.util.HashMap<>();
    values.forEach((entry, value) -> trimmed.put(entry, value.strip()));
    this.values = Map.copyOf(trimmed);
  }

  public static Secrets empty() {
    return EMPTY;
  }

  /** The value, or null where there is none or it is blank. */
  public @Nullable String value(String namespace, String name, String key) {
    String value = values.get(new Entry(namespace, name, key));
    if (value == null) {
      value = values.get(new Entry("", name, key));
    }
    return value == null || value.isEmpty() ? null : value;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Secrets that && values.equals(that.values);
  }

  @Override
  public int hashCode() {
    return values.hashCode();
  }

  @Override
  public String toString() {
    Map<String, String> names = new TreeMap<>();
    values
        .keySet()
        .forEach(e -> names.put(e.namespace() + "/" + e.name() + "/" + e.key(), "(hidden)"));
    return names.toString();
  }
}
