package dev.warmpath.extproc.stream;

import static dev.warmpath.extproc.stream.Messages.responseBody;
import static dev.warmpath.extproc.stream.Messages.responseHeaders;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.extproc.stream.StreamHarness.Stream;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The watching stream: what it learns, and when it leaves. */
class WatchStreamTest {
  private static final String ID = "0123456789abcdefghjkmnpqrs";
  private static final String UPSTREAM = "10.0.0.1:8000";
  private static final String SSE = "text/event-stream; charset=utf-8";

  @TempDir Path folder;
  private StreamHarness harness;

  @BeforeEach
  void start() throws IOException {
    harness = new StreamHarness(folder, 8L * 1024 * 1024);
    harness.router.start(ID);
  }

  @AfterEach
  void stop() {
    harness.close();
  }

  @Test
  void firstEventOfAStreamIsTheFirstToken() throws Exception {
    Stream stream = harness.watch();

    stream.send(responseHeaders(ID, UPSTREAM, "200", SSE));
    stream.send(responseBody("data: {\"choi", false));
    stream.send(responseBody("ces\":[{}]}\n\n", false));
    stream.awaitCompleted();

    assertThat(harness.router.onlyRequest().events)
        .containsExactly("attempted 10.0.0.1:8000 2", "first token");
  }

  @Test
  void inBandRejectionEndsTheRequestInsteadOfCountingAToken() throws Exception {
    Stream stream = harness.watch();

    stream.send(responseHeaders(ID, UPSTREAM, "200", SSE));
    stream.send(
        responseBody("data: {\"error\": {\"message\": \"busy\", \"code\": 503}}\n\n", false));
    stream.awaitCompleted();

    assertThat(harness.router.onlyRequest().events)
        .containsExactly("attempted 10.0.0.1:8000 2", "ended UPSTREAM_FULL");
  }

  @Test
  void replyOfEnvoyItselfIsIgnored() throws Exception {
    Stream stream = harness.watch();

    stream.send(responseHeaders(ID, null, "503", "application/json"));
    stream.awaitCompleted();

    assertThat(harness.router.onlyRequest().events).isEmpty();
  }

  @Test
  void wholeAnswerHasNoFirstToken() throws Exception {
    Stream stream = harness.watch();

    stream.send(responseHeaders(ID, UPSTREAM, "200", "application/json"));
    stream.awaitCompleted();

    assertThat(harness.router.onlyRequest().events).containsExactly("attempted 10.0.0.1:8000 2");
  }

  @Test
  void unknownDecisionIsLeftAlone() throws Exception {
    Stream stream = harness.watch();

    stream.send(responseHeaders("zzzz", UPSTREAM, "200", SSE));
    stream.awaitCompleted();

    assertThat(harness.router.onlyRequest().events).isEmpty();
  }

  @Test
  void streamWithoutATokenEndsQuietly() throws Exception {
    Stream stream = harness.watch();

    stream.send(responseHeaders(ID, UPSTREAM, "200", SSE));
    stream.send(responseBody("", true));
    stream.awaitCompleted();

    assertThat(harness.router.onlyRequest().events).containsExactly("attempted 10.0.0.1:8000 2");
  }
}
