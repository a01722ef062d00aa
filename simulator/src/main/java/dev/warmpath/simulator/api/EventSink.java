package dev.warmpath.simulator.api;

/** Takes server-sent events; each becomes one chunk on the wire. */
@FunctionalInterface
public interface EventSink {
  /** A whole event with its blank line. */
  void event(CharSequence event);
}
