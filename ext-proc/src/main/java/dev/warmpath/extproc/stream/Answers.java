package dev.warmpath.extproc.stream;

import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;

/** The sending half of one stream. Not thread-safe: its exchange calls it under its lock. */
interface Answers {

  void send(ProcessingResponse answer);

  /** Half-closes: Envoy goes on without this stream. Nothing may be sent after it. */
  void complete();
}
