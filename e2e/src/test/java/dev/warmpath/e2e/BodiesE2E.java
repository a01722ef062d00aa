package dev.warmpath.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.e2e.support.ConfigFolder;
import dev.warmpath.e2e.support.Errors;
import dev.warmpath.e2e.support.ScriptedWorker;
import dev.warmpath.e2e.support.Scripts;
import dev.warmpath.e2e.support.Stack;
import dev.warmpath.e2e.support.WireClient;
import dev.warmpath.e2e.support.WireResponse;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Bodies of every size up to the limit arrive as they were sent; one byte more is refused. */
class BodiesE2E {

  private static final int LIMIT_BYTES = 64 << 20;

  private static ScriptedWorker worker;
  private static Stack stack;
  private static InetSocketAddress gateway;

  @BeforeAll
  static void start(@TempDir Path folder) throws IOException {
    worker = ScriptedWorker.start("tiny", Scripts.vllm());
    stack =
        Stack.run(
            folder,
            new ConfigFolder(folder.resolve("config"))
                .workerSet("w", List.of(new ConfigFolder.Worker("w0", worker.port())))
                .pool("tiny", "tiny", "w")
                .poolBackend("tiny", "tiny", "tiny"));
    gateway = stack.gateway();
  }

  @AfterAll
  static void stop() throws IOException {
    stack.close();
    worker.close();
  }

  /** A valid body of exactly that size, the model at its end as some SDKs send it. */
  private static byte[] body(int bytes) {
    String head = "{\"messages\":[{\"role\":\"user\",\"content\":\"";
    String tail = "\"}],\"max_tokens\":4,\"model\":\"tiny\"}";
    StringBuilder text = new StringBuilder(bytes).append(head);
    int filler = bytes - head.length() - tail.length();
    for (int i = 0; i < filler; i++) {
      text.append(i % 61 == 0 ? ' ' : (char) ('a' + (i * 7 + i / 61) % 26));
    }
    return text.append(tail).toString().getBytes(StandardCharsets.US_ASCII);
  }

  @ParameterizedTest(name = "{0} bytes to {1}")
  @CsvSource({
    "2048, /v1/chat/completions",
    "2048, /v1/messages",
    "1048576, /v1/chat/completions",
    "1048577, /v1/messages",
    "20971520, /v1/chat/completions",
    "20971520, /v1/messages",
    "67108864, /v1/chat/completions"
  })
  void a_body_within_the_limit_arrives_as_it_was_sent(int bytes, String path) throws IOException {
    byte[] body = body(bytes);

    WireResponse response = WireClient.post(gateway, path, body, List.of());

    assertThat(response.status()).as(response.toString()).isEqualTo(200);
    assertThat(worker.last().body()).isEqualTo(body);
    worker.forget();
  }

  @ParameterizedTest
  @ValueSource(strings = {"/v1/chat/completions", "/v1/messages"})
  void one_byte_above_the_limit_is_413_in_the_dialect(String path) throws IOException {
    WireResponse response = WireClient.post(gateway, path, body(LIMIT_BYTES + 1), List.of());

    assertThat(response.status()).as(response.toString()).isEqualTo(413);
    Errors.assertShape(Errors.Shape.of(path), response);
    assertTheNextRequestWorks();
  }

  @Test
  void a_chunked_body_above_the_limit_is_413() throws IOException {
    byte[] body = body(LIMIT_BYTES + 1);
    try (WireClient client = WireClient.connect(gateway)) {
      client.writeChunkedHead("/v1/chat/completions");
      client.writeTolerantly(
          (Integer.toHexString(body.length) + "\r\n").getBytes(StandardCharsets.US_ASCII));
      client.writeTolerantly(body);
      client.writeTolerantly("\r\n0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));

      WireResponse response = client.readResponse();

      assertThat(response.status()).as(response.toString()).isEqualTo(413);
    }
    assertTheNextRequestWorks();
  }

  @Test
  void a_chunked_body_arrives_as_it_was_sent() throws IOException {
    byte[] body = body(300_000);
    try (WireClient client = WireClient.connect(gateway)) {
      client.writeChunkedHead("/v1/chat/completions");
      for (int start = 0; start < body.length; start += 7_001) {
        int end = Math.min(body.length, start + 7_001);
        client.write(Integer.toHexString(end - start) + "\r\n");
        client.write(java.util.Arrays.copyOfRange(body, start, end));
        client.write("\r\n");
      }
      client.write("0\r\n\r\n");

      WireResponse response = client.readResponse();

      assertThat(response.status()).as(response.toString()).isEqualTo(200);
    }
    assertThat(worker.last().body()).isEqualTo(body);
    worker.forget();
  }

  @Test
  void many_large_bodies_at_once_are_served_or_told_to_come_back() throws Exception {
    byte[] body = body(20 << 20);
    ConcurrentLinkedQueue<WireResponse> responses = new ConcurrentLinkedQueue<>();
    ConcurrentLinkedQueue<String> broken = new ConcurrentLinkedQueue<>();
    List<Thread> clients = new ArrayList<>();
    for (int i = 0; i < 24; i++) {
      clients.add(
          Thread.ofVirtual()
              .start(() -> {
                try {
                  responses.add(WireClient.post(gateway, "/v1/chat/completions", body, List.of()));
                } catch (IOException failed) {
                  broken.add(failed.toString());
                }
              }));
    }
    for (Thread client : clients) {
      client.join();
    }

    assertThat(broken).isEmpty();
    assertThat(responses).hasSize(24);
    for (WireResponse response : responses) {
      assertThat(response.status()).as(response.toString()).isIn(200, 503);
      if (response.status() == 503) {
        Errors.assertShape(Errors.Shape.OPENAI, response);
        assertThat(Integer.parseInt(String.valueOf(response.header("retry-after"))))
            .as(response.toString())
            .isBetween(1, 5);
      }
    }
    assertThat(responses).as("some were served").anyMatch(response -> response.status() == 200);
    assertThat(stack.log()).doesNotContain("OutOfMemoryError");
    worker.forget();
    assertTheNextRequestWorks();
  }

  private static void assertTheNextRequestWorks() throws IOException {
    WireResponse next = WireClient.post(gateway, "/v1/chat/completions", body(500), List.of());
    assertThat(next.status()).as(next.toString()).isEqualTo(200);
    worker.forget();
  }
}
