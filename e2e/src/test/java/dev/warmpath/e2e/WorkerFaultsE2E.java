package dev.warmpath.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.warmpath.e2e.support.Captured;
import dev.warmpath.e2e.support.ConfigFolder;
import dev.warmpath.e2e.support.Errors;
import dev.warmpath.e2e.support.Header;
import dev.warmpath.e2e.support.ScriptedWorker;
import dev.warmpath.e2e.support.Scripts;
import dev.warmpath.e2e.support.SlowStream;
import dev.warmpath.e2e.support.Stack;
import dev.warmpath.e2e.support.StreamLoad;
import dev.warmpath.e2e.support.WireClient;
import dev.warmpath.e2e.support.WireHead;
import dev.warmpath.e2e.support.WireResponse;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Workers and clients that break, in every way that two of them can, while a third worker is well.
 * After each test the gateway holds no place for a request that has ended.
 */
class WorkerFaultsE2E {

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private static ScriptedWorker well;
  private static ScriptedWorker ill;
  private static Stack stack;
  private static InetSocketAddress gateway;

  @BeforeAll
  static void start(@TempDir Path folder) throws IOException {
    well = ScriptedWorker.start("tiny", Scripts.vllm());
    ill = ScriptedWorker.start("tiny", Scripts.vllm());
    stack =
        Stack.run(
            folder,
            new ConfigFolder(folder.resolve("config"))
                .workerSet(
                    "w",
                    List.of(
                        new ConfigFolder.Worker("well", well.port()),
                        new ConfigFolder.Worker("ill", ill.port())))
                .pool("tiny", "tiny", "w")
                .poolBackend("tiny", "tiny", "tiny"));
    gateway = stack.gateway();
  }

  @AfterAll
  static void stop() throws IOException {
    stack.close();
    well.close();
    ill.close();
  }

  @BeforeEach
  void both_well() {
    well.script(Scripts.vllm());
    ill.script(Scripts.vllm());
  }

  @AfterEach
  void nothing_is_held_for_what_has_ended() throws IOException {
    await("leases return to none")
        .atMost(PATIENCE)
        .untilAsserted(() -> assertThat(stack.leases()).isZero());
    both_well();
    for (int i = 0; i < 4; i++) {
      WireResponse next = chat("after " + i, false);
      assertThat(next.status()).as(next.toString()).isEqualTo(200);
    }
    well.forget();
    ill.forget();
  }

  private static String body(String prompt, boolean stream) {
    return "{\"model\":\"tiny\",\"stream\":%s,\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}]}"
        .formatted(stream, prompt);
  }

  private static WireResponse chat(String prompt, boolean stream) throws IOException {
    return WireClient.post(gateway, "/v1/chat/completions", body(prompt, stream));
  }

  /** Enough different prompts that the ill worker would get its share. */
  private static List<WireResponse> several(boolean stream) throws IOException {
    List<WireResponse> responses = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      responses.add(chat("prompt number " + i + " of its own", stream));
    }
    return responses;
  }

  private static void assertAllServed(List<WireResponse> responses) {
    assertThat(responses).allSatisfy(r -> assertThat(r.status()).as(r.toString()).isEqualTo(200));
  }

  @ParameterizedTest(name = "stream {0}")
  @ValueSource(booleans = {false, true})
  void a_worker_that_resets_before_the_first_byte_costs_no_request(boolean stream)
      throws IOException {
    ill.script((request, reply) -> reply.reset());

    assertAllServed(several(stream));
  }

  @ParameterizedTest(name = "stream {0}")
  @ValueSource(booleans = {false, true})
  void a_worker_that_says_503_costs_no_request(boolean stream) throws IOException {
    ill.script((request, reply) -> Scripts.QUEUE_FULL.replay(reply));

    assertAllServed(several(stream));
  }

  @Test
  void a_worker_whose_port_is_closed_costs_no_request_and_is_used_again_when_it_is_back()
      throws IOException {
    int port = ill.port();
    ill.close();

    assertAllServed(several(true));

    ill = ScriptedWorker.start("tiny", port, Scripts.vllm());
    await("the restarted worker gets traffic")
        .atMost(PATIENCE)
        .until(() -> {
          assertAllServed(several(false));
          return !ill.received().isEmpty();
        });
  }

  @Test
  void a_stream_that_breaks_in_the_middle_is_seen_as_broken_by_its_client() throws IOException {
    ScriptedWorker.Script breaking =
        (request, reply) -> {
          reply.startStream();
          reply.chunk(Scripts.CHAT_STREAM.chunks().get(0));
          reply.chunk(Scripts.CHAT_STREAM.chunks().get(1));
          reply.reset();
        };
    well.script(breaking);
    ill.script(breaking);

    assertThatThrownBy(() -> chat("breaks", true)).isInstanceOf(IOException.class);
    assertThat(well.received().size() + ill.received().size())
        .as("attempts: a stream that has begun is not repeated")
        .isEqualTo(1);
  }

  @Test
  void an_answer_that_breaks_in_the_middle_is_seen_as_broken_by_its_client() throws IOException {
    ScriptedWorker.Script breaking =
        (request, reply) -> {
          reply.send(200, "application/json", new byte[0], new Header("x-cut", "1"));
          reply.reset();
        };
    ScriptedWorker.Script cut =
        (request, reply) -> {
          reply.startStream();
          reply.chunk("{\"id\":\"chat");
          reply.reset();
        };
    well.script(cut);
    ill.script(cut);
    assertThatThrownBy(() -> chat("breaks", false)).isInstanceOf(IOException.class);

    well.script(breaking);
    ill.script(breaking);
    assertThat(chat("empty answer", false).status()).isEqualTo(200);
  }

  @Test
  void when_all_workers_refuse_the_client_gets_the_workers_503() throws IOException {
    well.script((request, reply) -> Scripts.QUEUE_FULL.replay(reply));
    ill.script((request, reply) -> Scripts.QUEUE_FULL.replay(reply));

    WireResponse response = chat("x", false);

    assertThat(response.status()).as(response.toString()).isEqualTo(503);
    Errors.assertShape(Errors.Shape.OPENAI, response);
  }

  @Test
  void when_all_attempts_fail_the_answer_of_the_last_one_counts() throws IOException {
    List<String> attempts = new CopyOnWriteArrayList<>();
    well.script((request, reply) -> {
      attempts.add("full");
      Scripts.QUEUE_FULL.replay(reply);
    });
    ill.script((request, reply) -> {
      attempts.add("broken");
      reply.reset();
    });

    for (int i = 0; i < 8; i++) {
      attempts.clear();
      WireResponse response = chat("prompt " + i, false);

      assertThat(response.status()).as(response.toString()).isEqualTo(503);
      String code = Errors.assertShape(Errors.Shape.OPENAI, response).path("code").asString("");
      assertThat(attempts).contains("full", "broken");
      assertThat(code.equals("upstream_unavailable"))
          .as("%s after %s", response, attempts)
          .isEqualTo(attempts.getLast().equals("broken"));
    }
  }

  @Test
  void when_all_workers_reset_the_client_gets_503_in_its_dialect() throws IOException {
    well.script((request, reply) -> reply.reset());
    ill.script((request, reply) -> reply.reset());

    for (String path : List.of("/v1/chat/completions", "/v1/messages")) {
      WireResponse response = WireClient.post(gateway, path, body("x", false));

      assertThat(response.status()).as(response.toString()).isEqualTo(503);
      Errors.assertShape(Errors.Shape.of(path), response);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"/v1/chat/completions", "/v1/messages"})
  void a_refusal_inside_the_stream_is_told_and_counts_as_full(String path) throws IOException {
    Captured refusal =
        path.equals("/v1/messages") ? Scripts.MESSAGES_IN_BAND_503 : Scripts.IN_BAND_503;
    well.script((request, reply) -> refusal.replay(reply));
    ill.script((request, reply) -> refusal.replay(reply));
    double full = stack.outcomes("upstream_full");

    WireResponse response = WireClient.post(gateway, path, body("x", true));

    assertThat(response.status()).as(response.toString()).isEqualTo(200);
    assertThat(response.text()).isEqualTo(String.join("", refusal.chunks()));
    await("counted as full")
        .atMost(PATIENCE)
        .untilAsserted(() -> assertThat(stack.outcomes("upstream_full") - full).isEqualTo(1));
  }

  @Test
  void a_stalled_worker_holds_only_its_own_requests() throws Exception {
    ill.script((request, reply) -> Thread.sleep(Long.MAX_VALUE));
    Queue<Thread> impatient = new ConcurrentLinkedQueue<>();
    for (int i = 0; i < 20; i++) {
      String prompt = "stalled " + i;
      impatient.add(Thread.ofVirtual().start(() -> impatient(prompt)));
    }
    await("the ill worker has some").atMost(PATIENCE).until(() -> !ill.received().isEmpty());

    // The gateway must notice by itself that nothing comes back, and go where answers come from.
    // Which worker it
    // thought better of before depends on what it had seen, so requests keep coming.
    await("others are served")
        .atMost(PATIENCE)
        .pollInterval(Duration.ofMillis(200))
        .until(() -> {
          String prompt = "later " + impatient.size();
          impatient.add(Thread.ofVirtual().start(() -> impatient(prompt)));
          return well.received().size() >= 5;
        });

    for (Thread thread : impatient) {
      thread.interrupt();
      thread.join();
    }
  }

  /** A client that gives up after two seconds without an answer. */
  private static void impatient(String prompt) {
    byte[] body = body(prompt, true).getBytes(java.nio.charset.StandardCharsets.UTF_8);
    try (WireClient client = WireClient.connect(gateway)) {
      client.patience(Duration.ofSeconds(2));
      client.writePost("/v1/chat/completions", body);
      client.readResponse();
    } catch (IOException gaveUp) {
      // As meant.
    }
  }

  @ParameterizedTest(name = "after the first byte: {0}")
  @ValueSource(booleans = {false, true})
  void clients_that_leave_are_noticed_by_the_worker_and_leave_no_lease(boolean afterFirstByte)
      throws Exception {
    SlowStream endless = new SlowStream(100_000, Duration.ofMillis(50));
    ScriptedWorker.Script mute =
        (request, reply) -> {
          // Headers only: the client leaves while the prompt is still being computed.
          reply.startStream();
          while (true) {
            Thread.sleep(100);
            reply.chunk(": ping\n\n");
          }
        };
    well.script(afterFirstByte ? endless : mute);
    ill.script(afterFirstByte ? endless : mute);

    for (int i = 0; i < 30; i++) {
      byte[] body = body("left " + i, true).getBytes(java.nio.charset.StandardCharsets.UTF_8);
      try (WireClient client = WireClient.connect(gateway)) {
        client.writePost("/v1/chat/completions", body);
        WireHead head = client.readHead();
        assertThat(head.status()).isEqualTo(200);
        if (afterFirstByte) {
          assertThat(client.body(head).read()).isPositive();
        }
        if (i % 2 == 0) {
          client.reset();
        }
      }
    }

    if (afterFirstByte) {
      await("the workers notice").atMost(PATIENCE).until(() -> endless.streaming() == 0);
    }
  }

  @Test
  void clients_that_leave_before_any_answer_leave_no_lease() throws Exception {
    ill.script((request, reply) -> Thread.sleep(1_000));
    well.script((request, reply) -> Thread.sleep(1_000));
    for (int i = 0; i < 30; i++) {
      byte[] body = body("gone " + i, i % 2 == 0).getBytes(java.nio.charset.StandardCharsets.UTF_8);
      try (WireClient client = WireClient.connect(gateway)) {
        client.writePost("/v1/chat/completions", body);
        if (i % 3 == 0) {
          await("it is on its way")
              .atMost(PATIENCE)
              .until(() -> well.received().size() + ill.received().size() > 0);
        }
        client.reset();
      }
    }
  }

  @Test
  void a_client_that_closes_right_after_the_end_marker_is_a_success() throws IOException {
    double completed = stack.outcomes("completed");
    for (int i = 0; i < 20; i++) {
      byte[] body = body("done " + i, true).getBytes(java.nio.charset.StandardCharsets.UTF_8);
      try (WireClient client = WireClient.connect(gateway)) {
        client.writePost("/v1/chat/completions", body);
        StringBuilder text = new StringBuilder();
        var in = client.body(client.readHead());
        while (text.indexOf("[DONE]") < 0) {
          text.append((char) in.read());
        }
        client.reset();
      }
    }
    await("counted as complete")
        .atMost(PATIENCE)
        .untilAsserted(() -> assertThat(stack.outcomes("completed") - completed).isEqualTo(20));
  }

  @Test
  void a_burst_over_failing_workers_leaves_nothing_behind() throws Exception {
    ScriptedWorker.Script moody =
        (request, reply) -> {
          switch (Math.floorMod(request.text().hashCode(), 5)) {
            case 0 -> reply.reset();
            case 1 -> Scripts.QUEUE_FULL.replay(reply);
            case 2 -> Scripts.IN_BAND_503.replay(reply);
            default -> Scripts.vllm().answer(request, reply);
          }
        };
    ill.script(moody);
    well.script(moody);

    StreamLoad burst = StreamLoad.once(gateway, 200, i -> body("burst " + i, true));

    assertThat(burst.completed() + burst.failures().size()).isEqualTo(200);
    assertThat(burst.completed()).isPositive();
  }
}
