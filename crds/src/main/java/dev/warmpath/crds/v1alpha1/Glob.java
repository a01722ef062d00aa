package dev.warmpath.crds.v1alpha1;

/**
 * Globs over model names: {@code *} stands for any run of characters, {@code ?} for one, every
 * other character for itself.
 */
public final class Glob {
  private Glob() {}

  /**
   * Whether the glob matches the whole name. Goes back to the last star only: never exponential.
   */
  public static boolean matches(String glob, String name) {
    int g = 0;
    int n = 0;
    int star = -1;
    int resume = 0;
    while (n < name.length()) {
      if (g < glob.length() && glob.charAt(g) == '*') {
        star = g++;
        resume = n;
      } else if (g < glob.length() && (glob.charAt(g) == '?' || glob.charAt(g) == name.charAt(n))) {
        g++;
        n++;
      } else if (star >= 0) {
        g = star + 1;
        n = ++resume;
      } else {
        return false;
      }
    }
    while (g < glob.length() && glob.charAt(g) == '*') {
      g++;
    }
    return g == glob.length();
  }

  /** Whether surely every name that {@code narrow} matches is matched by {@code wide}. */
  public static boolean covers(String wide, String narrow) {
    if (wide.equals(narrow)) {
      return true;
    }
    // A question mark would take the star of the other for one character.
    boolean unsure = wide.indexOf('?') >= 0 && narrow.indexOf('*') >= 0;
    return !unsure && matches(wide, narrow);
  }
}
