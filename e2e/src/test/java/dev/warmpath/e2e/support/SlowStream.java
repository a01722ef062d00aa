package dev.warmpath.e2e.support;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * A worker's answer that takes its time: one token after the other, until the last or until the
 * client is gone. Counts both. Thread-safe.
 */
public final class SlowStream implements ScriptedWorker.Script {

  private final int tokens;
  private final Duration gap;
  private final AtomicInteger streaming = new AtomicInteger();
  private final AtomicInteger finished = new AtomicInteger();
  private final AtomicInteger cut = new AtomicInteger();

  public SlowStream(int tokens, Duration gap) {
    this.tokens = tokens;
    this.gap = gap;
  }

  /** A fifth of a second: long enough to be running while something changes. */
  public static SlowStream brief() {
    return new SlowStream(5, Duration.ofMillis(40));
  }

  @Override
  public void answer(ScriptedWorker.Received request, ScriptedWorker.Reply reply)
      throws IOException {
    streaming.incrementAndGet();
    try {
      reply.startStream();
      for (int i = 0; i < tokens; i++) {
        reply.chunk(
            "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":"
                + "[{\"index\":0,\"delta\":{\"content\":\"t"
                + i
                + " \"},\"finish_reason\":null}]}\n\n");
        LockSupport.parkNanos(gap.toNanos());
      }
      reply.chunk("data: [DONE]\n\n");
      reply.endStream();
      finished.incrementAndGet();
    } catch (IOException gone) {
      cut.incrementAndGet();
      throw gone;
    } finally {
      streaming.decrementAndGet();
    }
  }

  /** Streams that run now. */
  public int streaming() {
    return streaming.get();
  }

  public int finished() {
    return finished.get();
  }

  /** Streams that the other side broke off. */
  public int cut() {
    return cut.get();
  }
}
