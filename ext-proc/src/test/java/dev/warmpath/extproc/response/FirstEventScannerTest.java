package dev.warmpath.extproc.response;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FirstEventScannerTest {
  private static final FirstEvent TOKEN = new FirstEvent.Token();
  private static final FirstEvent UNDECIDED = new FirstEvent.Undecided();
  private static final FirstEvent ENDED = new FirstEvent.Ended();

  private final FirstEventScanner scanner = new FirstEventScanner();

  @Test
  void roleDeltaIsTheFirstToken() {
    assertThat(feed("data: {\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}\n\n"))
        .isEqualTo(TOKEN);
  }

  @Test
  void carriageReturnsAndCommentsAreNoTokens() {
    assertThat(feed(": keep-alive\r\n\r\n")).isEqualTo(UNDECIDED);
    assertThat(feed("data: {\"choices\":[]}\r\n\r\n")).isEqualTo(TOKEN);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "data: {\"error\": {\"message\": \"busy\", \"type\": \"x\", \"code\": 503}}\n\n",
        "data: {\"error\":{\"message\":\"\\\"code\\\": 1\",\"code\":\"503\"}}\n\n",
        "event: error\ndata: {\"type\":\"error\",\"error\":{\"code\":503}}\n\n",
        "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"internal_error\",\"message\":"
            + "\"1 error\\nmodel [input={'error': {'message': 'Th...am': None, 'code': 503}}]\"}}\n\n"
      })
  void errorIsReadWithItsCode(String event) {
    assertThat(feed(event)).isEqualTo(new FirstEvent.Failed(503));
  }

  @Test
  void anthropicOverloadIsFull() {
    assertThat(feed("event: error\ndata: {\"error\":{\"type\":\"overloaded_error\"}}\n\n"))
        .isEqualTo(new FirstEvent.Failed(529));
  }

  @Test
  void textThatSpeaksOfErrorsIsAToken() {
    assertThat(feed("data: {\"choices\":[{\"delta\":{\"content\":\"{\\\"error\\\": 1}\"}}]}\n\n"))
        .isEqualTo(TOKEN);
    assertThat(
            new FirstEventScanner()
                .feed(bytes("data: {\"error\":null,\"choices\":[{\"delta\":{}}]}\n\n")))
        .isEqualTo(TOKEN);
  }

  @Test
  void createdResponseIsNoTokenButItsFirstDeltaIs() {
    assertThat(feed("event: response.created\ndata: {\"type\":\"response.created\"}\n\n"))
        .isEqualTo(UNDECIDED);
    assertThat(feed("event: response.in_progress\ndata: {\"error\":null}\n\n"))
        .isEqualTo(UNDECIDED);
    assertThat(feed("data: {\"type\":\"response.output_item.added\"}\n\n")).isEqualTo(UNDECIDED);
    assertThat(feed("data: {\"type\": \"response.output_text.delta\"}\n\n")).isEqualTo(TOKEN);
  }

  @Test
  void messageStartIsTheFirstTokenAndPingIsNot() {
    assertThat(feed("event: ping\ndata: {\"type\":\"ping\"}\n\n")).isEqualTo(UNDECIDED);
    assertThat(feed("event: message_start\ndata: {\"type\":\"message_start\"}\n\n"))
        .isEqualTo(TOKEN);
  }

  @Test
  void endMarkerAloneIsNoToken() {
    assertThat(feed("data: [DONE]\n\n")).isEqualTo(ENDED);
  }

  @Test
  void failedResponseWithoutCodeIsAServerError() {
    assertThat(feed("event: response.failed\ndata: {\"response\":{}}\n\n"))
        .isEqualTo(new FirstEvent.Failed(500));
  }

  @Test
  void everySplitGivesTheSameAnswer() {
    String stream =
        """
        event: response.created
        data: {"a":1}

        : comment

        data: {"error":{"code":503}}

        """;
    for (int split = 0; split <= stream.length(); split++) {
      FirstEventScanner fresh = new FirstEventScanner();
      FirstEvent first = fresh.feed(bytes(stream.substring(0, split)));
      FirstEvent second =
          first.equals(UNDECIDED) ? fresh.feed(bytes(stream.substring(split))) : first;
      assertThat(second).as("split at %d", split).isEqualTo(new FirstEvent.Failed(503));
    }
  }

  @Test
  void eventBeyondTheBufferIsAToken() {
    String huge = "data: {\"choices\":\"" + "x".repeat(3 * FirstEventScanner.MAX_EVENT_BYTES);

    assertThat(feed(huge)).isEqualTo(TOKEN);
  }

  @Test
  void manyQuietEventsDoNotFillTheBuffer() {
    String quiet = ": wait\n\n".repeat(10_000);

    assertThat(feed(quiet)).isEqualTo(UNDECIDED);
    assertThat(feed("data: {}\n\n")).isEqualTo(TOKEN);
  }

  private FirstEvent feed(String text) {
    return scanner.feed(bytes(text));
  }

  private static ByteBuffer bytes(String text) {
    return ByteBuffer.wrap(text.getBytes(UTF_8));
  }
}
