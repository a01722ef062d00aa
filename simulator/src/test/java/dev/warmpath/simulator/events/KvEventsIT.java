package dev.warmpath.simulator.events;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.simulator.Simulator;
import dev.warmpath.simulator.SimulatorOptions;
import dev.warmpath.simulator.SimulatorOptions.KvEventOptions;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessageUnpacker;
import org.msgpack.value.Value;
import org.msgpack.value.ValueFactory;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class KvEventsIT {
  private static final int PATIENCE_MILLIS = 20_000;
  private static final SimulatorOptions OPTIONS =
      SimulatorOptions.defaults().withProfile("tiny").withServedModelNames("tiny");

  private final HttpClient http = HttpClient.newHttpClient();

  @Test
  void liveMessagesHaveTheFramesAndFieldsOfTheCapturedOnes() throws Exception {
    try (Simulator simulator = start(KvEventOptions.defaults());
        ZContext context = new ZContext()) {
      ZMQ.Socket live = subscribe(context, simulator);
      List<byte[]> first = firstMessage(simulator, live);
      List<byte[]> captured = captured("zmq_live.jsonl").getFirst();

      assertThat(first).hasSize(captured.size()).hasSize(3);
      assertThat(first.get(0)).isEqualTo(captured.get(0));
      assertThat(first.get(1)).hasSize(8);
      Value batch = unpack(first.get(2));
      Value capturedBatch = unpack(captured.get(2));
      assertThat(batch.asArrayValue().get(0).isFloatValue()).isTrue();
      assertThat(batch.asArrayValue().get(2)).isEqualTo(capturedBatch.asArrayValue().get(2));
      assertThat(fields(event(batch))).isEqualTo(fields(event(capturedBatch)));
      assertThat(member(batch, "kv_cache_spec_kind"))
          .isEqualTo(member(capturedBatch, "kv_cache_spec_kind"));
      int blocks = member(batch, "block_hashes").asArrayValue().size();
      assertThat(member(batch, "token_ids").asArrayValue().size()).isEqualTo(blocks * 16);
      assertThat(member(batch, "extra_keys").asArrayValue().size()).isEqualTo(blocks);
    }
  }

  @Test
  void hashesOfALongerConversationContinueThoseOfTheShorterOne() throws Exception {
    try (Simulator simulator = start(KvEventOptions.defaults());
        ZContext context = new ZContext()) {
      ZMQ.Socket live = subscribe(context, simulator);
      firstMessage(simulator, live);

      chat(simulator, "river ".repeat(100), ",\"cache_salt\":\"tenant-a\"");
      Value stored = unpack(receive(live).get(2));
      chat(simulator, "river ".repeat(100) + "stone ".repeat(100), ",\"cache_salt\":\"tenant-a\"");
      Value continued = nextStored(live);

      assertThat(member(stored, "parent_block_hash").isNilValue()).isTrue();
      assertThat(member(stored, "extra_keys").toString()).startsWith("[[\"tenant-a\"],null");
      assertThat(member(stored, "block_hashes").asArrayValue().list())
          .contains(member(continued, "parent_block_hash"));
    }
  }

  @Test
  void replayAnswersWithEverythingFromTheAskedSequenceAndAnEnd() throws Exception {
    for (boolean withTopic : new boolean[] {true, false}) {
      try (Simulator simulator =
              start(new KvEventOptions(0, 0, "kv-events", withTopic, withTopic, 10_000));
          ZContext context = new ZContext()) {
        for (int i = 0; i < 3; i++) {
          chat(simulator, ("letter " + i + " ").repeat(60), "");
        }
        List<List<byte[]>> captured = captured("zmq_replay.jsonl");
        int frames = withTopic ? captured.getFirst().size() : 3;

        List<List<byte[]>> replayed = replay(context, simulator, 1);

        assertThat(replayed).allSatisfy(message -> assertThat(message).hasSize(frames));
        assertThat(sequence(replayed.getFirst())).isEqualTo(1);
        List<byte[]> end = replayed.getLast();
        if (withTopic) {
          assertThat(end).usingRecursiveComparison().isEqualTo(captured.get(captured.size() - 1));
        }
        assertThat(replay(context, simulator, 1_000_000)).hasSize(1);
      }
    }
  }

  @Test
  void olderEncodingIsAnArrayThatStartsWithTheName() throws Exception {
    try (Simulator simulator = start(new KvEventOptions(0, 0, "", false, false, 100));
        ZContext context = new ZContext()) {
      chat(simulator, "window ".repeat(60), "");

      Value batch = unpack(replay(context, simulator, 0).getFirst().getLast());

      Value event = batch.asArrayValue().get(1).asArrayValue().get(0);
      assertThat(event.asArrayValue().get(0).toString()).isEqualTo("BlockStored");
      assertThat(event.asArrayValue().get(4).asIntegerValue().asInt()).isEqualTo(16);
      assertThat(event.asArrayValue().get(6).toString()).isEqualTo("GPU");
    }
  }

  @Test
  void clearingIsToldAndARestartStartsAgainAtZero() throws Exception {
    try (Simulator simulator = start(KvEventOptions.defaults());
        ZContext context = new ZContext()) {
      ZMQ.Socket live = subscribe(context, simulator);
      firstMessage(simulator, live);

      fault(simulator, "{\"kind\":\"clear_cache\"}");
      List<byte[]> cleared = receive(live);
      while (!unpack(cleared.get(2)).toString().contains("AllBlocksCleared")) {
        cleared = receive(live);
      }
      assertThat(sequence(cleared)).isPositive();

      fault(simulator, "{\"kind\":\"restart_cold\"}");
      chat(simulator, "garden ".repeat(60), "");
      assertThat(sequence(receive(live))).isZero();
    }
  }

  @Test
  void stormHasGapsThatReplayFillsDuplicatesAndUnknownThings() throws Exception {
    try (Simulator simulator = start(KvEventOptions.defaults());
        ZContext context = new ZContext()) {
      ZMQ.Socket live = subscribe(context, simulator);
      long start = sequence(firstMessage(simulator, live));

      fault(
          simulator,
          "{\"kind\":\"event_storm\",\"batches\":300,\"blocks_per_batch\":4,\"gap_every\":10,\"duplicate_every\":7,\"unknown\":true,\"both_encodings\":true}");

      List<Long> seen = new ArrayList<>();
      boolean unknown = false;
      boolean array = false;
      while (seen.isEmpty() || seen.getLast() < start + 299) {
        List<byte[]> message = receive(live);
        if (sequence(message) > start) {
          seen.add(sequence(message));
          String text = unpack(message.get(2)).toString();
          unknown |= text.contains("BlockPondered");
          array |= text.contains("[\"BlockStored\"");
        }
      }
      Set<Long> distinct = new HashSet<>(seen);
      assertThat(unknown && array).isTrue();
      assertThat(seen).hasSizeGreaterThan(distinct.size());
      assertThat(distinct.size()).isBetween(260, 275);
      Set<Long> replayed = new TreeSet<>();
      for (List<byte[]> message : replay(context, simulator, start + 1)) {
        replayed.add(sequence(message));
      }
      assertThat(replayed).hasSize(301);
    }
  }

  private Simulator start(KvEventOptions events) throws InterruptedException {
    return Simulator.start(OPTIONS.withKvEvents(events));
  }

  /** Asks until a message arrives: a subscriber misses what was sent before it was connected. */
  private List<byte[]> firstMessage(Simulator simulator, ZMQ.Socket live) throws Exception {
    live.setReceiveTimeOut(200);
    for (int i = 1; i < 100; i++) {
      chat(simulator, ("planet " + i + " ").repeat(60), "");
      byte[] topic = live.recv();
      if (topic != null) {
        List<byte[]> message = new ArrayList<>(List.of(topic));
        while (live.hasReceiveMore()) {
          message.add(live.recv());
        }
        live.setReceiveTimeOut(PATIENCE_MILLIS);
        return message;
      }
      if (i % 10 == 0) {
        // Once in a while a JeroMQ connection stays deaf; a new one hears.
        String endpoint = source(simulator, "endpoint");
        live.disconnect(endpoint);
        live.connect(endpoint);
      }
    }
    throw new AssertionError("no event arrived");
  }

  private Value nextStored(ZMQ.Socket live) throws IOException {
    while (true) {
      Value batch = unpack(receive(live).get(2));
      if (!member(batch, "parent_block_hash").isNilValue()
          && member(batch, "token_ids").asArrayValue().size() > 5 * 16) {
        return batch;
      }
    }
  }

  private ZMQ.Socket subscribe(ZContext context, Simulator simulator) throws Exception {
    ZMQ.Socket live = context.createSocket(SocketType.SUB);
    live.setReceiveTimeOut(PATIENCE_MILLIS);
    // In this order: the other way round JeroMQ loses the subscription once in a hundred times.
    live.connect(source(simulator, "endpoint"));
    live.subscribe("kv-");
    return live;
  }

  /** Asks again over a new connection if one stays deaf, as JeroMQ's do once in a while. */
  private List<List<byte[]>> replay(ZContext context, Simulator simulator, long from)
      throws Exception {
    String endpoint = source(simulator, "replay_endpoint");
    for (int attempt = 0; attempt < 5; attempt++) {
      try (ZMQ.Socket dealer = context.createSocket(SocketType.DEALER)) {
        dealer.setReceiveTimeOut(PATIENCE_MILLIS / 5);
        dealer.connect(endpoint);
        dealer.send(new byte[0], ZMQ.SNDMORE);
        dealer.send(ByteBuffer.allocate(8).putLong(from).array());
        byte[] first = dealer.recv();
        if (first == null) {
          continue;
        }
        List<List<byte[]>> messages = new ArrayList<>();
        messages.add(rest(dealer, first));
        while (sequence(messages.getLast()) != -1) {
          messages.add(receive(dealer));
        }
        return messages;
      }
    }
    throw new AssertionError("no replay from " + endpoint);
  }

  private static List<byte[]> rest(ZMQ.Socket socket, byte[] first) {
    List<byte[]> frames = new ArrayList<>(List.of(first));
    while (socket.hasReceiveMore()) {
      frames.add(socket.recv());
    }
    return frames;
  }

  private static List<byte[]> receive(ZMQ.Socket socket) {
    List<byte[]> frames = new ArrayList<>();
    do {
      byte[] frame = socket.recv();
      assertThat(frame).as("a message within the time limit").isNotNull();
      frames.add(frame);
    } while (socket.hasReceiveMore());
    return frames;
  }

  /** The frame before the last one. */
  private static long sequence(List<byte[]> message) {
    return ByteBuffer.wrap(message.get(message.size() - 2)).getLong();
  }

  private String source(Simulator simulator, String field) throws Exception {
    HttpResponse<String> page =
        http.send(
            HttpRequest.newBuilder(URI.create(simulator.uri() + "/kv_event_sources")).build(),
            HttpResponse.BodyHandlers.ofString());
    return JsonMapper.shared().readTree(page.body()).path("0").path(field).asString();
  }

  private void chat(Simulator simulator, String text, String fields) throws Exception {
    post(
        simulator,
        "/v1/chat/completions",
        "{\"model\":\"tiny\",\"max_tokens\":2,\"messages\":[{\"role\":\"user\",\"content\":\""
            + text
            + "\"}]"
            + fields
            + "}");
  }

  private void fault(Simulator simulator, String body) throws Exception {
    post(simulator, "/_sim/fault", body);
  }

  private void post(Simulator simulator, String path, String body) throws Exception {
    HttpResponse<String> response =
        http.send(
            HttpRequest.newBuilder(URI.create(simulator.uri() + path))
                .header("content-type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build(),
            HttpResponse.BodyHandlers.ofString());
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
  }

  private static Value unpack(byte[] payload) throws IOException {
    try (MessageUnpacker unpacker = MessagePack.newDefaultUnpacker(payload)) {
      return unpacker.unpackValue();
    }
  }

  private static Value event(Value batch) {
    return batch.asArrayValue().get(1).asArrayValue().get(0);
  }

  private static Value member(Value batch, String name) {
    Value value = event(batch).asMapValue().map().get(ValueFactory.newString(name));
    if (value == null) {
      throw new AssertionError("no field " + name + " in " + batch);
    }
    return value;
  }

  private static List<String> fields(Value event) {
    List<String> names = new ArrayList<>();
    event.asMapValue().map().keySet().forEach(key -> names.add(key.toString()));
    return names;
  }

  private static List<List<byte[]>> captured(String name) throws IOException {
    try (InputStream in = KvEventsIT.class.getResourceAsStream("/vllm-0.32.0/" + name)) {
      assertThat(in).as(name).isNotNull();
      List<List<byte[]>> messages = new ArrayList<>();
      for (String line : new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList()) {
        List<byte[]> frames = new ArrayList<>();
        for (JsonNode frame : JsonMapper.shared().readTree(line).path("hex")) {
          frames.add(HexFormat.of().parseHex(frame.stringValue()));
        }
        messages.add(frames);
      }
      return messages;
    }
  }
}
