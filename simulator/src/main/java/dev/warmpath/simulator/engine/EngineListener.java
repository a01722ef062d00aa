package dev.warmpath.simulator.engine;

/**
 * What an engine tells about its requests. Called from inside {@link Engine#advanceTo} and {@link
 * Engine#restart} in order of time; an implementation may call {@link Engine#submit} and {@link
 * Engine#abort} from here, but not advance the engine.
 */
public interface EngineListener {
  /** The first token of {@code request} exists since {@code atNanos}. */
  default void onFirstToken(EngineRequest request, long atNanos) {}

  /** One more token, the first included. Only from engines built with token events. */
  default void onToken(EngineRequest request, long atNanos) {}

  /** The last token exists. */
  default void onFinished(EngineRequest request, long atNanos) {}

  /** The queue was full when the request left the frontend. */
  default void onRejected(EngineRequest request, long atNanos) {}

  /** The engine lost the request because it restarted. */
  default void onLost(EngineRequest request, long atNanos) {}

  /**
   * {@code steps} equal batches ran back to back; each gave each of {@code decoders} running
   * sequences one token.
   */
  default void onSteps(
      long steps, int decoders, long prefillTokens, long firstGapNanos, long lastGapNanos) {}

  /** Hears nothing. */
  EngineListener NONE = new EngineListener() {};
}
