package dev.warmpath.extproc.kvevents;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.extproc.kvcache.BlockLedger;
import dev.warmpath.extproc.kvcache.CacheChange;
import dev.warmpath.extproc.kvcache.TokenChain;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class EventDecoderTest {
  private static final String SAMPLES = "simulator/src/test/resources/vllm-0.32.0";

  private final EventCounts counts = new EventCounts();
  private final EventDecoder decoder = new EventDecoder(counts);

  @Test
  void capturedBatchesOfARealEngineMakeAWholeLedger() throws Exception {
    BlockLedger ledger = new BlockLedger(1 << 16);
    ledger.reset(true);
    List<CacheChange.Stored> stored = new ArrayList<>();
    for (byte[] payload : captured("zmq_replay.jsonl")) {
      Decoded batch = Objects.requireNonNull(decoder.decode(payload));
      for (CacheChange change : batch.changes()) {
        if (change instanceof CacheChange.Stored blocks) {
          ledger.stored(blocks, 0);
          stored.add(blocks);
        }
      }
    }

    CacheChange.Stored first = stored.getFirst();
    long[] chain = TokenChain.of(first.tokens(), 32, 0, 0);
    assertThat(first.rooted()).isTrue();
    assertThat(first.blockTokens()).isEqualTo(32);
    assertThat(chain).hasSameSizeAs(first.hashes());
    assertThat(ledger.match(chain)).isEqualTo(chain.length);
    assertThat(ledger.orphans()).isZero();
    assertThat(counts.of(EventCounts.Event.UNKNOWN_FIELD)).isZero();
    assertThat(counts.of(EventCounts.Event.UNDECODABLE)).isZero();
  }

  @Test
  void aSaltedPromptOfARealEngineIsAnotherOne() throws Exception {
    List<CacheChange.Stored> rooted = new ArrayList<>();
    for (byte[] payload : captured("zmq_live_stored_decode_salt_evict.jsonl")) {
      Decoded batch = Objects.requireNonNull(decoder.decode(payload));
      batch
          .changes()
          .forEach(change -> {
            if (change instanceof CacheChange.Stored blocks && blocks.rooted()) {
              rooted.add(blocks);
            }
          });
    }
    CacheChange.Stored plain = rooted.get(0);
    CacheChange.Stored salted = rooted.get(1);
    BlockLedger ledger = new BlockLedger(1 << 10);
    ledger.reset(true);
    ledger.stored(plain, 0);
    ledger.stored(salted, 0);

    long salt = TokenChain.extra(List.of(TokenChain.text("tenant-a")));
    long[] own = TokenChain.of(salted.tokens(), 32, 0, salt);
    long[] others = TokenChain.of(salted.tokens(), 32, 0, 99);

    assertThat(salted.tokens()).startsWith(Arrays.copyOf(plain.tokens(), 32));
    assertThat(ledger.match(own)).isEqualTo(salted.hashes().length);
    assertThat(ledger.match(others)).isZero();
    assertThat(ledger.match(TokenChain.of(plain.tokens(), 32, 0, 0)))
        .isEqualTo(plain.hashes().length);
  }

  @Test
  void bytesThatAreNoBatchAreCountedAndNothingElse() {
    SplittableRandom random = new SplittableRandom(1);
    byte[] whole =
        Batches.encode(
            1,
            List.of(
                new Batches.Event.Stored(new long[] {-1, 2}, null, new int[8]),
                new Batches.Event.Removed(5),
                new Batches.Event.Cleared()),
            true);
    long undecodable = 0;
    for (int i = 0; i < 20_000; i++) {
      byte[] bytes = whole.clone();
      if (i % 2 == 0) {
        bytes = Arrays.copyOf(whole, random.nextInt(whole.length));
      }
      for (int flips = random.nextInt(4); flips > 0 && bytes.length > 0; flips--) {
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
      }
      undecodable += decoder.decode(bytes) == null ? 1 : 0;
    }

    assertThat(undecodable).isGreaterThan(5_000);
    assertThat(counts.of(EventCounts.Event.UNDECODABLE)).isEqualTo(undecodable);
    assertThat(counts.of(EventCounts.Event.APPLIED)).isEqualTo(20_000 - undecodable);
  }

  @Test
  void sourcesAreReadFromThePageOfARealServerAndFromItsOtherShape() {
    String real =
        "{\"0\":{\"endpoint\":\"tcp://127.0.0.1:18501\","
            + "\"replay_endpoint\":\"tcp://127.0.0.1:18502\",\"topic\":\"kv-events\"}}";
    String other =
        "{\"sources\":{\"1\":{\"endpoint\":\"tcp://*:5558\",\"replay_endpoint\":null},"
            + "\"0\":{\"endpoint\":\"tcp://[::]:5557\"}}}";

    assertThat(EventSource.listed("10.0.0.7", real))
        .containsExactly(new EventSource("tcp://10.0.0.7:18501", "tcp://10.0.0.7:18502"));
    assertThat(EventSource.listed("10.0.0.7", other))
        .containsExactly(
            new EventSource("tcp://10.0.0.7:5557", null),
            new EventSource("tcp://10.0.0.7:5558", null));
    assertThat(EventSource.listed("10.0.0.7", "no JSON")).isEmpty();
  }

  static List<byte[]> captured(String name) throws IOException {
    List<byte[]> payloads = new ArrayList<>();
    Path folder = Path.of("").toAbsolutePath();
    while (!Files.exists(folder.resolve(SAMPLES))) {
      folder = Objects.requireNonNull(folder.getParent(), SAMPLES);
    }
    for (String line : Files.readAllLines(folder.resolve(SAMPLES).resolve(name))) {
      JsonNode frames = JsonMapper.shared().readTree(line).path("hex");
      byte[] payload = HexFormat.of().parseHex(frames.get(frames.size() - 1).asString());
      if (payload.length > 0) {
        payloads.add(payload);
      }
    }
    return payloads;
  }
}
