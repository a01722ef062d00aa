package dev.warmpath.e2e.support;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads YAML and JSON that was loaded as maps and lists. What isn't there is an error. */
public final class Tree {

  private Tree() {}

  /** What is found by these names and positions, one after the other. */
  public static Object at(@Nullable Object tree, Object... path) {
    Object found = tree;
    for (Object step : path) {
      found =
          switch (found) {
            case Map<?, ?> map -> map.get(step);
            case List<?> list when step instanceof Integer position -> list.get(position);
            case null, default -> null;
          };
    }
    if (found == null) {
      throw new IllegalArgumentException("nothing at " + List.of(path));
    }
    return found;
  }

  @SuppressWarnings("unchecked") // YAML and JSON of this repository have text keys
  public static Map<String, Object> map(@Nullable Object tree, Object... path) {
    return (Map<String, Object>) at(tree, path);
  }

  @SuppressWarnings("unchecked")
  public static List<Object> list(@Nullable Object tree, Object... path) {
    return (List<Object>) at(tree, path);
  }

  public static String text(@Nullable Object tree, Object... path) {
    return at(tree, path).toString();
  }
}
