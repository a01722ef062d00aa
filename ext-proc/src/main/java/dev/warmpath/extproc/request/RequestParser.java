package dev.warmpath.extproc.request;

import dev.warmpath.extproc.request.InferenceRequest.Span;
import dev.warmpath.extproc.request.InferenceRequest.StreamOptions;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumMap;
import org.jspecify.annotations.Nullable;

/**
 * Reads a request body: checks all of it, finds the fields that routing needs in whatever order
 * they come, and fingerprints the prompt. Linear in the body; builds no tree; never throws.
 *
 * <p>A top-level field that occurs twice is refused: parsers disagree on which one counts, so a
 * policy could judge another model or prompt than the one that the upstream reads.
 */
public final class RequestParser {
  private RequestParser() {}

  /** Reads the body of an operation. */
  public static ParsedBody parse(Operation operation, byte[] body) {
    return parse(operation, body, null);
  }

  /**
   * Reads the body of an operation.
   *
   * @param defaultModel of a body that names none; null where it has to name one
   */
  public static ParsedBody parse(Operation operation, byte[] body, @Nullable String defaultModel) {
    try {
      return new ParsedBody.Parsed(new Reading(operation, body, defaultModel).request());
    } catch (MalformedBody malformed) {
      return new ParsedBody.Malformed(malformed.code(), malformed.text(), malformed.param());
    }
  }

  /** Top-level fields that are looked at; others are left alone. */
  private enum Field {
    MODEL("model"),
    STREAM("stream"),
    STREAM_OPTIONS("stream_options"),
    MAX_TOKENS("max_tokens"),
    MAX_COMPLETION_TOKENS("max_completion_tokens"),
    MAX_OUTPUT_TOKENS("max_output_tokens"),
    PRIORITY("priority"),
    CACHE_SALT("cache_salt"),
    MESSAGES("messages"),
    SYSTEM("system"),
    TOOLS("tools"),
    PROMPT("prompt"),
    INPUT("input"),
    INSTRUCTIONS("instructions"),
    PREVIOUS_RESPONSE_ID("previous_response_id"),
    CHAT_TEMPLATE("chat_template"),
    CHAT_TEMPLATE_KWARGS("chat_template_kwargs"),
    DOCUMENTS("documents"),
    REASONING_EFFORT("reasoning_effort");

    private static final Field[] ALL = values();
    final String text;

    Field(String text) {
      this.text = text;
    }

    static @Nullable Field of(String name) {
      for (Field field : ALL) {
        if (field.text.equals(name)) {
          return field;
        }
      }
      return null;
    }
  }

  /** One body being read. */
  private static final class Reading {
    private final Operation operation;
    private final JsonScanner scanner;
    private final EnumMap<Field, Span> spans = new EnumMap<>(Field.class);
    private final @Nullable String defaultModel;
    private int insertAt;

    Reading(Operation operation, byte[] body, @Nullable String defaultModel) {
      this.operation = operation;
      this.defaultModel = defaultModel;
      this.scanner = new JsonScanner(body, body.length);
    }

    InferenceRequest request() {
      findFields();
      Span modelSpan = span(Field.MODEL);
      boolean named = modelSpan != null;
      String model = modelSpan == null ? defaultModel : string(Field.MODEL, modelSpan);
      if (model == null) {
        throw new MalformedBody("missing_model", "Field 'model' is required.", "model");
      }
      if (model.isEmpty()) {
        throw new MalformedBody("missing_model", "Field 'model' is empty.", "model");
      }
      if (modelSpan == null) {
        // Over a null, which must not stay beside it; else behind the opening brace.
        modelSpan = spans.getOrDefault(Field.MODEL, new Span(insertAt, insertAt));
      }
      boolean stream = bool(Field.STREAM);
      Span salt = span(Field.CACHE_SALT);
      long saltHash = 0;
      if (salt != null) {
        byte[] bytes = string(Field.CACHE_SALT, salt).getBytes(StandardCharsets.UTF_8);
        saltHash = PromptHasher.hash(bytes, 0, bytes.length);
      }
      PromptHasher hasher = new PromptHasher(saltHash, scanner.end);
      PromptReader prompt = new PromptReader(scanner, hasher, new ArrayList<>());
      boolean tools = readPrompt(prompt);
      return new InferenceRequest(
          operation,
          model,
          modelSpan,
          named,
          stream,
          streamOptions(stream),
          maxTokens(),
          tools,
          prompt.images(),
          intOrZero(Field.PRIORITY),
          hasher.finish(),
          prompt.text());
    }

    private void findFields() {
      int open = scanner.skipBlank(0);
      if (open == scanner.end) {
        throw new MalformedBody("empty_body", "The request has no body.", null);
      }
      if (scanner.peek(open) != '{') {
        throw MalformedBody.notJson("expected an object", open);
      }
      insertAt = open + 1;
      JsonCursor fields = JsonCursor.fields(scanner, open, 0);
      while (fields.next()) {
        Field field = Field.of(fields.name());
        if (field == null) {
          continue;
        }
        if (spans.put(field, new Span(fields.start(), fields.end())) != null) {
          throw new MalformedBody(
              "duplicate_field", "Field '" + field.text + "' occurs twice.", field.text);
        }
      }
      int behind = scanner.skipBlank(fields.behind());
      if (behind != scanner.end) {
        throw MalformedBody.notJson("something behind the object", behind);
      }
    }

    /** Streams the prompt in the order engines render it. Returns whether tools are defined. */
    private boolean readPrompt(PromptReader prompt) {
      option(prompt, Field.CHAT_TEMPLATE);
      option(prompt, Field.CHAT_TEMPLATE_KWARGS);
      option(prompt, Field.DOCUMENTS);
      option(prompt, Field.REASONING_EFFORT);
      Span tools = span(Field.TOOLS);
      boolean hasTools = tools != null && prompt.tools(array(Field.TOOLS, tools));
      switch (operation) {
        case CHAT_COMPLETIONS -> prompt.messages(array(Field.MESSAGES, required(Field.MESSAGES)));
        case MESSAGES, COUNT_TOKENS -> {
          Span system = span(Field.SYSTEM);
          if (system != null) {
            prompt.system(system.start(), "system");
          }
          prompt.messages(array(Field.MESSAGES, required(Field.MESSAGES)));
        }
        case RESPONSES -> {
          option(prompt, Field.PREVIOUS_RESPONSE_ID);
          Span instructions = span(Field.INSTRUCTIONS);
          if (instructions != null) {
            prompt.system(instructions.start(), "instructions");
          }
          prompt.input(required(Field.INPUT).start());
        }
        case COMPLETIONS -> prompt.prompt(required(Field.PROMPT).start(), "prompt");
        case EMBEDDINGS -> {
          Span messages = span(Field.MESSAGES); // vLLM embeds conversations, too
          if (messages != null && span(Field.INPUT) == null) {
            prompt.messages(array(Field.MESSAGES, messages));
          } else {
            prompt.prompt(required(Field.INPUT).start(), "input");
          }
        }
      }
      return hasTools;
    }

    private void option(PromptReader prompt, Field field) {
      Span value = span(field);
      if (value != null) {
        prompt.option(field.text, value.start());
      }
    }

    /** Null where the field is absent or null. */
    private @Nullable Span span(Field field) {
      Span span = spans.get(field);
      return span == null || scanner.peek(span.start()) == 'n' ? null : span;
    }

    private Span required(Field field) {
      Span span = span(field);
      if (span == null) {
        throw new MalformedBody(
            "missing_field", "Field '" + field.text + "' is required.", field.text);
      }
      return span;
    }

    private int array(Field field, Span span) {
      if (scanner.peek(span.start()) != '[') {
        throw MalformedBody.wrongType(field.text, "an array");
      }
      return span.start();
    }

    private String string(Field field, Span span) {
      if (scanner.peek(span.start()) != '"') {
        throw MalformedBody.wrongType(field.text, "a string");
      }
      return scanner.string(span.start(), span.end());
    }

    private boolean bool(Field field) {
      Span span = span(field);
      if (span == null) {
        return false;
      }
      int b = scanner.peek(span.start());
      if (b != 't' && b != 'f') {
        throw MalformedBody.wrongType(field.text, "a boolean");
      }
      return b == 't';
    }

    private @Nullable Integer maxTokens() {
      for (Field field :
          new Field[] {Field.MAX_COMPLETION_TOKENS, Field.MAX_OUTPUT_TOKENS, Field.MAX_TOKENS}) {
        Integer value = integer(field);
        if (value != null) {
          return value;
        }
      }
      return null;
    }

    private int intOrZero(Field field) {
      Integer value = integer(field);
      return value == null ? 0 : value;
    }

    private @Nullable Integer integer(Field field) {
      Span span = span(field);
      if (span == null) {
        return null;
      }
      int b = scanner.peek(span.start());
      if (b != '-' && (b < '0' || b > '9')) {
        throw MalformedBody.wrongType(field.text, "an integer");
      }
      double value =
          Double.parseDouble(
              new String(
                  scanner.json,
                  span.start(),
                  span.end() - span.start(),
                  StandardCharsets.ISO_8859_1));
      if (value != Math.rint(value)) {
        throw MalformedBody.wrongType(field.text, "an integer");
      }
      if (Math.abs(value) > Integer.MAX_VALUE) {
        throw new MalformedBody(
            "invalid_value", "Field '" + field.text + "' is out of range.", field.text);
      }
      return (int) value;
    }

    private StreamOptions streamOptions(boolean stream) {
      boolean optional =
          operation == Operation.CHAT_COMPLETIONS || operation == Operation.COMPLETIONS;
      if (!stream || !optional) {
        return new StreamOptions.UsageGiven();
      }
      Span span = spans.get(Field.STREAM_OPTIONS);
      if (span == null) {
        return new StreamOptions.Absent(insertAt);
      }
      int start = span.start();
      if (scanner.peek(start) == 'n') {
        return new StreamOptions.Null(span);
      }
      if (scanner.peek(start) != '{') {
        throw MalformedBody.wrongType("stream_options", "an object");
      }
      JsonCursor fields = JsonCursor.fields(scanner, start, 1);
      boolean empty = true;
      Span usage = null;
      while (fields.next()) {
        empty = false;
        if (fields.name().equals("include_usage")) {
          if (usage != null) {
            throw new MalformedBody(
                "duplicate_field",
                "Field 'stream_options.include_usage' occurs twice.",
                "stream_options.include_usage");
          }
          usage = new Span(fields.start(), fields.end());
        }
      }
      if (usage == null) {
        return new StreamOptions.WithoutUsage(start + 1, empty);
      }
      return switch (scanner.peek(usage.start())) {
        case 't' -> new StreamOptions.UsageGiven();
        case 'f', 'n' -> new StreamOptions.UsageRefused(usage);
        default -> throw MalformedBody.wrongType("stream_options.include_usage", "a boolean");
      };
    }
  }
}
