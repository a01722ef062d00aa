package dev.warmpath.extproc.telemetry;

/** What the ext_proc streams report. Thread-safe. */
public interface StreamMetrics {

  /**
   * A request was answered.
   *
   * @param kind routed, answered or rejected
   * @param elapsedNanos since the request's headers arrived
   */
  void decided(String kind, long elapsedNanos);

  /** A decision was put off: a queue, or a label that takes time. */
  void deferred();

  /** A request was turned away because too many body bytes are held. */
  void bufferFull();

  /** A request was turned away because too many decisions wait. */
  void overloaded();

  /** A decision ended in an unexpected exception. */
  void failed();
}
