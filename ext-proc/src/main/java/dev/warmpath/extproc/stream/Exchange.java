package dev.warmpath.extproc.stream;

import dev.warmpath.extproc.wire.EnvoyMessage;

/** The receiving half of one stream. Calls come one after another. */
interface Exchange {

  void onMessage(EnvoyMessage message);

  /**
   * Envoy closed or reset the stream. It does both after the last answer of a request that went
   * well, so this alone is no failure.
   */
  void onClosed();
}
