package dev.warmpath.extproc.telemetry;

/** What the configuration client reports. Thread-safe. */
public interface ConfigMetrics {
  void applied();

  void refused();

  /** In force, but not on disk. */
  void notSaved();

  void connected(boolean connected);
}
