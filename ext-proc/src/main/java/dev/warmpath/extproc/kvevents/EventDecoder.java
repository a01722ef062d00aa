package dev.warmpath.extproc.kvevents;

import dev.warmpath.extproc.kvcache.CacheChange;
import dev.warmpath.extproc.kvcache.TokenChain;
import dev.warmpath.extproc.kvevents.EventCounts.Event;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageFormat;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePackException;
import org.msgpack.core.MessageUnpacker;
import org.msgpack.value.ValueType;

/**
 * Reads a batch in any of the shapes that engines have used: the batch itself an array or a map,
 * each event an array that starts with its name or a map with a {@code type}. What it does not know
 * it skips and counts; versions are never asked for, because forks and backports break their order.
 *
 * <p>Not thread-safe.
 */
final class EventDecoder {
  /** No engine sends more in one step; protects from a length that is garbage. */
  private static final int MAX_ITEMS = 1 << 22;

  private static final long[] NO_LONGS = {};
  private static final int[] NO_INTS = {};

  /** Fields of an event, in the order of the array shape. */
  private static final List<String> STORED_FIELDS =
      List.of(
          "block_hashes",
          "parent_block_hash",
          "token_ids",
          "block_size",
          "lora_id",
          "medium",
          "lora_name",
          "extra_keys",
          "group_idx",
          "kv_cache_spec_kind",
          "kv_cache_spec_sliding_window",
          "locality");

  private static final List<String> REMOVED_FIELDS =
      List.of("block_hashes", "medium", "group_idx", "locality");

  private final EventCounts counts;

  // One event while it is read.
  private long[] hashes = NO_LONGS;
  private boolean rooted;
  private long parent;
  private int[] tokens = NO_INTS;
  private int blockTokens;
  private @Nullable String medium;
  private @Nullable String adapter;
  private @Nullable String kind;
  private List<List<Long>> extraKeys = List.of();
  private int group;

  /** The group that describes prefixes: the first full-attention one that was seen. */
  private int prefixGroup = -1;

  EventDecoder(EventCounts counts) {
    this.counts = counts;
  }

  /** Returns null, and counts, where the bytes are no batch. */
  @Nullable Decoded decode(byte[] payload) {
    try (MessageUnpacker in = MessagePack.newDefaultUnpacker(payload)) {
      double seconds = Double.NaN;
      List<CacheChange> changes = List.of();
      if (in.getNextFormat().getValueType() == ValueType.MAP) {
        int fields = in.unpackMapHeader();
        for (int i = 0; i < fields; i++) {
          switch (in.unpackString()) {
            case "ts" -> seconds = number(in);
            case "events" -> changes = events(in);
            default -> in.skipValue();
          }
        }
      } else {
        int fields = in.unpackArrayHeader();
        if (fields < 2) {
          throw new IOException("a batch of " + fields + " fields");
        }
        seconds = number(in);
        changes = events(in);
      }
      counts.add(Event.APPLIED);
      return new Decoded(seconds, changes);
    } catch (IOException | MessagePackException | IllegalArgumentException e) {
      counts.add(Event.UNDECODABLE);
      return null;
    }
  }

  /** Only the time of a batch; NaN where that cannot be read. */
  double seconds(byte[] payload) {
    try (MessageUnpacker in = MessagePack.newDefaultUnpacker(payload)) {
      if (in.getNextFormat().getValueType() == ValueType.MAP) {
        int fields = in.unpackMapHeader();
        for (int i = 0; i < fields; i++) {
          if (in.unpackString().equals("ts")) {
            return number(in);
          }
          in.skipValue();
        }
        return Double.NaN;
      }
      return in.unpackArrayHeader() == 0 ? Double.NaN : number(in);
    } catch (IOException | MessagePackException e) {
      return Double.NaN;
    }
  }

  private static double number(MessageUnpacker in) throws IOException {
    return in.getNextFormat().getValueType() == ValueType.FLOAT
        ? in.unpackDouble()
        : in.unpackLong();
  }

  private List<CacheChange> events(MessageUnpacker in) throws IOException {
    int count = in.unpackArrayHeader();
    List<CacheChange> changes = new ArrayList<>(Math.min(count, 1_024));
    for (int i = 0; i < count; i++) {
      clear();
      String type =
          in.getNextFormat().getValueType() == ValueType.MAP ? namedFields(in) : positions(in);
      CacheChange change = change(type);
      if (change != null) {
        changes.add(change);
      }
    }
    return changes;
  }

  private void clear() {
    hashes = NO_LONGS;
    rooted = true;
    parent = 0;
    tokens = NO_INTS;
    blockTokens = 0;
    medium = null;
    adapter = null;
    kind = null;
    extraKeys = List.of();
    group = 0;
  }

  private String namedFields(MessageUnpacker in) throws IOException {
    String type = "";
    int fields = in.unpackMapHeader();
    for (int i = 0; i < fields; i++) {
      String name = in.unpackString();
      if (name.equals("type")) {
        type = in.unpackString();
      } else {
        field(name, in);
      }
    }
    return type;
  }

  private String positions(MessageUnpacker in) throws IOException {
    int fields = in.unpackArrayHeader();
    String type = fields == 0 ? "" : in.unpackString();
    List<String> names =
        switch (type) {
          case "BlockStored" -> STORED_FIELDS;
          case "BlockRemoved" -> REMOVED_FIELDS;
          default -> List.of();
        };
    for (int i = 1; i < fields; i++) {
      field(i <= names.size() ? names.get(i - 1) : "", in);
    }
    return type;
  }

  private void field(String name, MessageUnpacker in) throws IOException {
    if (in.getNextFormat() == MessageFormat.NIL && !name.isEmpty()) {
      in.unpackNil();
      return;
    }
    switch (name) {
      case "block_hashes" -> hashes = hashes(in);
      case "parent_block_hash" -> {
        parent = hash(in);
        rooted = false;
      }
      case "token_ids" -> tokens = tokens(in);
      case "block_size" -> blockTokens = in.unpackInt();
      case "medium" -> medium = in.unpackString();
      case "lora_name" -> adapter = in.unpackString();
      case "extra_keys" -> extraKeys = extraKeys(in);
      case "group_idx" -> group = in.unpackInt();
      case "kv_cache_spec_kind" -> kind = in.unpackString();
      case "lora_id", "kv_cache_spec_sliding_window", "locality" -> in.skipValue();
      default -> {
        counts.add(Event.UNKNOWN_FIELD);
        in.skipValue();
      }
    }
  }

  private static int length(int items) throws IOException {
    if (items > MAX_ITEMS) {
      throw new IOException("a list of " + items);
    }
    return items;
  }

  private static long[] hashes(MessageUnpacker in) throws IOException {
    int count = length(in.unpackArrayHeader());
    long[] all = new long[Math.min(count, 1_024)];
    for (int i = 0; i < count; i++) {
      if (i == all.length) {
        all = Arrays.copyOf(all, Math.min(count, 2 * all.length));
      }
      all[i] = hash(in);
    }
    return all;
  }

  /** Signed, unsigned above 2^63, or the bytes of a digest: always the low 64 bits. */
  private static long hash(MessageUnpacker in) throws IOException {
    MessageFormat format = in.getNextFormat();
    if (format == MessageFormat.UINT64) {
      return in.unpackBigInteger().longValue();
    }
    if (format.getValueType() == ValueType.INTEGER) {
      return in.unpackLong();
    }
    int length = length(in.unpackBinaryHeader());
    byte[] digest = in.readPayload(length);
    long value = 0;
    for (int i = Math.max(0, length - Long.BYTES); i < length; i++) {
      value = (value << 8) | (digest[i] & 0xff);
    }
    return value;
  }

  private static int[] tokens(MessageUnpacker in) throws IOException {
    int count = length(in.unpackArrayHeader());
    int[] ids = new int[Math.min(count, 4_096)];
    for (int i = 0; i < count; i++) {
      if (i == ids.length) {
        ids = Arrays.copyOf(ids, Math.min(count, 2 * ids.length));
      }
      ids[i] = in.unpackInt();
    }
    return ids;
  }

  /** For each block the hashes of its parts; an empty list for a block without any. */
  private List<List<Long>> extraKeys(MessageUnpacker in) throws IOException {
    int count = length(in.unpackArrayHeader());
    List<List<Long>> all = new ArrayList<>(Math.min(count, 1_024));
    for (int i = 0; i < count; i++) {
      if (in.tryUnpackNil()) {
        all.add(List.of());
      } else {
        int parts = length(in.unpackArrayHeader());
        List<Long> ofBlock = new ArrayList<>(Math.min(parts, 16));
        for (int part = 0; part < parts; part++) {
          boolean text = in.getNextFormat().getValueType() == ValueType.STRING;
          ofBlock.add(
              text
                  ? TokenChain.text(in.unpackString())
                  : TokenChain.text(in.unpackValue().toJson()));
        }
        all.add(ofBlock);
      }
    }
    return all;
  }

  private @Nullable CacheChange change(String type) {
    return switch (type) {
      case "AllBlocksCleared" -> {
        counts.add(Event.CLEARED);
        yield new CacheChange.Cleared();
      }
      case "BlockStored" -> {
        if (!inMemory()) {
          yield null;
        }
        if (!contiguous(kind)) {
          counts.add(Event.OTHER_GROUP);
          yield new CacheChange.Sparse();
        }
        if (prefixGroup < 0 || group < prefixGroup) {
          prefixGroup = group;
        }
        if (!ofPrefixGroup() || blockTokens <= 0) {
          yield null;
        }
        counts.add(Event.STORED, hashes.length);
        long adapterHash = adapter == null ? 0 : TokenChain.text(adapter);
        yield new CacheChange.Stored(
            hashes, rooted, parent, tokens, blockTokens, adapterHash, extras(adapterHash));
      }
      case "BlockRemoved" -> {
        if (!inMemory() || !ofPrefixGroup()) {
          yield null;
        }
        counts.add(Event.REMOVED, hashes.length);
        yield new CacheChange.Removed(hashes);
      }
      default -> {
        counts.add(Event.UNKNOWN_EVENT);
        yield null;
      }
    };
  }

  private boolean inMemory() {
    if (medium == null || medium.equals("GPU")) {
      return true;
    }
    counts.add(Event.OTHER_MEDIUM);
    return false;
  }

  private boolean ofPrefixGroup() {
    if (prefixGroup < 0 || group == prefixGroup) {
      return true;
    }
    counts.add(Event.OTHER_GROUP);
    return false;
  }

  /** Kinds whose blocks are a contiguous prefix; engines before 0.22 tell no kind. */
  private static boolean contiguous(@Nullable String kind) {
    return kind == null
        || kind.equals("full_attention")
        || kind.equals("mla_attention")
        || kind.equals("sink_full_attention");
  }

  /** The adapter's name is part of the chain's root already. */
  private long[] extras(long adapterHash) {
    if (extraKeys.isEmpty()) {
      return NO_LONGS;
    }
    long[] all = new long[hashes.length];
    for (int i = 0; i < Math.min(all.length, extraKeys.size()); i++) {
      all[i] = TokenChain.extra(extraKeys.get(i).stream().filter(p -> p != adapterHash).toList());
    }
    return all;
  }

  /** The sequence number in a frame, or -1 where it is none. */
  static long sequence(byte[] frame) {
    if (frame.length != Long.BYTES) {
      return -1;
    }
    long value = 0;
    for (byte b : frame) {
      value = (value << 8) | (b & 0xff);
    }
    return value;
  }
}
