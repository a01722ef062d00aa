package dev.warmpath.xds.source;

import java.util.function.Consumer;

/** Somewhere that resources come from. */
public interface ResourceSource extends AutoCloseable {
  /**
   * Begins. The listener gets the first snapshot once everything has been read, never before, and
   * then one for each change; calls do not overlap. Called once.
   */
  void start(Consumer<SourceSnapshot> listener);

  @Override
  void close();
}
