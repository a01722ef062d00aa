package dev.warmpath.extproc.tenant;

import dev.warmpath.crds.v1alpha1.Glob;
import java.util.List;

/**
 * A set of globs over names, each as {@link Glob} says, so that the processor matches what the
 * control plane checked. Matching allocates nothing.
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
      if (Glob.matches(pattern, name)) {
        return true;
      }
    }
    return false;
  }
}
