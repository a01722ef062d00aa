package dev.warmpath.extproc.request;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.extproc.request.InferenceRequest.StreamOptions;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RequestParserTest {
  static ParsedBody chat(String body) {
    return RequestParser.parse(Operation.CHAT_COMPLETIONS, body.getBytes(StandardCharsets.UTF_8));
  }

  static InferenceRequest parsed(Operation operation, String body) {
    ParsedBody result = RequestParser.parse(operation, body.getBytes(StandardCharsets.UTF_8));
    assertThat(result).as(body).isInstanceOf(ParsedBody.Parsed.class);
    return ((ParsedBody.Parsed) result).request();
  }

  private static ParsedBody.Malformed malformed(ParsedBody result) {
    assertThat(result).isInstanceOf(ParsedBody.Malformed.class);
    return (ParsedBody.Malformed) result;
  }

  @Test
  void findsFieldsInAnyOrder() {
    String prompt = "x".repeat(100_000);
    InferenceRequest late =
        parsed(
            Operation.CHAT_COMPLETIONS,
            " {\"messages\" : [ {\"role\":\"user\",\"content\":\""
                + prompt
                + "\"} ] ,\n"
                + " \"max_tokens\":7, \"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}],"
                + " \"mod\\u0065l\" : \"m\\/1\" , \"stream\" : true } ");
    assertThat(late.model()).isEqualTo("m/1");
    assertThat(late.stream()).isTrue();
    assertThat(late.tools()).isTrue();
    assertThat(late.maxTokens()).isEqualTo(7);
    assertThat(late.modelSpan().end() - late.modelSpan().start()).isEqualTo("\"m\\/1\"".length());
    assertThat(late.fingerprint().blocks()).isEqualTo(390);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "``|empty_body|",
        "`   `|empty_body|",
        "nonsense|invalid_json|",
        "[]|invalid_json|",
        "{|invalid_json|",
        "{\"model\":\"m\"|invalid_json|",
        "{\"model\":\"m\",}|invalid_json|",
        "{\"model\":\"m\" \"messages\":[]}|invalid_json|",
        "{\"model\":\"m\",\"messages\":[]} x|invalid_json|",
        "{\"model\":\"m\",\"messages\":[1,]}|invalid_json|",
        "{\"model\":\"m\",\"messages\":[],\"x\":NaN}|invalid_json|",
        "{\"model\":\"m\",\"messages\":[],\"x\":01}|invalid_json|",
        "{\"model\":\"m\",\"messages\":[],\"x\":1.}|invalid_json|",
        "{\"model\":\"m\",\"messages\":[],\"x\":\"\\q\"}|invalid_json|",
        "{\"model\":\"m\",\"messages\":[],\"x\":\"\\u12g4\"}|invalid_json|",
        "{\"model\":\"m\",\"messages\":[],\"x\":\"\\ud800\"}|invalid_unicode|",
        "{\"model\":\"m\",\"messages\":[],\"x\":\"\\udc00\"}|invalid_unicode|",
        "{\"model\":\"m\",\"messages\":[],\"x\":\"\\ud800\\u0041\"}|invalid_unicode|",
        "{\"messages\":[]}|missing_model|model",
        "{\"model\":null,\"messages\":[]}|missing_model|model",
        "{\"model\":\"\",\"messages\":[]}|missing_model|model",
        "{\"model\":5,\"messages\":[]}|invalid_type|model",
        "{\"model\":\"m\"}|missing_field|messages",
        "{\"model\":\"m\",\"messages\":\"hi\"}|invalid_type|messages",
        "{\"model\":\"m\",\"messages\":[\"hi\"]}|invalid_type|messages[0]",
        "{\"model\":\"m\",\"messages\":[{\"content\":\"hi\"}]}|missing_field|messages[0].role",
        "{\"model\":\"m\",\"messages\":[{\"role\":1}]}|invalid_type|messages[0].role",
        "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":5}]}|invalid_type|messages[0].content",
        "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":[5]}]}|invalid_type|messages[0].content[0]",
        "{\"model\":\"m\",\"messages\":[],\"stream\":\"yes\"}|invalid_type|stream",
        "{\"model\":\"m\",\"messages\":[],\"max_tokens\":\"5\"}|invalid_type|max_tokens",
        "{\"model\":\"m\",\"messages\":[],\"max_tokens\":1.5}|invalid_type|max_tokens",
        "{\"model\":\"m\",\"messages\":[],\"max_tokens\":1e400}|invalid_value|max_tokens",
        "{\"model\":\"m\",\"messages\":[],\"stream\":true,\"stream_options\":5}|invalid_type|stream_options",
        "{\"model\":\"m\",\"model\":\"n\",\"messages\":[]}|duplicate_field|model",
        "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"a\",\"content\":\"b\"}]}|duplicate_field|messages[0].content",
      })
  void refusesWhatNoEngineAccepts(String body, String code, String param) {
    ParsedBody.Malformed result = malformed(chat(body));
    assertThat(result.code()).isEqualTo(code);
    assertThat(result.param()).isEqualTo(param);
    assertThat(result.message()).isNotBlank();
  }

  @Test
  void limitsDepthWithoutRecursion() {
    for (int depth : new int[] {300, 10_000, 1_000_000}) {
      String nested = "[".repeat(depth) + "]".repeat(depth);
      assertThat(malformed(chat("{\"model\":\"m\",\"messages\":[],\"x\":" + nested + "}")).code())
          .isEqualTo("nesting_too_deep");
    }
    String allowed = "{\"a\":".repeat(200) + "1" + "}".repeat(200);
    assertThat(chat("{\"model\":\"m\",\"messages\":[],\"x\":" + allowed + "}"))
        .isInstanceOf(ParsedBody.Parsed.class);
  }

  @Test
  void refusesMalformedUtf8() {
    byte[][] bad = {
      {(byte) 0x80},
      {(byte) 0xC0, (byte) 0xAF},
      {(byte) 0xE0, (byte) 0x80, (byte) 0x80},
      {(byte) 0xED, (byte) 0xA0, (byte) 0x80},
      {(byte) 0xF5, (byte) 0x80, (byte) 0x80, (byte) 0x80},
      {(byte) 0xE2, (byte) 0x82},
      {(byte) 0xFF},
    };
    byte[] head =
        "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\""
            .getBytes(StandardCharsets.UTF_8);
    byte[] tail = "\"}]}".getBytes(StandardCharsets.UTF_8);
    for (byte[] sequence : bad) {
      byte[] body = new byte[head.length + sequence.length + tail.length];
      System.arraycopy(head, 0, body, 0, head.length);
      System.arraycopy(sequence, 0, body, head.length, sequence.length);
      System.arraycopy(tail, 0, body, head.length + sequence.length, tail.length);
      assertThat(malformed(RequestParser.parse(Operation.CHAT_COMPLETIONS, body)).code())
          .isEqualTo("invalid_unicode");
    }
  }

  @Test
  void seesEveryShapeOfStreamOptions() {
    String head = "{\"model\":\"m\",\"messages\":[],\"stream\":true";
    assertThat(options(head + "}")).isInstanceOf(StreamOptions.Absent.class);
    assertThat(options(head + ",\"stream_options\":null}")).isInstanceOf(StreamOptions.Null.class);
    assertThat(options(head + ",\"stream_options\":{}}"))
        .isEqualTo(new StreamOptions.WithoutUsage(head.length() + 19, true));
    assertThat(options(head + ",\"stream_options\":{\"x\":1}}"))
        .isEqualTo(new StreamOptions.WithoutUsage(head.length() + 19, false));
    assertThat(options(head + ",\"stream_options\":{\"include_usage\":false}}"))
        .isInstanceOf(StreamOptions.UsageRefused.class);
    assertThat(options(head + ",\"stream_options\":{\"include_usage\":null}}"))
        .isInstanceOf(StreamOptions.UsageRefused.class);
    assertThat(options(head + ",\"stream_options\":{\"include_usage\":true}}"))
        .isInstanceOf(StreamOptions.UsageGiven.class);
    assertThat(options("{\"model\":\"m\",\"messages\":[]}"))
        .isInstanceOf(StreamOptions.UsageGiven.class);
  }

  private static StreamOptions options(String body) {
    return parsed(Operation.CHAT_COMPLETIONS, body).streamOptions();
  }

  @Test
  void readsEveryOperation() {
    assertThat(
            parsed(Operation.COMPLETIONS, "{\"model\":\"m\",\"prompt\":[[1,2,3],[4]]}")
                .fingerprint()
                .size())
        .isEqualTo(4 * 4 + 2);
    parsed(Operation.COMPLETIONS, "{\"model\":\"m\",\"prompt\":\"hi\"}");
    parsed(Operation.COMPLETIONS, "{\"model\":\"m\",\"prompt\":[\"hi\",\"there\"]}");
    parsed(Operation.EMBEDDINGS, "{\"model\":\"m\",\"input\":[\"hi\"]}");
    parsed(
        Operation.RESPONSES,
        "{\"model\":\"m\",\"instructions\":\"be brief\",\"input\":[{\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"hi\"}]},"
            + "{\"type\":\"function_call\",\"name\":\"f\",\"arguments\":\"{}\",\"call_id\":\"c\"},"
            + "{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":\"42\"}]}");
    parsed(Operation.MESSAGES, "{\"max_tokens\":5,\"model\":\"m\",\"messages\":[]}");
    assertThat(
            malformed(
                    RequestParser.parse(
                        Operation.COMPLETIONS,
                        "{\"model\":\"m\"}".getBytes(StandardCharsets.UTF_8)))
                .param())
        .isEqualTo("prompt");
  }

  @Test
  void givesTheTextOfThePrompt() {
    InferenceRequest request =
        parsed(
            Operation.MESSAGES,
            "{\"model\":\"m\",\"system\":\"sys\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":\"res\"},"
                + "{\"type\":\"text\",\"text\":\"caf\\u00e9\"}]},{\"role\":\"assistant\",\"content\":\"ok\"}]}");
    List<String> seen = new ArrayList<>();
    request.text().visit(4, (speaker, text) -> seen.add(speaker + ":" + text));
    assertThat(seen).containsExactly("SYSTEM:sys", "TOOL:res", "USER:caf", "ASSISTANT:ok");
  }

  /** Whatever arrives, the outcome is a value: no exception, no hang. */
  @Test
  void neverThrows() {
    SplittableRandom random = new SplittableRandom(7);
    byte[] seed =
        ("{\"model\":\"m\",\"stream\":true,\"stream_options\":{\"a\":[1,2.5e3,null]},\"tools\":[{\"name\":\"f\",\"input_schema\":{}}],"
                + "\"system\":[{\"type\":\"text\",\"text\":\"\\u00e9\\n\"}],\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image\",\"source\":{\"data\":\"AA\"}},"
                + "{\"type\":\"tool_result\",\"content\":\"é\"}]},{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":1}\"}}]}],"
                + "\"prompt\":[1,2],\"input\":[{\"type\":\"function_call\"}],\"instructions\":\"i\"}")
            .getBytes(StandardCharsets.UTF_8);
    byte[] alphabet = "{}[]\",:\\u0eE+-.tfn \u00e9".getBytes(StandardCharsets.UTF_8);
    int parsedCount = 0;
    for (int round = 0; round < 15_000; round++) {
      byte[] body = seed.clone();
      int edits = 1 + random.nextInt(4);
      for (int k = 0; k < edits; k++) {
        int at = random.nextInt(body.length);
        switch (random.nextInt(3)) {
          case 0 -> body[at] = alphabet[random.nextInt(alphabet.length)];
          case 1 -> body[at] = (byte) random.nextInt(256);
          default -> body = java.util.Arrays.copyOf(body, at);
        }
        if (body.length == 0) {
          break;
        }
      }
      for (Operation operation : Operation.values()) {
        if (RequestParser.parse(operation, body) instanceof ParsedBody.Parsed) {
          parsedCount++;
        }
      }
    }
    assertThat(parsedCount).isPositive();
  }
}
