package dev.warmpath.envoy;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import dev.warmpath.crds.config.GatewayNames;
import io.envoyproxy.envoy.data.accesslog.v3.HTTPAccessLogEntry;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The usage filter in a real Envoy: what it reports, and that it leaves bytes and timing alone. */
final class UsageFilterIT {
  private static final String USAGE_EVENT =
      "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"choices\":[],\"usage\":{"
          + "\"prompt_tokens\":120,\"total_tokens\":127,\"completion_tokens\":7,"
          + "\"prompt_tokens_details\":{\"cached_tokens\":96}}}\n\n";
  private static final List<String> CHAT =
      List.of(
          "data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\"}}]}\n\n",
          "data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Gr\u00fc\u00dfe"
              + " \\\"usage\\\":{\\\"prompt_tokens\\\":9} data: [DONE]\"}}]}\n\n",
          ": comment\n\n",
          "data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
          USAGE_EVENT,
          "data: [DONE]\n\n");
  private static final Map<String, Object> CHAT_USAGE =
      Map.of("prompt_tokens", 120.0, "cached_tokens", 96.0, "completion_tokens", 7.0, "done", true);

  @TempDir static Path directory;

  private static Gateway gateway;

  @BeforeAll
  static void start() throws Exception {
    gateway = new Gateway(directory);
  }

  @AfterAll
  static void stop() throws Exception {
    gateway.close();
  }

  @SuppressWarnings("ArrayRecordComponent") // wire bytes; never compared
  private record Result(byte[] body, String decisionId) {}

  private static Result stream(List<byte[]> pieces, boolean strip) throws Exception {
    gateway
        .processor()
        .decision(request -> {
          FakeProcessor.Answer answer = FakeProcessor.Answer.cluster(Gateway.POOL);
          return strip ? answer.stripped() : answer;
        });
    gateway.pool.script((request, writer) -> writePieces(writer, pieces));
    HttpResponse<byte[]> response = gateway.post("/v1/chat/completions", "{}");
    assertThat(response.statusCode()).isEqualTo(200);
    return new Result(
        response.body(), response.headers().firstValue(GatewayNames.DECISION_HEADER).orElseThrow());
  }

  private static Map<String, Object> usage(String decisionId) {
    HTTPAccessLogEntry entry = gateway.logged(decisionId);
    Struct struct =
        entry
            .getCommonProperties()
            .getMetadata()
            .getFilterMetadataOrDefault(GatewayNames.USAGE_NAMESPACE, Struct.getDefaultInstance());
    Map<String, Object> out = new TreeMap<>();
    struct.getFieldsMap().forEach((key, value) -> out.put(key, plain(value)));
    return out;
  }

  private static Object plain(Value value) {
    return value.getKindCase() == Value.KindCase.BOOL_VALUE
        ? (Object) value.getBoolValue()
        : (Object) value.getNumberValue();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static List<byte[]> split(byte[] all, int... at) {
    List<byte[]> out = new ArrayList<>();
    int from = 0;
    for (int to : at) {
      out.add(java.util.Arrays.copyOfRange(all, from, to));
      from = to;
    }
    out.add(java.util.Arrays.copyOfRange(all, from, all.length));
    return out;
  }

  @Test
  void streamSplitAtEveryByteIsReadAndKeptWhole() throws Exception {
    splitAtEveryByte(String.join("", CHAT), String.join("", CHAT), false);
  }

  @Test
  void usageChunkIsRemovedAtEverySplitAndNothingElse() throws Exception {
    String all = String.join("", CHAT);
    String expected = all.replace(USAGE_EVENT, "");
    splitAtEveryByte(all, expected, true);
    splitAtEveryByte(all.replace("\n", "\r\n"), expected.replace("\n", "\r\n"), true);
  }

  private static void splitAtEveryByte(String text, String expected, boolean strip)
      throws Exception {
    byte[] all = bytes(text);
    FakeProcessor.Answer answer = FakeProcessor.Answer.cluster(Gateway.POOL);
    gateway.processor().decision(request -> strip ? answer.stripped() : answer);
    gateway.pool.script((request, writer) -> {
      int at = Integer.parseInt(request.headers().getOrDefault("test-split", "0"));
      writePieces(writer, split(all, at));
    });
    List<CompletableFuture<HttpResponse<byte[]>>> responses = new ArrayList<>();
    Semaphore concurrent = new Semaphore(16);
    for (int at = 1; at < all.length; at++) {
      HttpRequest request =
          gateway
              .request("/v1/chat/completions")
              .header("test-split", Integer.toString(at))
              .POST(HttpRequest.BodyPublishers.ofString("{}"))
              .build();
      concurrent.acquire();
      responses.add(
          gateway
              .client()
              .sendAsync(request, HttpResponse.BodyHandlers.ofByteArray())
              .whenComplete((response, failure) -> concurrent.release()));
    }
    for (int i = 0; i < responses.size(); i++) {
      HttpResponse<byte[]> response = responses.get(i).get(60, TimeUnit.SECONDS);
      assertThat(new String(response.body(), StandardCharsets.UTF_8))
          .as("split at %d", i + 1)
          .isEqualTo(expected);
      assertThat(usage(response.headers().firstValue(GatewayNames.DECISION_HEADER).orElseThrow()))
          .isEqualTo(CHAT_USAGE);
    }
  }

  private static void writePieces(FakeUpstream.Writer writer, List<byte[]> pieces)
      throws IOException, InterruptedException {
    writer.stream("");
    for (byte[] piece : pieces) {
      writer.chunk(piece);
      if (pieces.size() > 1) {
        // Keeps the pieces apart on their way through the kernel and Envoy's read buffer.
        TimeUnit.MICROSECONDS.sleep(700);
      }
    }
    writer.end();
  }

  @Test
  void randomPiecesOfRandomStreamsKeepTheirBytes() throws Exception {
    long seed = 20261129;
    Random random = new Random(seed);
    for (int run = 0; run < 60; run++) {
      String newline = random.nextBoolean() ? "\n" : "\r\n";
      StringBuilder text = new StringBuilder();
      StringBuilder expected = new StringBuilder();
      for (int event = 0; event < 12; event++) {
        String one = CHAT.get(random.nextInt(CHAT.size())).replace("\n", newline);
        text.append(one);
        expected.append(one.contains("\"choices\":[]") ? "" : one);
      }
      if (random.nextBoolean()) {
        text.append("data: no end");
        expected.append("data: no end");
      }
      byte[] all = bytes(text.toString());
      int[] at = random.ints(random.nextInt(40), 0, all.length).sorted().distinct().toArray();
      boolean strip = random.nextBoolean();
      assertThat(new String(stream(split(all, at), strip).body(), StandardCharsets.UTF_8))
          .as("seed %d run %d", seed, run)
          .isEqualTo(strip ? expected.toString() : text.toString());
    }
  }

  @Test
  void bytewiseStreamWorks() throws Exception {
    byte[] all = bytes(String.join("", CHAT));
    int[] at = java.util.stream.IntStream.range(1, all.length).toArray();
    Result result = stream(split(all, at), true);
    assertThat(result.body()).isEqualTo(bytes(String.join("", CHAT).replace(USAGE_EVENT, "")));
    assertThat(usage(result.decisionId())).isEqualTo(CHAT_USAGE);
  }

  @Test
  void completeEventsAreNeverDelayed() throws Exception {
    CountDownLatch[] read = new CountDownLatch[CHAT.size()];
    java.util.Arrays.setAll(read, i -> new CountDownLatch(1));
    gateway.processor().decision(request -> FakeProcessor.Answer.cluster(Gateway.POOL).stripped());
    gateway.pool.script((request, writer) -> {
      writer.stream("");
      for (int i = 0; i < CHAT.size(); i++) {
        writer.chunk(CHAT.get(i));
        if (!CHAT.get(i).equals(USAGE_EVENT) && !read[i].await(30, TimeUnit.SECONDS)) {
          return; // The client did not get it: its read fails.
        }
      }
      writer.end();
    });
    HttpRequest request =
        gateway
            .request("/v1/chat/completions")
            .POST(HttpRequest.BodyPublishers.ofString("{}"))
            .build();
    HttpResponse<InputStream> response =
        gateway.client().send(request, HttpResponse.BodyHandlers.ofInputStream());
    try (InputStream in = response.body()) {
      for (int i = 0; i < CHAT.size(); i++) {
        if (!CHAT.get(i).equals(USAGE_EVENT)) {
          byte[] event = bytes(CHAT.get(i));
          assertThat(in.readNBytes(event.length)).isEqualTo(event);
          read[i].countDown();
        }
      }
      assertThat(in.read()).isEqualTo(-1);
    }
  }

  @Test
  void anthropicCountsComeFromTheLastEvent() throws Exception {
    Result result =
        stream(
            List.of(
                bytes(
                    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\","
                        + "\"content\":[],\"usage\":{\"input_tokens\":508,\"output_tokens\":0}}}\n\n"),
                bytes(
                    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,"
                        + "\"delta\":{\"type\":\"text_delta\",\"text\":\"message_stop\"}}\n\n"),
                bytes(
                    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"
                        + "\"end_turn\"},\"usage\":{\"input_tokens\":28,\"output_tokens\":5,"
                        + "\"cache_read_input_tokens\":480}}\n\n"),
                bytes("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")),
            true);
    assertThat(usage(result.decisionId()))
        .isEqualTo(
            Map.of(
                "prompt_tokens",
                508.0,
                "cached_tokens",
                480.0,
                "completion_tokens",
                5.0,
                "done",
                true));
  }

  @Test
  void anthropicDeltaWithoutInputKeepsTheStart() throws Exception {
    Result result =
        stream(
            List.of(
                bytes(
                    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{"
                        + "\"input_tokens\":10,\"cache_read_input_tokens\":90,"
                        + "\"cache_creation_input_tokens\":20,\"output_tokens\":1}}}\n\n"),
                bytes(
                    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{},\"usage\":{"
                        + "\"output_tokens\":5}}\n\n")),
            false);
    assertThat(usage(result.decisionId()))
        .isEqualTo(Map.of("prompt_tokens", 120.0, "cached_tokens", 90.0, "completion_tokens", 5.0));
  }

  @Test
  void responsesEventLargerThanTheLimitIsPassedOnAndItsTailRead() throws Exception {
    String completed =
        "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"error\":null,"
            + "\"output\":[{\"text\":\""
            + "word ".repeat(60_000)
            + "\"}],\"usage\":{\"input_tokens\":300,\"input_tokens_details\":{\"cached_tokens\":256},"
            + "\"output_tokens\":40},\"user\":null}}\n\n";
    byte[] all = bytes("event: response.created\ndata: {\"type\":\"x\"}\n\n" + completed);
    for (boolean strip : List.of(true, false)) {
      Result result = stream(split(all, 5, 70_000, 70_001, 200_000, all.length - 30), strip);
      assertThat(result.body()).isEqualTo(all);
      assertThat(usage(result.decisionId()))
          .isEqualTo(
              Map.of(
                  "prompt_tokens",
                  300.0,
                  "cached_tokens",
                  256.0,
                  "completion_tokens",
                  40.0,
                  "done",
                  true));
    }
  }

  @Test
  void usageOnEveryChunkIsNotRemoved() throws Exception {
    String one =
        "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}],\"usage\":{\"prompt_tokens\":5,"
            + "\"completion_tokens\":%d}}\n\n";
    String all = one.formatted(1) + one.formatted(2) + one.formatted(3) + "data: [DONE]\n\n";
    Result result = stream(List.of(bytes(all)), true);
    assertThat(result.body()).isEqualTo(bytes(all));
    assertThat(usage(result.decisionId()))
        .isEqualTo(Map.of("prompt_tokens", 5.0, "completion_tokens", 3.0, "done", true));
  }

  @Test
  void errorEventsUnderStatus200AreReported() throws Exception {
    Map<String, Double> cases = new TreeMap<>();
    cases.put(
        """
        data: {"error":{"message":"full","type":"ServiceUnavailableError","code":503}}

        data: [DONE]

        """,
        503.0);
    cases.put(
        "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\","
            + "\"message\":\"x\"}}\n\n",
        529.0);
    cases.put("data: {\"error\":{\"message\":\"x\",\"code\":\"server_error\"}}\n\n", 500.0);
    cases.put(
        "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"internal_error\","
            + "\"message\":\"missing, input={'error': {'message': 'Th...am': None, 'code': 503}}\"}}\n\n",
        503.0);
    for (Map.Entry<String, Double> one : cases.entrySet()) {
      Result result = stream(List.of(bytes(one.getKey())), false);
      assertThat(usage(result.decisionId())).containsEntry("error_code", one.getValue());
    }
  }

  @Test
  void largeJsonBodyIsRelayedAndItsUsageRead() throws Exception {
    String body =
        "{\"id\":\"x\",\"choices\":[{\"message\":{\"content\":\""
            + "text \\\"usage\\\": {\\\"prompt_tokens\\\": 1} ".repeat(80_000)
            + "\"}}], \"usage\": {\"prompt_tokens\": 11, \"completion_tokens\": 22, "
            + "\"prompt_tokens_details\": null}, \"kv_transfer_params\": null}";
    gateway.processor().decision(request -> FakeProcessor.Answer.cluster(Gateway.POOL).stripped());
    gateway.pool.script((request, writer) -> writer.json(200, body));
    HttpResponse<byte[]> response = gateway.post("/v1/chat/completions", "{}");
    assertThat(response.body()).isEqualTo(bytes(body));
    assertThat(response.headers().firstValue("content-length"))
        .contains(Integer.toString(body.length()));
    assertThat(usage(response.headers().firstValue(GatewayNames.DECISION_HEADER).orElseThrow()))
        .isEqualTo(Map.of("prompt_tokens", 11.0, "completion_tokens", 22.0, "done", true));
  }

  @Test
  void compressedAnswerIsRelayedUntouched() throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
      gzip.write(bytes(String.join("", CHAT)));
    }
    gateway.processor().decision(request -> FakeProcessor.Answer.cluster(Gateway.POOL).stripped());
    gateway.pool.script((request, writer) -> {
      assertThat(request.headers()).doesNotContainKey("accept-encoding");
      writer.stream("content-encoding: gzip\r\n");
      writer.chunk(out.toByteArray());
      writer.end();
    });
    HttpResponse<byte[]> response =
        gateway.post("/v1/chat/completions", bytes("{}"), Map.of("accept-encoding", "gzip"));
    assertThat(response.body()).isEqualTo(out.toByteArray());
  }

  @Test
  void doneIsReportedWhenTheClientLeavesRightAfterIt() throws Exception {
    CountDownLatch gone = new CountDownLatch(1);
    gateway.processor().decision(request -> FakeProcessor.Answer.cluster(Gateway.POOL));
    gateway.pool.script((request, writer) -> {
      writer.stream("");
      writer.chunk(String.join("", CHAT));
      gone.await(30, TimeUnit.SECONDS);
    });
    HttpResponse<InputStream> response =
        gateway
            .client()
            .send(
                gateway
                    .request("/v1/chat/completions")
                    .POST(HttpRequest.BodyPublishers.ofString("{}"))
                    .build(),
                HttpResponse.BodyHandlers.ofInputStream());
    try (InputStream in = response.body()) {
      assertThat(in.readNBytes(bytes(String.join("", CHAT)).length)).isNotEmpty();
    }
    assertThat(usage(response.headers().firstValue(GatewayNames.DECISION_HEADER).orElseThrow()))
        .isEqualTo(CHAT_USAGE);
    gone.countDown();
  }

  @Test
  void streamWithContentLengthLosesItWithTheChunk() throws Exception {
    byte[] all = bytes(String.join("", CHAT));
    gateway.processor().decision(request -> FakeProcessor.Answer.cluster(Gateway.POOL).stripped());
    gateway.pool.script((request, writer) -> writer.whole(200, "text/event-stream", all));
    HttpResponse<byte[]> response = gateway.post("/v1/chat/completions", "{}");
    assertThat(response.body()).isEqualTo(bytes(String.join("", CHAT).replace(USAGE_EVENT, "")));
  }

  @Test
  void streamWhoseEndComesWithItsLastBytesKeepsThem() throws IOException, InterruptedException {
    String all = CHAT.get(0) + "data: unfinished";
    gateway.processor().decision(request -> FakeProcessor.Answer.cluster(Gateway.POOL).stripped());
    gateway.pool.script(
        (request, writer) -> writer.whole(200, "text/event-stream; charset=utf-8", bytes(all)));
    assertThat(gateway.post("/v1/chat/completions", "{}").body()).isEqualTo(bytes(all));
  }
}
