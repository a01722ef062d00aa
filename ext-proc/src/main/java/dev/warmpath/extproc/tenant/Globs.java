package dev.warmpath.extproc.tenant;

import java.util.List;

/**
 * A set of globs over names: {@code *} stands for any run of characters, {@code ?} for one; every
 * other character stands for itself. Matching is linear in practice and allocates nothing.
 */
public final class Globs {
  public static final Globs NONE = new Globs(new String[0]);
  public static final Globs ALL = new Globs(new String[] {"*"});

  private final String[] patterns;

  private Globs(String[] patterns) {
    this.patterns = patterns;
  }

  public static Globs of(List<String> patterns) {
    return patterns.isEmpty() ? NONE : new Globs(patterns.toArray(new String[0]));
  }

  /** Whether any of the globs matches the whole name. */
  public boolean matches(String name) {
    for (String pattern : patterns) {
      if (matches(pattern, name)) {
        return true;
      }
    }
    return false;
  }

  /** Greedy match that goes back to the last star only: never exponential. */
  private static boolean matches(String pattern, String name) {
    int p = 0;
    int n = 0;
    int star = -1;
    int resume = 0;
    while (n < name.length()) {
      if (p < pattern.length() && pattern.charAt(p) == '*') {
        star = p++;
        resume = n;
      } else if (p < pattern.length()
          && (pattern.charAt(p) == '?' || pattern.charAt(p) == name.charAt(n))) {
        p++;
        n++;
      } else if (star >= 0) {
        p = star + 1;
        n = ++resume;
      } else {
        return false;
      }
    }
    while (p < pattern.length() && pattern.charAt(p) == '*') {
      p++;
    }
    return p == pattern.length();
  }
}
