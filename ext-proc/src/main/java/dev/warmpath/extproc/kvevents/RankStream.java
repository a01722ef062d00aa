package dev.warmpath.extproc.kvevents;

import dev.warmpath.extproc.candidate.WorkerId;
import dev.warmpath.extproc.kvcache.EventSink;
import dev.warmpath.extproc.kvevents.EventCounts.Event;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.function.LongSupplier;

/**
 * The events of one rank of one worker, put in order.
 *
 * <pre>
 *   catching up --end of replay--> following --gap, silence, doubt--> catching up
 * </pre>
 *
 * <p>Batches are numbered from 0 for each process, and a new process is announced by nothing. So a
 * replay always begins with the last batch that was applied: if it is not the same batch any more,
 * the process is another one. On the live stream a number that was seen already belongs to a new
 * process if its batch is younger than the last one, and is a duplicate otherwise.
 *
 * <p>Memory is bounded: what arrives during a replay waits up to a limit, and is asked for again
 * beyond it. Not thread-safe: confined to its subscription's thread.
 */
final class RankStream {
  private static final int MAX_WAITING_BYTES = 16 << 20;

  /** Replays that got further each time and still left a hole. */
  private static final int MAX_ROUNDS = 100;

  /** Sends a replay request. */
  interface Replay {
    void ask(int rank, long from);
  }

  @SuppressWarnings("ArrayRecordComponent") // Never compared.
  private record Message(long sequence, byte[] payload) {}

  private final WorkerId worker;
  private final int rank;
  private final int ranks;
  private final EventSink sink;
  private final EventCounts counts;
  private final EventDecoder decoder;
  private final LongSupplier nanoClock;
  private final boolean canReplay;
  private final Replay replay;

  private long last = -1;
  private int lastHash;
  private double lastSeconds = Double.NEGATIVE_INFINITY;
  private boolean begun;

  // While catching up.
  private boolean catchingUp;
  private long asked;
  private boolean sawAsked;
  private boolean hole;
  private boolean another;
  private int rounds;
  private final ArrayDeque<Message> waiting = new ArrayDeque<>();
  private int waitingBytes;
  private boolean overflow;

  RankStream(
      WorkerId worker,
      int rank,
      int ranks,
      EventSink sink,
      EventCounts counts,
      LongSupplier nanoClock,
      boolean canReplay,
      Replay replay) {
    this.worker = worker;
    this.rank = rank;
    this.ranks = ranks;
    this.sink = sink;
    this.counts = counts;
    this.decoder = new EventDecoder(counts);
    this.nanoClock = nanoClock;
    this.canReplay = canReplay;
    this.replay = replay;
  }

  boolean catchingUp() {
    return catchingUp;
  }

  /** Anything is known of this stream. */
  boolean begun() {
    return begun;
  }

  /** Asks for what is missing, and whether the process is still the same one. */
  void catchUp() {
    if (canReplay && !catchingUp) {
      rounds = 0;
      ask(Math.max(0, last));
    }
  }

  /** Asks once more for what the last request asked. */
  void askAgain() {
    ask(Math.max(0, last));
  }

  private void ask(long from) {
    catchingUp = true;
    asked = from;
    sawAsked = false;
    hole = false;
    another = false;
    counts.add(Event.REPLAY);
    replay.ask(rank, from);
  }

  void onLive(long sequence, byte[] payload) {
    if (catchingUp) {
      hold(sequence, payload);
    } else {
      follow(sequence, payload);
    }
  }

  private void hold(long sequence, byte[] payload) {
    if (waitingBytes + payload.length > MAX_WAITING_BYTES) {
      counts.add(Event.DISCARDED, waiting.size() + 1L);
      waiting.clear();
      waitingBytes = 0;
      overflow = true;
      return;
    }
    waiting.addLast(new Message(sequence, payload));
    waitingBytes += payload.length;
  }

  private void follow(long sequence, byte[] payload) {
    if (!begun) {
      begin(sequence == 0);
      apply(sequence, payload, nanoClock.getAsLong());
    } else if (sequence > last && decoder.seconds(payload) < lastSeconds) {
      counts.add(Event.DISCARDED); // a late message of the process before this one
    } else if (sequence == last + 1) {
      apply(sequence, payload, nanoClock.getAsLong());
    } else if (sequence > last) {
      counts.add(Event.GAP);
      if (canReplay) {
        hold(sequence, payload);
        rounds = 0;
        ask(Math.max(0, last));
      } else {
        lost("batches " + (last + 1) + " to " + (sequence - 1) + " were lost");
        apply(sequence, payload, nanoClock.getAsLong());
      }
    } else if (decoder.seconds(payload) > lastSeconds) {
      counts.add(Event.RESTART);
      begin(true);
      if (sequence == 0) {
        apply(sequence, payload, nanoClock.getAsLong());
      } else if (canReplay) {
        hold(sequence, payload);
        rounds = 0;
        ask(0);
      } else {
        lost("the first batches of a new process were lost");
        apply(sequence, payload, nanoClock.getAsLong());
      }
    } else {
      counts.add(Event.DUPLICATE);
    }
  }

  void onReplayed(long sequence, byte[] payload) {
    if (!catchingUp || another || sequence < asked) {
      counts.add(Event.DISCARDED);
      return;
    }
    if (!sawAsked) {
      sawAsked = true;
      if (last >= 0 && sequence == last) {
        another = Arrays.hashCode(payload) != lastHash;
        return;
      }
      if (last >= 0) {
        lost("batches " + (last + 1) + " to " + (sequence - 1) + " are not remembered any more");
        last = sequence - 1;
      } else {
        begin(sequence == 0);
        last = sequence - 1;
      }
    }
    if (sequence == last + 1) {
      apply(sequence, payload, EventSink.UNKNOWN_TIME);
    } else if (sequence > last) {
      hole = true;
    } else {
      counts.add(Event.DUPLICATE);
    }
  }

  void onReplayEnd() {
    if (!catchingUp) {
      return;
    }
    if (another || (last >= 0 && !sawAsked)) {
      counts.add(Event.RESTART);
      begin(true);
      ask(0);
      return;
    }
    if (!begun) {
      begin(true); // nothing was ever published
    }
    if ((hole || overflow) && ++rounds < MAX_ROUNDS) {
      overflow = false;
      ask(Math.max(0, last));
      return;
    }
    if (hole) {
      lost("a replay had holes");
    }
    drain();
  }

  /** Nobody answers; what is missing stays missing. */
  void onReplayFailed() {
    if (!catchingUp) {
      return;
    }
    counts.add(Event.REPLAY_FAILED);
    if (begun && !waiting.isEmpty()) {
      lost("a replay was not answered");
      last = -1;
      begun = false;
    }
    drain();
  }

  private void drain() {
    catchingUp = false;
    overflow = false;
    waitingBytes = 0;
    // A gap among them begins another replay, and the rest waits again.
    for (int left = waiting.size(); left > 0; left--) {
      Message message = waiting.removeFirst();
      if (message.sequence() > last || !begun) {
        onLive(message.sequence(), message.payload());
      } else {
        onLiveAgain(message);
      }
    }
  }

  /** It came live and in the replay, or is of a new process. */
  private void onLiveAgain(Message message) {
    if (decoder.seconds(message.payload()) > lastSeconds) {
      onLive(message.sequence(), message.payload());
    } else {
      counts.add(Event.DUPLICATE);
    }
  }

  private void begin(boolean empty) {
    begun = true;
    last = -1;
    lastSeconds = Double.NEGATIVE_INFINITY;
    sink.began(worker, rank, ranks, empty);
  }

  private void lost(String reason) {
    counts.add(Event.LOST);
    sink.lost(worker, rank, reason);
  }

  private void apply(long sequence, byte[] payload, long atNanos) {
    last = sequence;
    lastHash = Arrays.hashCode(payload);
    Decoded batch = decoder.decode(payload);
    if (batch == null) {
      lost("batch " + sequence + " cannot be decoded");
      return;
    }
    lastSeconds = Math.max(lastSeconds, batch.unixSeconds());
    if (!batch.changes().isEmpty()) {
      sink.changed(worker, rank, batch.changes(), atNanos);
    }
  }
}
