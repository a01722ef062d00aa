package dev.warmpath.e2e;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.e2e.support.Metrics;
import dev.warmpath.e2e.support.ScriptedWorker;
import dev.warmpath.e2e.support.Scripts;
import dev.warmpath.e2e.support.SlowStream;
import dev.warmpath.e2e.support.StreamLoad;
import dev.warmpath.e2e.support.WireClient;
import dev.warmpath.e2e.support.WireResponse;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The tools of the end-to-end tests see what they are there to see; no gateway takes part. */
class HarnessTest {

  private static final String STREAM = "{\"model\":\"tiny\",\"stream\":true}";

  private static InetSocketAddress address(ScriptedWorker worker) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), worker.port());
  }

  @Test
  void a_load_of_two_hundred_streams_completes() throws Exception {
    SlowStream slow = new SlowStream(5, Duration.ofMillis(20));
    try (ScriptedWorker worker = ScriptedWorker.start("tiny", slow)) {
      StreamLoad load = StreamLoad.once(address(worker), 200, i -> STREAM);

      assertThat(load.failures()).isEmpty();
      assertThat(load.completed()).isEqualTo(200);
      assertThat(slow.finished()).isEqualTo(200);
      assertThat(worker.received()).hasSize(200);
    }
  }

  @Test
  void a_load_counts_every_way_in_which_a_stream_can_fail() throws Exception {
    List<ScriptedWorker.Script> failures =
        List.of(
            (request, reply) -> reply.reset(),
            (request, reply) -> reply.json(503, "{}"),
            (request, reply) -> Scripts.IN_BAND_503.replay(reply),
            (request, reply) -> {
              reply.startStream();
              reply.chunk(Scripts.CHAT_STREAM.chunks().getFirst());
              reply.reset();
            },
            (request, reply) -> {
              reply.startStream();
              reply.chunk(Scripts.CHAT_STREAM.chunks().getFirst());
              reply.endStream();
            });
    for (ScriptedWorker.Script script : failures) {
      try (ScriptedWorker worker = ScriptedWorker.start("tiny", script)) {
        StreamLoad load = StreamLoad.once(address(worker), 3, i -> STREAM);

        assertThat(load.failures()).hasSize(3);
        assertThat(load.completed()).isZero();
      }
    }
  }

  @Test
  void a_captured_stream_is_replayed_byte_by_byte() throws IOException {
    try (ScriptedWorker worker = ScriptedWorker.start("tiny", Scripts.vllm())) {
      WireResponse with =
          WireClient.post(
              address(worker),
              "/v1/chat/completions",
              "{\"stream\": true, \"stream_options\": {\"include_usage\": true}}");
      WireResponse without = WireClient.post(address(worker), "/v1/chat/completions", STREAM);

      assertThat(with.text()).isEqualTo(Scripts.CHAT_STREAM.body()).contains("\"usage\"");
      assertThat(without.text()).doesNotContain("\"usage\":{").endsWith("data: [DONE]\n\n");
    }
  }

  @Test
  void a_cut_body_is_an_error_to_the_client() throws IOException {
    try (ScriptedWorker worker =
        ScriptedWorker.start(
            "tiny",
            (request, reply) -> {
              reply.startStream();
              reply.chunk("{");
              reply.reset();
            })) {
      assertThatThrownBy(() -> WireClient.post(address(worker), "/v1/completions", "{}"))
          .isInstanceOf(IOException.class);
    }
  }

  @Test
  void a_worker_keeps_chunked_bodies_as_they_were() throws IOException {
    try (ScriptedWorker worker = ScriptedWorker.start("tiny", Scripts.vllm());
        WireClient client = WireClient.connect(address(worker))) {
      client.write("POST /v1/completions HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n");
      client.write("3\r\n{\"a\r\n4\r\n\":1}\r\n0\r\n\r\n");

      assertThat(client.readResponse().status()).isEqualTo(200);
      assertThat(new String(worker.last().body(), UTF_8)).isEqualTo("{\"a\":1}");
    }
  }

  @Test
  void metrics_are_summed_over_series() {
    Metrics metrics =
        new Metrics(
            "# TYPE a gauge\na{x=\"1\"} 2.0\na{x=\"2\"} 3\na_total 7\na_created{x=\"1\"} 9\n");

    assertThat(metrics.sum("a")).hasValue(5);
    assertThat(metrics.sum("a", "x=\"1\"")).hasValue(2);
    assertThat(metrics.sum("a_total")).hasValue(7);
    assertThat(metrics.sum("b")).isEmpty();
  }
}
