package dev.warmpath.e2e;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.e2e.support.ConfigFolder;
import dev.warmpath.e2e.support.Edits;
import dev.warmpath.e2e.support.Repository;
import dev.warmpath.e2e.support.ScriptedWorker;
import dev.warmpath.e2e.support.Scripts;
import dev.warmpath.e2e.support.Stack;
import dev.warmpath.e2e.support.WireClient;
import dev.warmpath.e2e.support.WireResponse;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The exact bytes of eleven real clients are understood, and reach the worker as they were. */
class CapturedClientsE2E {

  private static ScriptedWorker worker;
  private static Stack stack;

  @BeforeAll
  static void start(@TempDir Path folder) throws IOException {
    worker = ScriptedWorker.start("mock-model", Scripts.vllm());
    stack =
        Stack.run(
            folder,
            new ConfigFolder(folder.resolve("config"))
                .workerSet("w", List.of(new ConfigFolder.Worker("w0", worker.port())))
                .pool("mock", "mock-model", "w")
                .poolBackend("mock", "mock", "mock-model", "org/mock-model"));
  }

  @AfterAll
  static void stop() throws IOException {
    stack.close();
    worker.close();
  }

  private static Path folder() {
    return Repository.root().resolve("e2e/src/test/resources/clients");
  }

  static List<String> requests() throws IOException {
    try (Stream<Path> files = Files.walk(folder())) {
      return files
          .filter(file -> file.toString().endsWith(".http"))
          .map(file -> folder().relativize(file).toString())
          .sorted()
          .toList();
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("requests")
  void a_captured_request_is_served(String file) throws IOException {
    // ISO 8859-1 keeps every byte as it is.
    String captured = Files.readString(folder().resolve(file), ISO_8859_1);
    String client = file.substring(0, file.indexOf('/'));
    String bytes = captured.replaceFirst("/[ts]/" + client + "(?=/)", "");
    String body = bytes.substring(bytes.indexOf("\r\n\r\n") + 4);
    worker.forget();

    WireResponse response;
    try (WireClient connection = WireClient.connect(stack.gateway())) {
      connection.write(bytes.getBytes(ISO_8859_1));
      response = connection.readResponse();
    }

    assertThat(response.status()).as(response.toString()).isEqualTo(200);
    if (!body.isEmpty()) {
      assertThat(worker.received()).hasSize(1);
      String sent = new String(body.getBytes(ISO_8859_1), UTF_8);
      String got = worker.last().text();
      assertThat(Edits.isDocumented(sent, got)).as("sent %s, got %s", sent, got).isTrue();
      assertThat(worker.last().head().headers().toString())
          .as("the key stays here")
          .doesNotContain("sk-fake");
    }
  }
}
