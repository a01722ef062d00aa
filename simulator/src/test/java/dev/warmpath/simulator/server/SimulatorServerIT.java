package dev.warmpath.simulator.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.warmpath.simulator.Simulator;
import dev.warmpath.simulator.SimulatorOptions;
import dev.warmpath.simulator.SimulatorOptions.Recording;
import dev.warmpath.simulator.api.ServedModel;
import dev.warmpath.simulator.conformance.WireProbe;
import dev.warmpath.simulator.conformance.WireRequest;
import dev.warmpath.simulator.conformance.WireResponse;
import dev.warmpath.simulator.engine.EngineProfiles;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class SimulatorServerIT {
  private static final SimulatorOptions TINY =
      SimulatorOptions.defaults().withProfile("tiny").withServedModelNames("tiny", "alias");

  @Test
  void equalPromptsGetEqualAnswersAndAnAnswerThatComesBackIsCached() throws Exception {
    try (Simulator simulator = Simulator.start(TINY.withAnswerTokens(200))) {
      String question = "\"role\":\"user\",\"content\":\"" + "stone river ".repeat(40) + "\"";
      JsonNode first = chat(simulator, "[{" + question + "}]", "");
      JsonNode again = chat(simulator, "[{" + question + "}]", "");
      String answer = first.at("/choices/0/message/content").asString();
      assertThat(again.at("/choices/0/message/content").asString()).isEqualTo(answer);

      JsonNode next =
          chat(
              simulator,
              "[{"
                  + question
                  + "},{\"role\":\"assistant\",\"content\":\""
                  + answer
                  + "\"},{\"role\":\"user\",\"content\":\"more\"}]",
              "");

      int prompt = first.at("/usage/prompt_tokens").asInt();
      assertThat(next.at("/usage/prompt_tokens_details/cached_tokens").asInt())
          .isGreaterThan(prompt + 150);
    }
  }

  @Test
  void forcedToolIsCalledOnEveryRoute() throws Exception {
    try (Simulator simulator = Simulator.start(TINY)) {
      String schema =
          "{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"},\"days\":{\"type\":\"integer\"}}}";
      String messages = "\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]";
      JsonNode chat =
          post(
              simulator,
              "/v1/chat/completions",
              "{\"model\":\"tiny\",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"weather\",\"parameters\":"
                  + schema
                  + "}}],\"tool_choice\":\"required\","
                  + messages
                  + "}");
      JsonNode call = chat.at("/choices/0/message/tool_calls/0/function");
      assertThat(call.path("name").asString()).isEqualTo("weather");
      assertThat(call.path("arguments").asString()).isEqualTo("{\"city\": \"warm\", \"days\": 1}");
      assertThat(chat.at("/choices/0/finish_reason").asString()).isEqualTo("tool_calls");

      JsonNode message =
          post(
              simulator,
              "/v1/messages",
              "{\"model\":\"tiny\",\"max_tokens\":50,\"tools\":[{\"name\":\"weather\",\"input_schema\":"
                  + schema
                  + "}],\"tool_choice\":{\"type\":\"tool\",\"name\":\"weather\"},"
                  + messages
                  + "}");
      assertThat(message.at("/content/0/input/city").asString()).isEqualTo("warm");
      assertThat(message.path("stop_reason").asString()).isEqualTo("tool_use");

      JsonNode response =
          post(
              simulator,
              "/v1/responses",
              "{\"model\":\"tiny\",\"input\":\"x\",\"tools\":[{\"type\":\"function\",\"name\":\"weather\",\"parameters\":"
                  + schema
                  + "}],\"tool_choice\":\"required\"}");
      assertThat(response.at("/output/0/type").asString()).isEqualTo("function_call");
    }
  }

  @Test
  void echoRepeatsTheTextOfTheUserByteForByte() throws Exception {
    try (Simulator simulator = Simulator.start(TINY.withEcho(true))) {
      String text = "Grüße, \\\"quoted\\\" \\n 12345 \\ud83d\\ude80 end";
      JsonNode answer = chat(simulator, "[{\"role\":\"user\",\"content\":\"" + text + "\"}]", "");
      assertThat(answer.at("/choices/0/message/content").asString())
          .isEqualTo("Grüße, \"quoted\" \n 12345 \ud83d\ude80 end");
    }
  }

  @Test
  void imagesByUrlSeveralChoicesAndEmbeddingsAreAccepted() throws Exception {
    try (Simulator simulator = Simulator.start(TINY)) {
      JsonNode image =
          chat(
              simulator,
              "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"what?\"},{\"type\":\"image_url\",\"image_url\":{\"url\":\"http://x/y.png\"}}]}]",
              ",\"n\":2");
      assertThat(image.path("choices").size()).isEqualTo(2);
      assertThat(image.at("/usage/prompt_tokens").asInt()).isGreaterThan(256);

      JsonNode embeddings =
          post(simulator, "/v1/embeddings", "{\"model\":\"alias\",\"input\":[\"a\",\"b c\"]}");
      assertThat(embeddings.path("data").size()).isEqualTo(2);
      assertThat(embeddings.path("model").asString()).isEqualTo("alias");
    }
  }

  @Test
  void coldAndWarmPromptsTakeTheModelledTimeDividedByTheScale() throws Exception {
    try (Simulator simulator =
        Simulator.start(
            SimulatorOptions.defaults().withTimeScale(20).withServedModelNames("tiny"))) {
      String messages = "[{\"role\":\"user\",\"content\":\"" + "stone ".repeat(16_000) + "\"}]";
      chat(simulator, messages, ",\"max_tokens\":1");
      chat(simulator, messages, ",\"max_tokens\":1");
      // The engine's own clock says how long the first token took, whatever the machine does
      // meanwhile.
      String page = WireProbe.exchange(simulator.uri(), WireRequest.get("/metrics")).body();
      double sum = metric(page, "vllm:time_to_first_token_seconds_sum");
      assertThat(sum).isBetween(0.34, 0.37);
    }
  }

  /**
   * With a clock that stands still once the server is there, an engine without modelled time
   * answers only if it is at the time at which requests arrive.
   */
  @Test
  void engineAndArrivalsHaveTheSameClock() throws Exception {
    AtomicBoolean starting = new AtomicBoolean(true);
    AtomicLong nanos = new AtomicLong();
    LongSupplier clock = () -> starting.get() ? nanos.addAndGet(1_000_000_000L) : nanos.get();
    ServedModel model = new ServedModel(List.of("tiny"), "tiny", 1 << 20, 4, 0, false, true, "0");
    try (SimulatorServer server =
        new SimulatorServer(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            EngineProfiles.named("instant"),
            model,
            null,
            false,
            0,
            Clock.systemUTC(),
            clock,
            null,
            null)) {
      starting.set(false);
      URI uri = URI.create("http://127.0.0.1:" + server.port());
      assertThat(WireProbe.exchange(uri, request(true)).body()).endsWith("data: [DONE]\n\n");
    }
  }

  @Test
  void faultsStrikeTheNextRequests() throws Exception {
    try (Simulator simulator = Simulator.start(TINY)) {
      fault(simulator, "{\"kind\":\"status503\",\"count\":2}");
      assertThat(send(simulator, false).status()).isEqualTo(503);
      assertThat(send(simulator, true).status()).isEqualTo(503);
      assertThat(send(simulator, false).status()).isEqualTo(200);

      fault(simulator, "{\"kind\":\"in_band_503\"}");
      WireResponse inBand = send(simulator, true);
      assertThat(inBand.status()).isEqualTo(200);
      assertThat(inBand.body())
          .isEqualTo(
              "data: {\"error\": {\"message\": \"The engine is currently busy and cannot accept new requests. Please try again later or on a different instance.\","
                  + " \"type\": \"Service Unavailable\", \"param\": null, \"code\": 503}}\n\ndata: [DONE]\n\n");

      fault(simulator, "{\"kind\":\"in_band_503\"}");
      String message =
          "{\"model\":\"tiny\",\"max_tokens\":1,\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}";
      assertThat(
              WireProbe.exchange(simulator.uri(), WireRequest.post("/v1/messages", message)).body())
          .startsWith(
              "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"internal_error\"")
          .contains("'code': 503}")
          .doesNotContain("[DONE]");

      fault(simulator, "{\"kind\":\"reset_before_first_byte\"}");
      assertThatThrownBy(() -> send(simulator, true)).isInstanceOf(IOException.class);

      fault(simulator, "{\"kind\":\"reset_after_first_byte\"}");
      assertThatThrownBy(() -> send(simulator, true)).isInstanceOf(IOException.class);
      assertThat(send(simulator, true).status()).isEqualTo(200);

      fault(simulator, "{\"kind\":\"unhealthy\"}");
      assertThat(get(simulator, "/health").status()).isEqualTo(503);
      fault(simulator, "{\"kind\":\"none\"}");
      assertThat(get(simulator, "/health").status()).isEqualTo(200);
    }
  }

  @Test
  void stalledServerSendsHeadersButNoToken() throws Exception {
    try (Simulator simulator = Simulator.start(TINY);
        WireProbe probe = new WireProbe(simulator.uri())) {
      fault(simulator, "{\"kind\":\"stall\"}");
      probe.send(request(true));
      await()
          .untilAsserted(
              () -> assertThat(get(simulator, "/load").body()).isEqualTo("{\"server_load\":1}"));
      fault(simulator, "{\"kind\":\"none\"}");
      assertThat(probe.receive().body()).endsWith("data: [DONE]\n\n");
      assertThat(get(simulator, "/load").body()).isEqualTo("{\"server_load\":0}");
    }
  }

  @Test
  void crashedServerComesBackColdOnTheSamePort() throws Exception {
    try (Simulator simulator = Simulator.start(TINY)) {
      String messages = "[{\"role\":\"user\",\"content\":\"" + "stone river ".repeat(40) + "\"}]";
      chat(simulator, messages, "");
      fault(simulator, "{\"kind\":\"crash\",\"seconds\":0.2}");
      await()
          .ignoreExceptions()
          .untilAsserted(() ->
              assertThat(
                      chat(simulator, messages, ",\"max_tokens\":1")
                          .at("/usage/prompt_tokens_details/cached_tokens")
                          .asInt(-1))
                  .isNotNegative());
      String page = get(simulator, "/metrics").body();
      assertThat(metric(page, "vllm:prefix_cache_hits_total")).isZero();
    }
  }

  @Test
  void frozenMetricsRepeatTheLastPage() throws Exception {
    try (Simulator simulator = Simulator.start(TINY)) {
      send(simulator, false);
      fault(simulator, "{\"kind\":\"frozen_metrics\"}");
      String frozen = get(simulator, "/metrics").body();
      send(simulator, false);
      assertThat(get(simulator, "/metrics").body()).isEqualTo(frozen);
      fault(simulator, "{\"kind\":\"none\"}");
      assertThat(get(simulator, "/metrics").body()).isNotEqualTo(frozen);
    }
  }

  @Test
  void burstBeyondTheQueueIsRejectedInBandAndLaterAtTheDoor() throws Exception {
    SimulatorOptions slow =
        SimulatorOptions.defaults()
            .withServedModelNames("tiny")
            .withTimeScale(2)
            .withMaxQueuedRequests(2);
    try (Simulator simulator = Simulator.start(slow)) {
      List<WireProbe> probes = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        WireProbe probe = new WireProbe(simulator.uri());
        probe.send(
            WireRequest.post(
                "/v1/chat/completions",
                "{\"model\":\"tiny\",\"stream\":true,\"max_tokens\":1,\"messages\":[{\"role\":\"user\",\"content\":\""
                    + ("w" + i + " ").repeat(8_000)
                    + "\"}]}"));
        probes.add(probe);
      }
      int rejected = 0;
      for (int i = 9; i >= 3; i--) {
        WireResponse response = probes.get(i).receive();
        if (response.body().contains("\"code\": 503") || response.status() == 503) {
          rejected++;
        }
      }
      assertThat(rejected).isGreaterThanOrEqualTo(6);
      for (WireProbe probe : probes) {
        probe.close();
      }
    }
  }

  @Test
  void whatWasReceivedCanBeAskedFor() throws Exception {
    try (Simulator simulator =
        Simulator.start(TINY.withRecording(Recording.BODY).withAnswerTokens(5_000))) {
      WireProbe.exchange(
          simulator.uri(),
          new WireRequest(
              "POST",
              "/v1/chat/completions",
              Map.of("content-type", "application/json", "x-test", "1"),
              "{\"model\":\"tiny\",\"max_tokens\":2,\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}"));
      try (WireProbe probe = new WireProbe(simulator.uri())) {
        probe.send(request(true));
        assertThat(probe.readByte()).isEqualTo('H');
      }
      await()
          .untilAsserted(() -> {
            JsonNode log =
                JsonMapper.shared().readTree(get(simulator, "/_sim/requests?path=/v1/").body());
            assertThat(log.at("/requests/0/headers").toString()).contains("[\"x-test\",\"1\"]");
            assertThat(log.at("/requests/0/body").asString()).contains("\"hi\"");
            assertThat(log.at("/requests/0/body_sha256").asString()).hasSize(64);
            assertThat(log.at("/requests/0/aborted").asBoolean()).isFalse();
            assertThat(log.at("/requests/1/aborted").asBoolean()).isTrue();
            assertThat(log.path("active").asInt()).isZero();
          });
    }
  }

  @Test
  void idleConnectionIsClosedAfterTheKeepAliveTime() throws Exception {
    try (Simulator simulator = Simulator.start(TINY.withKeepAliveMillis(200));
        WireProbe probe = new WireProbe(simulator.uri())) {
      probe.send(request(false));
      assertThat(probe.receive().status()).isEqualTo(200);
      assertThat(probe.readByte()).isEqualTo(-1);
    }
  }

  @Test
  void bodyOfManyMegabytesIsTakenAndStrangeJsonIsRefused() throws Exception {
    try (Simulator simulator =
        Simulator.start(
            SimulatorOptions.defaults().withProfile("instant").withServedModelNames("tiny"))) {
      String large =
          "{\"model\":\"tiny\",\"messages\":[{\"role\":\"user\",\"content\":\""
              + "x".repeat(20 << 20)
              + "\"}]}";
      assertThat(
              WireProbe.exchange(simulator.uri(), WireRequest.post("/v1/chat/completions", large))
                  .status())
          .isEqualTo(200);
      for (String body :
          List.of(
              "",
              "null",
              "[]",
              "{",
              "\"x\"",
              "[".repeat(10_000),
              "{\"messages\":1}",
              "{\"model\":7,\"messages\":[]}",
              "{\"model\":\"tiny\",\"messages\":[7],\"max_tokens\":1e99}")) {
        WireResponse response =
            WireProbe.exchange(simulator.uri(), WireRequest.post("/v1/chat/completions", body));
        assertThat(response.status()).as(body).isEqualTo(400);
        assertThat(response.body()).as(body).startsWith("{\"error\":{");
      }
      WireResponse stream = send(simulator, true);
      assertThat(stream.chunks()).hasSize(6).last().isEqualTo("data: [DONE]\n\n");
    }
  }

  @Test
  void threeThousandStreamsRunSideBySide() throws Exception {
    try (Simulator simulator = Simulator.start(TINY.withAnswerTokens(10))) {
      fault(simulator, "{\"kind\":\"stall\"}");
      List<WireProbe> probes = new ArrayList<>();
      for (int i = 0; i < 3_000; i++) {
        WireProbe probe = new WireProbe(simulator.uri());
        probe.send(request(true));
        probes.add(probe);
      }
      await()
          .untilAsserted(
              () -> assertThat(get(simulator, "/load").body()).isEqualTo("{\"server_load\":3000}"));
      fault(simulator, "{\"kind\":\"none\"}");
      for (WireProbe probe : probes) {
        assertThat(probe.receive().body()).endsWith("data: [DONE]\n\n");
        probe.close();
      }
    }
  }

  private static JsonNode chat(Simulator simulator, String messages, String fields)
      throws IOException {
    return post(
        simulator,
        "/v1/chat/completions",
        "{\"model\":\"tiny\",\"messages\":" + messages + fields + "}");
  }

  private static JsonNode post(Simulator simulator, String path, String body) throws IOException {
    WireResponse response = WireProbe.exchange(simulator.uri(), WireRequest.post(path, body));
    assertThat(response.status()).as(response.body()).isEqualTo(200);
    return JsonMapper.shared().readTree(response.body());
  }

  private static WireRequest request(boolean stream) {
    return WireRequest.post(
        "/v1/chat/completions",
        "{\"model\":\"tiny\",\"stream\":"
            + stream
            + ",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}");
  }

  private static WireResponse send(Simulator simulator, boolean stream) throws IOException {
    return WireProbe.exchange(simulator.uri(), request(stream));
  }

  private static WireResponse get(Simulator simulator, String path) throws IOException {
    return WireProbe.exchange(simulator.uri(), WireRequest.get(path));
  }

  private static void fault(Simulator simulator, String body) throws IOException {
    assertThat(WireProbe.exchange(simulator.uri(), WireRequest.post("/_sim/fault", body)).status())
        .isEqualTo(200);
  }

  private static double metric(String page, String name) {
    return page.lines()
        .filter(line -> line.startsWith(name + "{"))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .findFirst()
        .orElseThrow();
  }
}
