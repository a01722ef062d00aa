package dev.warmpath.extproc.request;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * One conversation, written in both dialects with arbitrary escapes, blanks and key order, gives
 * one chain; a changed conversation gives another.
 */
class PromptFingerprintFuzzTest {
  private static final int ROUNDS = 150;

  private record Tool(String name, String description, String property) {}

  private record Call(String name, String key, String value) {}

  /** Role user, assistant or tool; an image only for user, calls only for assistant. */
  private record Turn(String role, List<String> texts, @Nullable String image, List<Call> calls) {}

  private record Conversation(
      List<Tool> tools, @Nullable String system, List<Turn> turns, @Nullable String salt) {}

  private final SplittableRandom random = new SplittableRandom(20261129);

  @Test
  void oneConversationHasOneChain() {
    for (int round = 0; round < ROUNDS; round++) {
      Conversation conversation = conversation();
      long[] expected = chain(Operation.CHAT_COMPLETIONS, openAi(conversation));
      for (int k = 0; k < 3; k++) {
        assertThat(chain(Operation.CHAT_COMPLETIONS, openAi(conversation))).isEqualTo(expected);
        assertThat(chain(Operation.MESSAGES, anthropic(conversation))).isEqualTo(expected);
      }
    }
  }

  @Test
  void anotherConversationHasAnother() {
    for (int round = 0; round < ROUNDS; round++) {
      Conversation conversation = conversation();
      long[] before = chain(Operation.CHAT_COMPLETIONS, openAi(conversation));
      for (int kind = 0; kind < 8; kind++) {
        Conversation changed = changed(conversation, kind);
        if (changed == null) {
          continue;
        }
        assertThat(chain(Operation.CHAT_COMPLETIONS, openAi(changed)))
            .as("change %d of %s", kind, conversation)
            .isNotEqualTo(before);
      }
    }
  }

  @Test
  void longerConversationKeepsThePrefix() {
    for (int round = 0; round < 50; round++) {
      Conversation conversation = conversation();
      List<Turn> more = new ArrayList<>(conversation.turns());
      more.add(new Turn("user", List.of("y".repeat(600)), null, List.of()));
      long[] shorter = chain(Operation.CHAT_COMPLETIONS, openAi(conversation));
      long[] longer =
          chain(
              Operation.MESSAGES,
              anthropic(
                  new Conversation(
                      conversation.tools(), conversation.system(), more, conversation.salt())));
      assertThat(longer).startsWith(shorter);
      assertThat(longer.length).isGreaterThan(shorter.length);
    }
  }

  /**
   * Text is decoded by words and hashed by blocks: an escape may lie across any of their borders.
   */
  @Test
  void anEscapeAtAnyPositionChangesNothing() {
    StringBuilder text = new StringBuilder();
    while (text.length() < 3 * PromptFingerprint.BLOCK_BYTES) {
      text.append((char) ('a' + random.nextInt(26)));
    }
    String before = "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"";
    long[] expected = chain(Operation.CHAT_COMPLETIONS, before + text + "\"}]}");
    assertThat(expected.length).isEqualTo(3);
    for (int i = 0; i < text.length(); i++) {
      String escape = "\\u%04x".formatted((int) text.charAt(i));
      String escaped = text.substring(0, i) + escape + text.substring(i + 1);
      assertThat(chain(Operation.CHAT_COMPLETIONS, before + escaped + "\"}]}"))
          .as("escape at %d", i)
          .isEqualTo(expected);
    }
  }

  private static long[] chain(Operation operation, String body) {
    ParsedBody result = RequestParser.parse(operation, body.getBytes(StandardCharsets.UTF_8));
    assertThat(result).as(body).isInstanceOf(ParsedBody.Parsed.class);
    PromptFingerprint print = ((ParsedBody.Parsed) result).request().fingerprint();
    return Arrays.copyOf(print.chain(), print.blocks());
  }

  private Conversation conversation() {
    List<Tool> tools = new ArrayList<>();
    for (int i = random.nextInt(3); i > 0; i--) {
      tools.add(new Tool("tool" + i, text(40), text(10)));
    }
    List<Turn> turns = new ArrayList<>();
    for (int i = random.nextInt(4); i >= 0; i--) {
      turns.add(
          new Turn(
              "user",
              List.of(text(200)),
              random.nextInt(4) == 0 ? "data:image/png;base64,AA" + random.nextInt(1000) : null,
              List.of()));
      List<Call> calls =
          random.nextInt(3) == 0
              ? List.of(new Call("tool1", "k" + random.nextInt(9), text(20)))
              : List.of();
      turns.add(new Turn("assistant", List.of(text(300), text(20)), null, calls));
      if (!calls.isEmpty()) {
        turns.add(new Turn("tool", List.of(text(50)), null, List.of()));
      }
    }
    // Long enough that every change in front of it is in a complete block.
    turns.add(new Turn("user", List.of("z".repeat(700)), null, List.of()));
    return new Conversation(
        tools,
        random.nextBoolean() ? text(150) : null,
        turns,
        random.nextInt(4) == 0 ? "salt" + random.nextInt(100) : null);
  }

  private String text(int most) {
    int length = 1 + random.nextInt(most);
    StringBuilder out = new StringBuilder();
    while (out.length() < length) {
      switch (random.nextInt(10)) {
        case 0 -> out.append("\n\t\"\\/\b\f\r".charAt(random.nextInt(8)));
        case 1 -> out.append((char) (0x80 + random.nextInt(0x700)));
        case 2 -> out.append((char) (0x4E00 + random.nextInt(5_000)));
        case 3 -> out.appendCodePoint(0x1F300 + random.nextInt(500));
        case 4 -> out.append((char) (1 + random.nextInt(0x1F)));
        default -> out.append((char) (' ' + random.nextInt(95)));
      }
    }
    return out.toString();
  }

  private @Nullable Conversation changed(Conversation c, int kind) {
    List<Turn> turns = new ArrayList<>(c.turns());
    int at = random.nextInt(turns.size() - 1);
    Turn turn = turns.get(at);
    switch (kind) {
      case 0 -> {
        List<String> texts = new ArrayList<>(turn.texts());
        texts.set(0, texts.getFirst() + "!");
        turns.set(at, new Turn(turn.role(), texts, turn.image(), turn.calls()));
      }
      case 1 ->
          turns.set(at, new Turn(turn.role() + "x", turn.texts(), turn.image(), turn.calls()));
      case 2 ->
          turns.set(
              at, new Turn("user", turn.texts(), "https://x/" + random.nextLong(), List.of()));
      case 3 ->
          turns.set(
              at,
              new Turn("assistant", turn.texts(), null, List.of(new Call("other", "k", text(9)))));
      case 4 -> {
        List<Tool> tools = new ArrayList<>(c.tools());
        tools.add(new Tool("added", "d", "p"));
        return new Conversation(tools, c.system(), turns, c.salt());
      }
      case 5 -> {
        return new Conversation(
            c.tools(), c.system() == null ? "new" : c.system() + "x", turns, c.salt());
      }
      case 6 -> {
        return new Conversation(c.tools(), c.system(), turns, c.salt() + "x");
      }
      default -> turns.remove(at);
    }
    return new Conversation(c.tools(), c.system(), turns, c.salt());
  }

  // Writers with every freedom that JSON gives.

  private String blank() {
    return switch (random.nextInt(6)) {
      case 0 -> " ";
      case 1 -> "\n  ";
      default -> "";
    };
  }

  private String quote(String text) {
    StringBuilder out = new StringBuilder("\"");
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      boolean must = c < 0x20 || c == '"' || c == '\\';
      if (Character.isHighSurrogate(c)) {
        char low = text.charAt(++i);
        out.append(
            random.nextBoolean() ? "" + c + low : "\\u%04x\\u%04X".formatted((int) c, (int) low));
      } else if (must || random.nextInt(20) == 0) {
        String brief =
            switch (c) {
              case '\n' -> "\\n";
              case '\t' -> "\\t";
              case '\r' -> "\\r";
              case '\b' -> "\\b";
              case '\f' -> "\\f";
              case '"' -> "\\\"";
              case '\\' -> "\\\\";
              case '/' -> "\\/";
              default -> "";
            };
        if (!brief.isEmpty() && random.nextBoolean()) {
          out.append(brief);
        } else {
          out.append((random.nextBoolean() ? "\\u%04x" : "\\u%04X").formatted((int) c));
        }
      } else {
        out.append(c);
      }
    }
    return out.append('"').toString();
  }

  private String object(Map<String, String> fields) {
    List<String> keys = new ArrayList<>(fields.keySet());
    for (int i = keys.size() - 1; i > 0; i--) {
      int j = random.nextInt(i + 1);
      String swap = keys.get(i);
      keys.set(i, keys.get(j));
      keys.set(j, swap);
    }
    return inOrder(keys, fields);
  }

  private String inOrder(List<String> keys, Map<String, String> fields) {
    StringBuilder out = new StringBuilder("{").append(blank());
    String separator = "";
    for (String key : keys) {
      out.append(separator);
      separator = ",";
      out.append(blank()).append(quote(key)).append(blank()).append(':').append(blank());
      out.append(fields.get(key)).append(blank());
    }
    return out.append('}').toString();
  }

  private String array(List<String> items) {
    return "[" + blank() + String.join(blank() + "," + blank(), items) + blank() + "]";
  }

  private static Map<String, String> fields(String... pairs) {
    Map<String, String> map = new LinkedHashMap<>();
    for (int i = 0; i < pairs.length; i += 2) {
      map.put(pairs[i], pairs[i + 1]);
    }
    return map;
  }

  private String schema(Tool tool) {
    // Key order counts here: engines render the schema as it is.
    return "{\"type\":"
        + quote("object")
        + blank()
        + ",\"properties\":{"
        + quote(tool.property())
        + ":{\"type\":\"string\"}}}";
  }

  private List<String> texts(Turn turn) {
    List<String> parts = new ArrayList<>();
    turn.texts().forEach(t -> parts.add(object(fields("type", "\"text\"", "text", quote(t)))));
    return parts;
  }

  private String openAi(Conversation c) {
    List<String> messages = new ArrayList<>();
    if (c.system() != null) {
      messages.add(object(fields("role", "\"system\"", "content", quote(c.system()))));
    }
    for (Turn turn : c.turns()) {
      Map<String, String> message = fields("role", quote(turn.role()));
      List<String> parts = texts(turn);
      if (turn.image() != null) {
        parts.add(
            object(
                fields(
                    "type",
                    "\"image_url\"",
                    "image_url",
                    object(fields("url", quote(turn.image()), "detail", "\"auto\"")))));
      }
      boolean plain = parts.size() == 1 && random.nextBoolean();
      message.put("content", plain ? quote(turn.texts().getFirst()) : array(parts));
      if (!turn.calls().isEmpty()) {
        List<String> calls = new ArrayList<>();
        for (Call call : turn.calls()) {
          String arguments = "{ " + quote(call.key()) + ": " + quote(call.value()) + "}";
          calls.add(
              object(
                  fields(
                      "id",
                      "\"call_" + random.nextInt(99) + "\"",
                      "type",
                      "\"function\"",
                      "function",
                      object(fields("name", quote(call.name()), "arguments", quote(arguments))))));
        }
        message.put("tool_calls", array(calls));
      }
      if (turn.role().equals("tool")) {
        message.put("tool_call_id", "\"call_1\"");
      }
      messages.add(object(message));
    }
    Map<String, String> body = fields("model", "\"m\"", "messages", array(messages));
    if (!c.tools().isEmpty()) {
      List<String> tools = new ArrayList<>();
      for (Tool tool : c.tools()) {
        tools.add(
            object(
                fields(
                    "type",
                    "\"function\"",
                    "function",
                    object(
                        fields(
                            "name",
                            quote(tool.name()),
                            "description",
                            quote(tool.description()),
                            "parameters",
                            schema(tool),
                            "strict",
                            "true")))));
      }
      body.put("tools", array(tools));
    }
    return withSalt(c, body);
  }

  private String withSalt(Conversation c, Map<String, String> body) {
    if (c.salt() != null) {
      body.put("cache_salt", quote(c.salt()));
    }
    body.put("temperature", "0." + random.nextInt(9));
    return object(body);
  }

  private String anthropic(Conversation c) {
    List<String> messages = new ArrayList<>();
    for (Turn turn : c.turns()) {
      List<String> parts = texts(turn);
      String role = turn.role();
      if (role.equals("tool")) {
        role = "user";
        parts =
            new ArrayList<>(
                List.of(
                    object(
                        fields(
                            "type",
                            "\"tool_result\"",
                            "tool_use_id",
                            "\"toolu_1\"",
                            "content",
                            random.nextBoolean()
                                ? array(parts)
                                : quote(turn.texts().getFirst())))));
      }
      if (turn.image() != null) {
        String[] halves = turn.image().split(",", 2);
        String source =
            turn.image().startsWith("data:")
                ? object(
                    fields(
                        "type", "\"base64\"",
                        "media_type", "\"image/png\"",
                        "data", quote(halves[1])))
                : object(fields("type", "\"url\"", "url", quote(turn.image())));
        parts.add(object(fields("type", "\"image\"", "source", source)));
      }
      for (Call call : turn.calls()) {
        parts.add(
            object(
                fields(
                    "type",
                    "\"tool_use\"",
                    "id",
                    "\"toolu_1\"",
                    "name",
                    quote(call.name()),
                    "input",
                    "{"
                        + blank()
                        + quote(call.key())
                        + blank()
                        + ":"
                        + quote(call.value())
                        + "}")));
      }
      messages.add(object(fields("role", quote(role), "content", array(parts))));
    }
    Map<String, String> body =
        fields("model", "\"m\"", "max_tokens", "5", "messages", array(messages));
    if (c.system() != null) {
      body.put(
          "system",
          random.nextBoolean()
              ? quote(c.system())
              : array(
                  List.of(
                      object(
                          fields(
                              "type",
                              "\"text\"",
                              "text",
                              quote(c.system()),
                              "cache_control",
                              "{\"type\":\"ephemeral\"}")))));
    }
    if (!c.tools().isEmpty()) {
      List<String> tools = new ArrayList<>();
      for (Tool tool : c.tools()) {
        tools.add(
            object(
                fields(
                    "name",
                    quote(tool.name()),
                    "description",
                    quote(tool.description()),
                    "input_schema",
                    schema(tool))));
      }
      body.put("tools", array(tools));
    }
    return withSalt(c, body);
  }
}
