package dev.warmpath.extproc.kvevents;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;

/** Writes batches in the shapes that engines use. */
final class Batches {
  static final int BLOCK = 4;

  /** One event to write. */
  sealed interface Event {
    @SuppressWarnings("ArrayRecordComponent")
    record Stored(long[] hashes, @Nullable Long parent, int[] tokens) implements Event {}

    record Removed(long hash) implements Event {}

    record Cleared() implements Event {}

    record Strange() implements Event {}
  }

  private Batches() {}

  static byte[] encode(double seconds, List<Event> events, boolean maps) {
    try (MessageBufferPacker out = MessagePack.newDefaultBufferPacker()) {
      out.packArrayHeader(3).packDouble(seconds).packArrayHeader(events.size());
      for (Event event : events) {
        if (maps) {
          map(out, event);
        } else {
          array(out, event);
        }
      }
      out.packNil();
      return out.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void map(MessageBufferPacker out, Event event) throws IOException {
    switch (event) {
      case Event.Stored stored -> {
        out.packMapHeader(6).packString("type").packString("BlockStored");
        out.packString("block_hashes");
        hashes(out, stored.hashes());
        out.packString("parent_block_hash");
        parent(out, stored.parent());
        out.packString("token_ids");
        tokens(out, stored.tokens());
        out.packString("block_size").packInt(BLOCK);
        out.packString("of_the_future").packMapHeader(1).packInt(1).packArrayHeader(0);
      }
      case Event.Removed removed -> {
        out.packMapHeader(3).packString("type").packString("BlockRemoved");
        out.packString("block_hashes");
        hashes(out, new long[] {removed.hash()});
        out.packString("medium").packString("GPU");
      }
      case Event.Cleared cleared ->
          out.packMapHeader(1).packString("type").packString("AllBlocksCleared");
      case Event.Strange strange ->
          out.packMapHeader(1).packString("type").packString("BlockPondered");
    }
  }

  private static void array(MessageBufferPacker out, Event event) throws IOException {
    switch (event) {
      case Event.Stored stored -> {
        out.packArrayHeader(5).packString("BlockStored");
        hashes(out, stored.hashes());
        parent(out, stored.parent());
        tokens(out, stored.tokens());
        out.packInt(BLOCK);
      }
      case Event.Removed removed -> {
        out.packArrayHeader(2).packString("BlockRemoved");
        hashes(out, new long[] {removed.hash()});
      }
      case Event.Cleared cleared -> out.packArrayHeader(1).packString("AllBlocksCleared");
      case Event.Strange strange -> out.packArrayHeader(2).packString("BlockPondered").packInt(7);
    }
  }

  private static void hashes(MessageBufferPacker out, long[] hashes) throws IOException {
    out.packArrayHeader(hashes.length);
    for (long hash : hashes) {
      hash(out, hash);
    }
  }

  private static void parent(MessageBufferPacker out, @Nullable Long parent) throws IOException {
    if (parent == null) {
      out.packNil();
    } else {
      hash(out, parent);
    }
  }

  private static void hash(MessageBufferPacker out, long hash) throws IOException {
    if (hash >= 0) {
      out.packLong(hash);
    } else {
      out.packBigInteger(new BigInteger(Long.toUnsignedString(hash)));
    }
  }

  private static void tokens(MessageBufferPacker out, int[] tokens) throws IOException {
    out.packArrayHeader(tokens.length);
    for (int token : tokens) {
      out.packInt(token);
    }
  }
}
