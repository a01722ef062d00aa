package dev.warmpath.extproc.admin;

import java.util.ArrayList;
import java.util.List;

/** Whether requests may be sent here: a configuration is in force, and the code is warm. */
public final class Readiness {
  private volatile boolean configured;
  private volatile boolean warm;

  /** A configuration is in force. */
  public void configured() {
    configured = true;
  }

  /** Synthetic requests have run. */
  public void warm() {
    warm = true;
  }

  public boolean ready() {
    return configured && warm;
  }

  /** What is still waited for. */
  public List<String> missing() {
    List<String> missing = new ArrayList<>(2);
    if (!configured) {
      missing.add("routing configuration");
    }
    if (!warm) {
      missing.add("warm-up");
    }
    return missing;
  }
}
