package dev.warmpath.simulator.events;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;

/**
 * Batches as MessagePack: {@code [seconds, events, rank]}, each event a map with named fields
 * (since 0.24) or an array that starts with its name (before).
 */
final class EventEncoder {
  private static final int RANK = 0;
  private static final String MEDIUM = "GPU";

  private EventEncoder() {}

  /**
   * One batch.
   *
   * @param maps events as maps instead of arrays
   * @param extraFields add fields that no reader knows yet
   */
  static byte[] encode(
      double unixSeconds, List<CacheEvent> events, boolean maps, boolean extraFields) {
    try (MessageBufferPacker out = MessagePack.newDefaultBufferPacker()) {
      out.packArrayHeader(3);
      out.packDouble(unixSeconds);
      out.packArrayHeader(events.size());
      for (CacheEvent event : events) {
        if (maps) {
          map(out, event, extraFields);
        } else {
          array(out, event, extraFields);
        }
      }
      out.packInt(RANK);
      return out.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException("a buffer in memory can't fail", e);
    }
  }

  private static void map(MessageBufferPacker out, CacheEvent event, boolean extra)
      throws IOException {
    int more = extra ? 1 : 0;
    switch (event) {
      case CacheEvent.BlockStored stored -> {
        out.packMapHeader(11 + more);
        field(out, "type", "BlockStored");
        out.packString("block_hashes");
        hashes(out, stored.hashes());
        out.packString("parent_block_hash");
        parent(out, stored.parent());
        out.packString("token_ids");
        tokenIds(out, stored.tokenIds());
        out.packString("block_size").packInt(stored.blockTokens());
        out.packString("lora_id").packNil();
        field(out, "medium", MEDIUM);
        out.packString("lora_name").packNil();
        out.packString("extra_keys");
        extraKeys(out, stored);
        out.packString("group_idx").packInt(0);
        field(out, "kv_cache_spec_kind", "full_attention");
      }
      case CacheEvent.BlockRemoved removed -> {
        out.packMapHeader(4 + more);
        field(out, "type", "BlockRemoved");
        out.packString("block_hashes");
        hashes(out, new long[] {removed.hash()});
        field(out, "medium", MEDIUM);
        out.packString("group_idx").packInt(0);
      }
      case CacheEvent.AllBlocksCleared cleared -> {
        out.packMapHeader(1 + more);
        field(out, "type", "AllBlocksCleared");
      }
      case CacheEvent.Unknown unknown -> {
        out.packMapHeader(1 + more);
        field(out, "type", "BlockPondered");
      }
    }
    if (extra) {
      out.packString("sim_unknown").packMapHeader(1).packString("nested").packInt(1);
    }
  }

  private static void array(MessageBufferPacker out, CacheEvent event, boolean extra)
      throws IOException {
    int more = extra ? 1 : 0;
    switch (event) {
      case CacheEvent.BlockStored stored -> {
        out.packArrayHeader(11 + more);
        out.packString("BlockStored");
        hashes(out, stored.hashes());
        parent(out, stored.parent());
        tokenIds(out, stored.tokenIds());
        out.packInt(stored.blockTokens());
        out.packNil();
        out.packString(MEDIUM);
        out.packNil();
        extraKeys(out, stored);
        out.packInt(0);
        out.packString("full_attention");
      }
      case CacheEvent.BlockRemoved removed -> {
        out.packArrayHeader(4 + more);
        out.packString("BlockRemoved");
        hashes(out, new long[] {removed.hash()});
        out.packString(MEDIUM);
        out.packInt(0);
      }
      case CacheEvent.AllBlocksCleared cleared -> {
        out.packArrayHeader(1 + more);
        out.packString("AllBlocksCleared");
      }
      case CacheEvent.Unknown unknown -> {
        out.packArrayHeader(1 + more);
        out.packString("BlockPondered");
      }
    }
    if (extra) {
      out.packMapHeader(1).packString("nested").packInt(1);
    }
  }

  private static void field(MessageBufferPacker out, String name, String value) throws IOException {
    out.packString(name).packString(value);
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

  private static void tokenIds(MessageBufferPacker out, int[] ids) throws IOException {
    out.packArrayHeader(ids.length);
    for (int id : ids) {
      out.packInt(id);
    }
  }

  /** One entry per block; only the first block of a sequence carries the salt. */
  private static void extraKeys(MessageBufferPacker out, CacheEvent.BlockStored stored)
      throws IOException {
    out.packArrayHeader(stored.hashes().length);
    for (int i = 0; i < stored.hashes().length; i++) {
      String salt = stored.cacheSalt();
      if (i == 0 && stored.parent() == null && salt != null) {
        out.packArrayHeader(1).packString(salt);
      } else {
        out.packNil();
      }
    }
  }
}
