package dev.warmpath.simulator.events;

import dev.warmpath.simulator.engine.CacheListener;
import dev.warmpath.simulator.engine.EngineRequest;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;
import org.zeromq.ZMQException;

/**
 * Publishes what the block pool tells, one batch per engine step that changed it. Live messages are
 * {@code topic, sequence, payload}; the sequence starts at 0 and starts again after a restart,
 * without any other sign. A replay request names the first sequence wanted and is answered with
 * every batch that is still remembered and an end marker.
 *
 * <p>The listener methods belong to one thread, the engine's; the sockets belong to a thread of
 * this class; a queue is between them.
 */
public final class KvEventPublisher implements CacheListener, AutoCloseable {
  private static final byte[] END = {-1, -1, -1, -1, -1, -1, -1, -1};
  private static final byte[] EMPTY = {};
  private static final int POLL_MILLIS = 5;
  private static final int HIGH_WATER_MARK = 100_000;
  private static final int MOST_QUEUED = 100_000;

  private record Endpoints(String live, String replay) {}

  /** Work for the socket thread. */
  private sealed interface Command {
    record Publish(List<CacheEvent> events) implements Command {}

    record Restart() implements Command {}

    record Storm(StormPlan plan) implements Command {}
  }

  @SuppressWarnings("ArrayRecordComponent") // Never compared.
  private record Sent(long sequence, byte[] payload) {}

  private final int blockTokens;
  private final byte[] topic;
  private final boolean maps;
  private final boolean replayTopic;
  private final int bufferSteps;
  private final Clock clock;
  private final LinkedBlockingQueue<Command> commands = new LinkedBlockingQueue<>();
  private final CompletableFuture<Endpoints> bound = new CompletableFuture<>();
  private final Endpoints endpoints;
  private final Thread thread;
  private final CountDownLatch stopped = new CountDownLatch(1);
  private volatile boolean closing;

  // The engine's thread.
  private List<CacheEvent> pending = new ArrayList<>();

  // The socket thread.
  private final ArrayDeque<Sent> buffer = new ArrayDeque<>();
  private long nextSequence;

  /**
   * Binds both sockets.
   *
   * @param port port of the live stream, 0 lets the system choose
   * @param replayPort port of the replay socket, 0 lets the system choose
   * @param maps events as maps instead of arrays
   * @param replayTopic replayed messages carry the topic
   * @param bufferSteps batches that are remembered
   */
  public KvEventPublisher(
      String host,
      int port,
      int replayPort,
      String topic,
      int blockTokens,
      boolean maps,
      boolean replayTopic,
      int bufferSteps,
      Clock clock) {
    this.blockTokens = blockTokens;
    this.topic = topic.getBytes(StandardCharsets.UTF_8);
    this.maps = maps;
    this.replayTopic = replayTopic;
    this.bufferSteps = bufferSteps;
    this.clock = clock;
    thread =
        Thread.ofPlatform().name("kv-events").daemon(true).start(() -> run(host, port, replayPort));
    endpoints = bound.join();
  }

  private static String bind(ZMQ.Socket socket, String host, int port) {
    socket.bind("tcp://" + host + ":" + (port == 0 ? "*" : String.valueOf(port)));
    return socket.getLastEndpoint();
  }

  /** Where subscribers connect. */
  public String liveEndpoint() {
    return endpoints.live();
  }

  /** Where replay is asked for. */
  public String replayEndpoint() {
    return endpoints.replay();
  }

  /** The page that lists the publishers of all ranks. */
  public String sources() {
    return "{\"0\":{\"enable_kv_cache_events\":true,\"publisher\":\"zmq\",\"endpoint\":\""
        + endpoints.live()
        + "\",\"replay_endpoint\":\""
        + endpoints.replay()
        + "\",\"buffer_steps\":"
        + bufferSteps
        + ",\"hwm\":"
        + HIGH_WATER_MARK
        + ",\"max_queue_size\":"
        + MOST_QUEUED
        + ",\"topic\":\""
        + new String(topic, StandardCharsets.UTF_8)
        + "\"}}";
  }

  @Override
  public void onStored(EngineRequest request, int fromBlock, int toBlock) {
    if (!(request.attachment() instanceof SequenceTokens sequence)) {
      return;
    }
    pending.add(
        new CacheEvent.BlockStored(
            Arrays.copyOfRange(request.chain(), fromBlock, toBlock),
            fromBlock == 0 ? null : request.chain()[fromBlock - 1],
            Arrays.copyOfRange(sequence.tokenIds(), fromBlock * blockTokens, toBlock * blockTokens),
            blockTokens,
            sequence.cacheSalt()));
  }

  @Override
  public void onRemoved(long hash) {
    pending.add(new CacheEvent.BlockRemoved(hash));
  }

  @Override
  public void onCleared() {
    pending.clear();
    pending.add(new CacheEvent.AllBlocksCleared());
    publish();
  }

  @Override
  public void onStepEnd(long atNanos) {
    if (!pending.isEmpty()) {
      publish();
    }
  }

  /** The worker restarted: sequences start again at 0 and nothing can be replayed. */
  public void restart() {
    pending.clear();
    commands.add(new Command.Restart());
  }

  /** Floods subscribers. */
  public void storm(StormPlan plan) {
    commands.add(new Command.Storm(plan));
  }

  private void publish() {
    List<CacheEvent> events = pending;
    pending = new ArrayList<>();
    commands.add(new Command.Publish(events));
  }

  /**
   * The socket thread. It creates the sockets too: made by another one, a publisher now and then
   * stays deaf to its subscribers.
   */
  private void run(String host, int port, int replayPort) {
    try (ZContext context = new ZContext();
        ZMQ.Socket live = context.createSocket(SocketType.PUB);
        ZMQ.Socket replay = context.createSocket(SocketType.ROUTER)) {
      live.setSndHWM(HIGH_WATER_MARK);
      live.setLinger(0);
      replay.setLinger(0);
      bound.complete(new Endpoints(bind(live, host, port), bind(replay, host, replayPort)));
      while (!closing) {
        Command command = commands.poll(POLL_MILLIS, TimeUnit.MILLISECONDS);
        while (command != null) {
          execute(command, live, replay);
          command = commands.poll();
        }
        answerReplays(replay);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ZMQException e) {
      // Of use only to the constructor; once bound, sockets end with their context.
      bound.completeExceptionally(e);
    } finally {
      stopped.countDown();
    }
  }

  private void execute(Command command, ZMQ.Socket live, ZMQ.Socket replay) {
    switch (command) {
      case Command.Publish publish -> {
        Sent sent = remember(EventEncoder.encode(unixSeconds(), publish.events(), maps, false));
        send(live, topic, sent);
      }
      case Command.Restart restart -> {
        buffer.clear();
        nextSequence = 0;
      }
      case Command.Storm storm -> flood(storm.plan(), live, replay);
    }
  }

  private Sent remember(byte[] payload) {
    Sent sent = new Sent(nextSequence++, payload);
    if (buffer.size() == bufferSteps) {
      buffer.removeFirst();
    }
    buffer.addLast(sent);
    return sent;
  }

  private static void send(ZMQ.Socket live, byte[] topic, Sent sent) {
    live.send(topic, ZMQ.SNDMORE);
    live.send(sequence(sent.sequence()), ZMQ.SNDMORE);
    live.send(sent.payload(), 0);
  }

  private void answerReplays(ZMQ.Socket replay) {
    for (byte[] client = replay.recv(ZMQ.DONTWAIT);
        client != null;
        client = replay.recv(ZMQ.DONTWAIT)) {
      List<byte[]> frames = new ArrayList<>();
      while (replay.hasReceiveMore()) {
        frames.add(replay.recv());
      }
      // Anything but delimiter and start is ignored, as the original does.
      if (frames.size() == 2 && frames.get(1).length == Long.BYTES) {
        answerReplay(replay, client, ByteBuffer.wrap(frames.get(1)).getLong());
      }
    }
  }

  private void answerReplay(ZMQ.Socket replay, byte[] client, long start) {
    for (Sent sent : buffer) {
      if (Long.compareUnsigned(sent.sequence(), start) >= 0) {
        reply(replay, client, topic, sequence(sent.sequence()), sent.payload());
      }
    }
    reply(replay, client, EMPTY, END, EMPTY);
  }

  private void reply(
      ZMQ.Socket replay, byte[] client, byte[] topicFrame, byte[] sequence, byte[] payload) {
    replay.send(client, ZMQ.SNDMORE);
    replay.send(EMPTY, ZMQ.SNDMORE);
    if (replayTopic) {
      replay.send(topicFrame, ZMQ.SNDMORE);
    }
    replay.send(sequence, ZMQ.SNDMORE);
    replay.send(payload, 0);
  }

  private void flood(StormPlan plan, ZMQ.Socket live, ZMQ.Socket replay) {
    SplittableRandom random = new SplittableRandom(plan.seed());
    ArrayDeque<Long> stored = new ArrayDeque<>();
    @Nullable Long parent = null;
    long pauseNanos = plan.batchesPerSecond() > 0 ? 1_000_000_000L / plan.batchesPerSecond() : 0;
    for (int batch = 1; batch <= plan.batches() && !closing; batch++) {
      List<CacheEvent> events = new ArrayList<>();
      // Half of what is stored goes again, oldest first.
      for (int i = 0; i < plan.blocksPerBatch() / 2 && !stored.isEmpty(); i++) {
        events.add(new CacheEvent.BlockRemoved(stored.removeFirst()));
      }
      long[] hashes = random.longs(plan.blocksPerBatch()).toArray();
      int[] tokens = random.ints((long) plan.blocksPerBatch() * blockTokens, 0, 150_000).toArray();
      events.add(new CacheEvent.BlockStored(hashes, parent, tokens, blockTokens, null));
      parent = random.nextInt(8) == 0 ? null : (Long) hashes[hashes.length - 1];
      for (long hash : hashes) {
        stored.addLast(hash);
      }
      boolean strange = plan.unknown() && batch % 3 == 0;
      if (strange) {
        events.add(new CacheEvent.Unknown());
      }
      boolean asMaps = plan.bothEncodings() ? batch % 2 == 0 : maps;
      Sent sent = remember(EventEncoder.encode(unixSeconds(), events, asMaps, strange));
      if (plan.gapEvery() == 0 || batch % plan.gapEvery() != 0) {
        send(live, topic, sent);
      }
      if (plan.duplicateEvery() > 0 && batch % plan.duplicateEvery() == 0) {
        send(live, topic, sent);
      }
      answerReplays(replay);
      if (pauseNanos > 0) {
        LockSupport.parkNanos(pauseNanos);
      }
    }
  }

  private double unixSeconds() {
    return clock.millis() / 1e3;
  }

  private static byte[] sequence(long value) {
    return ByteBuffer.allocate(Long.BYTES).putLong(value).array();
  }

  /** Stops publishing and closes the sockets. */
  @Override
  public void close() {
    closing = true;
    try {
      if (!stopped.await(5, TimeUnit.SECONDS)) {
        thread.interrupt();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
