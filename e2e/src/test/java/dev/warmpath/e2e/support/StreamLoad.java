package dev.warmpath.e2e.support;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;

/**
 * A closed loop of concurrent SSE streams. Each of the N clients sends a request, reads it to its
 * end marker and starts the next one, on a connection of its own each time. Whatever is not a
 * complete answer is kept as a failure. Thread-safe.
 */
public final class StreamLoad implements AutoCloseable {

  /**
   * A request that did not end as it should.
   *
   * @param head status line and headers, as far as they came
   */
  public record Failure(String what, String head) {}

  /** As a client's own back-off would, so that a refusing gateway is not flooded. */
  private static final long PAUSE_AFTER_FAILURE_NANOS = 200_000_000;

  private final InetSocketAddress gateway;
  private final IntFunction<String> bodies;
  private final List<Header> headers;
  private final List<Thread> clients = new ArrayList<>();
  private final Queue<Failure> failures = new ConcurrentLinkedQueue<>();
  private final AtomicInteger started = new AtomicInteger();
  private final AtomicInteger completed = new AtomicInteger();
  private final AtomicInteger streaming = new AtomicInteger();
  private volatile boolean stopping;

  private StreamLoad(InetSocketAddress gateway, IntFunction<String> bodies, List<Header> headers) {
    this.gateway = gateway;
    this.bodies = bodies;
    this.headers = headers;
  }

  /** A streamed chat with the model {@code tiny}, unlike that of any other number. */
  public static String body(int number) {
    return "{\"model\":\"tiny\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"number "
        + number
        + "\"}]}";
  }

  /**
   * Starts the clients.
   *
   * @param bodies chat bodies with {@code "stream": true}, by request number
   * @param headers what each request carries besides
   */
  public static StreamLoad start(
      InetSocketAddress gateway, int concurrency, IntFunction<String> bodies, Header... headers) {
    StreamLoad load = new StreamLoad(gateway, bodies, List.of(headers));
    for (int i = 0; i < concurrency; i++) {
      load.clients.add(Thread.ofVirtual().name("stream-" + i).start(load::loop));
    }
    return load;
  }

  /** Sends that many streams at once, one each, and returns when all have ended. */
  public static StreamLoad once(InetSocketAddress gateway, int streams, IntFunction<String> bodies)
      throws InterruptedException {
    StreamLoad load = new StreamLoad(gateway, bodies, List.of());
    CountDownLatch go = new CountDownLatch(1);
    for (int i = 0; i < streams; i++) {
      load.clients.add(
          Thread.ofVirtual()
              .start(() -> {
                try {
                  go.await();
                } catch (InterruptedException interrupted) {
                  return;
                }
                load.one();
              }));
    }
    go.countDown();
    for (Thread client : load.clients) {
      client.join();
    }
    return load;
  }

  private void loop() {
    while (!stopping) {
      int before = completed.get();
      one();
      if (completed.get() == before) {
        LockSupport.parkNanos(PAUSE_AFTER_FAILURE_NANOS);
      }
    }
  }

  private void one() {
    byte[] body = bodies.apply(started.getAndIncrement()).getBytes(UTF_8);
    String head = "(no answer)";
    boolean counted = false;
    try (WireClient client = WireClient.connect(gateway)) {
      List<Header> all = new ArrayList<>(headers);
      all.add(new Header("content-type", "application/json"));
      all.add(new Header("content-length", Integer.toString(body.length)));
      client.writeHead("POST", "/v1/chat/completions", all);
      client.write(body);
      WireHead answer = client.readHead();
      head = answer.firstLine() + " " + answer.headers();
      if (answer.status() != 200) {
        String text = new String(client.body(answer).readAllBytes(), UTF_8);
        failures.add(new Failure(text, head));
        return;
      }
      SseReader events = new SseReader(new BufferedInputStream(client.body(answer)));
      SseReader.Event event = events.next();
      streaming.incrementAndGet();
      counted = true;
      boolean done = false;
      while (event != null) {
        if (event.data().equals("[DONE]")) {
          done = true;
        } else if (event.data().contains("\"error\"")) {
          failures.add(new Failure("error event " + event.data(), head));
          return;
        }
        event = events.next();
      }
      if (done) {
        completed.incrementAndGet();
      } else {
        failures.add(new Failure("ended without [DONE]", head));
      }
    } catch (IOException broken) {
      failures.add(new Failure(broken.toString(), head));
    } finally {
      if (counted) {
        streaming.decrementAndGet();
      }
    }
  }

  /** Streams that have had their first event and not their last. */
  public int streaming() {
    return streaming.get();
  }

  public int started() {
    return started.get();
  }

  public int completed() {
    return completed.get();
  }

  public List<Failure> failures() {
    return List.copyOf(failures);
  }

  /** Starts no new streams and waits for those that run. */
  public StreamLoad finish() throws InterruptedException {
    stopping = true;
    for (Thread client : clients) {
      client.join();
    }
    return this;
  }

  @Override
  public void close() {
    try {
      finish();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
