package dev.warmpath.extproc.kvevents;

import dev.warmpath.extproc.kvcache.EventSink;
import dev.warmpath.extproc.kvevents.EventCounts.Event;
import java.net.http.HttpClient;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.SocketType;
import org.zeromq.ZMQ;
import org.zeromq.ZMQException;

/**
 * The event streams of one worker, on a thread of their own that makes, uses and closes their
 * sockets.
 *
 * <p>About one connection in a hundred of this ZeroMQ stays deaf, and a publisher that has nothing
 * to tell is as silent. So after some silence a second subscriber joins, the old one leaves at the
 * next such time, and a replay shows whether anything was missed.
 */
final class Subscription implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(Subscription.class);

  private static final int POLL_MILLIS = 50;
  private static final int HIGH_WATER_MARK = 2_000;
  private static final int MAX_ANSWER_TRIES = 3;
  private static final long ANSWER_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final long FIRST_SILENCE_NANOS = TimeUnit.SECONDS.toNanos(3);
  private static final long LONGEST_SILENCE_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final byte[] EMPTY = {};

  private final EventSource.Target target;
  private final ZMQ.Context context;
  private final HttpClient http;
  private final EventSink sink;
  private final EventCounts counts;
  private final LongSupplier nanoClock;
  private final CountDownLatch stopped = new CountDownLatch(1);
  private volatile boolean stopping;
  private volatile boolean doubtful;

  // The thread's own.
  private final List<Rank> ranks = new ArrayList<>();
  private @Nullable Boolean reportedLive;

  /** One rank's stream and its sockets. */
  private final class Rank {
    private final EventSource source;
    private final RankStream stream;
    private ZMQ.Socket live;
    private ZMQ.@Nullable Socket former;
    private ZMQ.@Nullable Socket replay;
    private long askedNanos;
    private int tries;

    Rank(int rank, int count, EventSource source) {
      this.source = source;
      this.live = subscriber();
      this.stream =
          new RankStream(
              target.worker(),
              rank,
              count,
              sink,
              counts,
              nanoClock,
              source.replay() != null,
              (ofRank, from) -> ask(from));
    }

    private ZMQ.Socket subscriber() {
      ZMQ.Socket socket = socket(SocketType.SUB);
      socket.setRcvHWM(HIGH_WATER_MARK);
      socket.connect(source.live());
      socket.subscribe(EMPTY);
      return socket;
    }

    private void ask(long from) {
      ZMQ.Socket socket = replay;
      if (socket == null && source.replay() != null) {
        socket = socket(SocketType.DEALER);
        socket.setRcvHWM(HIGH_WATER_MARK);
        socket.connect(source.replay());
        replay = socket;
      }
      if (socket != null) {
        askedNanos = nanoClock.getAsLong();
        socket.send(EMPTY, ZMQ.SNDMORE);
        socket.send(bytes(from), ZMQ.DONTWAIT);
      }
    }

    /** A fresh connection, in case the old one is deaf; it stays until the next time. */
    private void join() {
      closeQuietly(former);
      former = live;
      live = subscriber();
      counts.add(Event.RECONNECT);
    }

    private void close() {
      closeQuietly(live);
      closeQuietly(former);
      closeQuietly(replay);
      former = null;
      replay = null;
    }
  }

  Subscription(
      EventSource.Target target,
      ZMQ.Context context,
      HttpClient http,
      EventSink sink,
      EventCounts counts,
      LongSupplier nanoClock) {
    this.target = target;
    this.context = context;
    this.http = http;
    this.sink = sink;
    this.counts = counts;
    this.nanoClock = nanoClock;
  }

  EventSource.Target target() {
    return target;
  }

  /** Something suggests that the process is another one now: looks at once. */
  void doubt() {
    doubtful = true;
  }

  /** Ends soon; {@link #await} waits for it. */
  void stop() {
    stopping = true;
  }

  void await() throws InterruptedException {
    if (!stopped.await(10, TimeUnit.SECONDS)) {
      LOG.warn("the event subscription of {} does not end", target.worker());
    }
  }

  @Override
  public void run() {
    try {
      while (!stopping) {
        try {
          session();
        } catch (ZMQException e) {
          LOG.warn("events of {}: {}", target.worker(), e.getMessage());
          LockSupport.parkNanos(RETRY_NANOS);
        } finally {
          ranks.forEach(Rank::close);
          ranks.clear();
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      stopped.countDown();
    }
  }

  /** One set of sources; ends when the worker names others. */
  private void session() throws InterruptedException {
    List<EventSource> sources = EventSource.find(http, target);
    for (EventSource source : sources) {
      ranks.add(new Rank(ranks.size(), sources.size(), source));
    }
    ranks.forEach(rank -> rank.stream.catchUp());
    long heardNanos = nanoClock.getAsLong();
    long silenceNanos = FIRST_SILENCE_NANOS;
    while (!stopping) {
      if (poll()) {
        heardNanos = nanoClock.getAsLong();
        silenceNanos = FIRST_SILENCE_NANOS;
      }
      answersMissing();
      long now = nanoClock.getAsLong();
      if (doubtful || now - heardNanos > silenceNanos) {
        silenceNanos = doubtful ? silenceNanos : Math.min(2 * silenceNanos, LONGEST_SILENCE_NANOS);
        doubtful = false;
        heardNanos = now;
        if (!EventSource.find(http, target).equals(sources)) {
          return; // a new process on other ports, or the page has come up or gone
        }
        ranks.forEach(rank -> {
          rank.join();
          rank.stream.catchUp();
        });
      }
    }
  }

  /** Reads everything that is there, or waits a moment. Returns whether a live message came. */
  private boolean poll() {
    boolean heard = false;
    boolean any = false;
    for (Rank rank : ranks) {
      ZMQ.Socket asked = rank.replay;
      for (ZMQ.Socket socket : sockets(rank)) {
        boolean replay = socket.equals(asked);
        for (int i = 0; i < HIGH_WATER_MARK; i++) {
          byte[] frame = socket.recv(ZMQ.DONTWAIT);
          if (frame == null) {
            break;
          }
          any = true;
          heard |= !replay;
          message(rank, replay, frame, socket);
        }
      }
    }
    if (!any) {
      waitForAny();
    }
    return heard;
  }

  private static List<ZMQ.Socket> sockets(Rank rank) {
    List<ZMQ.Socket> all = new ArrayList<>(3);
    all.add(rank.live);
    if (rank.former != null) {
      all.add(rank.former);
    }
    if (rank.replay != null) {
      all.add(rank.replay);
    }
    return all;
  }

  private void waitForAny() {
    try (ZMQ.Poller poller = context.poller(3 * ranks.size())) {
      for (Rank rank : ranks) {
        sockets(rank).forEach(socket -> poller.register(socket, ZMQ.Poller.POLLIN));
      }
      poller.poll(POLL_MILLIS);
    }
  }

  /** The last frame is the batch, the one before it the number; older replays have no topic. */
  private void message(Rank rank, boolean replay, byte[] first, ZMQ.Socket socket) {
    byte[] number = EMPTY;
    byte[] payload = first;
    int frames = 1;
    while (socket.hasReceiveMore()) {
      number = payload;
      payload = socket.recv();
      frames++;
    }
    long sequence = EventDecoder.sequence(number);
    if (replay && frames > 1 && isEnd(number, payload)) {
      rank.tries = 0;
      rank.stream.onReplayEnd();
    } else if (sequence < 0 || frames < 2) {
      counts.add(Event.MALFORMED);
    } else if (replay) {
      rank.tries = 0;
      rank.askedNanos = nanoClock.getAsLong();
      rank.stream.onReplayed(sequence, payload);
    } else {
      rank.stream.onLive(sequence, payload);
    }
    if (rank.stream.begun()) {
      report(true, "");
    }
  }

  private static boolean isEnd(byte[] number, byte[] payload) {
    return payload.length == 0
        && number.length == Long.BYTES
        && EventDecoder.sequence(number) == -1;
  }

  private void answersMissing() {
    for (Rank rank : ranks) {
      if (!rank.stream.catchingUp() || nanoClock.getAsLong() - rank.askedNanos < ANSWER_NANOS) {
        continue;
      }
      closeQuietly(rank.replay);
      rank.replay = null;
      if (++rank.tries < MAX_ANSWER_TRIES) {
        rank.stream.askAgain();
      } else {
        rank.tries = 0;
        rank.stream.onReplayFailed();
        report(false, "the worker does not answer at " + rank.source.replay());
      }
    }
  }

  private void report(boolean live, String reason) {
    if (reportedLive == null || reportedLive != live) {
      reportedLive = live;
      sink.live(target.worker(), live, reason);
    }
  }

  private ZMQ.Socket socket(SocketType type) {
    ZMQ.Socket socket = context.socket(type);
    socket.setLinger(0);
    socket.setIPv6(target.host().startsWith("["));
    socket.setTCPKeepAlive(1);
    socket.setReconnectIVL(100);
    socket.setReconnectIVLMax(5_000);
    return socket;
  }

  private static void closeQuietly(ZMQ.@Nullable Socket socket) {
    if (socket != null) {
      socket.close();
    }
  }

  private static byte[] bytes(long value) {
    byte[] bytes = new byte[Long.BYTES];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (value >>> (8 * (bytes.length - 1 - i)));
    }
    return bytes;
  }
}
