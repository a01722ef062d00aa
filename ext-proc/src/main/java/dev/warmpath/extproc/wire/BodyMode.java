package dev.warmpath.extproc.wire;

import io.envoyproxy.envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import io.envoyproxy.envoy.service.ext_proc.v3.ProtocolConfiguration;

/** How Envoy hands a body over, and so which messages it wants back. */
public enum BodyMode {
  /** No body is sent: the headers' answer is the only one. */
  NONE,

  /** One message with the whole body; header mutations in its answer count. */
  BUFFERED,

  /**
   * Chunks, the next of which comes only after the headers' answer: too late to choose a worker.
   */
  STREAMED,

  /** Chunks without waiting; the headers' answer may come after the last one. One answer each. */
  STREAMED_AHEAD,

  /**
   * Chunks without waiting; the whole body must be sent back in chunks, in numbers of our choosing.
   */
  FULL_DUPLEX;

  /**
   * The request body's mode. An Envoy that does not say is taken to use BUFFERED, as our own
   * bootstrap does.
   */
  public static BodyMode ofRequest(ProcessingRequest first) {
    if (!first.hasProtocolConfig()) {
      return BUFFERED;
    }
    ProtocolConfiguration config = first.getProtocolConfig();
    return of(config.getRequestBodyMode(), config.getSendBodyWithoutWaitingForHeaderResponse());
  }

  /** The response body's mode; NONE where Envoy does not say. */
  public static BodyMode ofResponse(ProcessingRequest first) {
    return first.hasProtocolConfig()
        ? of(first.getProtocolConfig().getResponseBodyMode(), false)
        : NONE;
  }

  private static BodyMode of(BodySendMode mode, boolean ahead) {
    return switch (mode) {
      case STREAMED -> ahead ? STREAMED_AHEAD : STREAMED;
      case BUFFERED, BUFFERED_PARTIAL -> BUFFERED;
      case FULL_DUPLEX_STREAMED -> FULL_DUPLEX;
      case NONE, UNRECOGNIZED -> NONE;
    };
  }

  /** Whether the headers' answer can wait until the body has been read. */
  public boolean answersHeadersLast() {
    return this == FULL_DUPLEX || this == STREAMED_AHEAD;
  }
}
