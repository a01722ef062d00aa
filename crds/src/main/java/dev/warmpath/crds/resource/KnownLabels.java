package dev.warmpath.crds.resource;

import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Labels that the gateway's own classifiers give, and the values that they can have. */
public final class KnownLabels {
  private static final String UNKNOWN = "unknown";
  private static final List<String> FOUND_OR_NOT = List.of("present", "absent", UNKNOWN);

  /** A value of a label that a tenant sends: what the gateway takes of its header, and no other. */
  public static final String SENDABLE_VALUE = "[A-Za-z0-9][A-Za-z0-9._-]{0,62}";

  private static final Pattern SENDABLE = Pattern.compile(SENDABLE_VALUE);

  private static final Map<String, List<String>> VALUES =
      Map.of(
          "pii", FOUND_OR_NOT,
          "code", FOUND_OR_NOT,
          "complexity", List.of("simple", "medium", "complex", UNKNOWN));

  private KnownLabels() {}

  /** Null where a label has no closed set of values, or is not the gateway's. */
  public static @Nullable List<String> values(String label) {
    return VALUES.get(label);
  }

  /** Whether a label header can hold that value. */
  public static boolean sendable(String value) {
    return SENDABLE.matcher(value).matches();
  }

  /** Why no classifier ever gives that value; null where one may. */
  static @Nullable String impossible(String label, String value) {
    List<String> values = VALUES.get(label);
    return values == null || values.contains(value)
        ? null
        : "labels."
            + label
            + " is never "
            + (value.isEmpty() ? "empty" : value)
            + ": it is "
            + String.join(" or ", values)
            + Nearest.hint(value, values);
  }
}
