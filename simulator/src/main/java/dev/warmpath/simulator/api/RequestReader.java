package dev.warmpath.simulator.api;

import dev.warmpath.simulator.text.PromptRenderer;
import dev.warmpath.simulator.text.TokenBuffer;
import dev.warmpath.simulator.text.Tokenizer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Turns bodies into {@link Generation}s or errors. */
public final class RequestReader {
  private static final int LONGEST_STRING = 100_000_000;
  private static final int MOST_CHOICES = 64;
  private static final Set<String> PROMPT_FIELDS =
      Set.of("messages", "prompt", "input", "system", "instructions");

  private final ServedModel model;
  private final Tokenizer tokenizer;
  private final JsonMapper mapper =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder().maxStringLength(LONGEST_STRING).build())
                  .build())
          .build();

  public RequestReader(ServedModel model, Tokenizer tokenizer) {
    this.model = model;
    this.tokenizer = tokenizer;
  }

  public Tokenizer tokenizer() {
    return tokenizer;
  }

  /** The body as JSON. */
  public JsonNode json(byte[] body) throws ApiException {
    try {
      JsonNode node = model.countOnly() ? withoutPrompt(body) : mapper.readTree(body);
      if (node.isObject()) {
        return node;
      }
      throw node.isMissingNode()
          ? Errors.notJson(0)
          : Errors.validation(
              "model_attributes_type",
              "body",
              "Input should be a valid dictionary or object to extract fields from",
              "''");
    } catch (JacksonException e) {
      throw Errors.notJson(
          e.getLocation() == null
              ? body.length
              : (int) Math.max(0, e.getLocation().getByteOffset()));
    }
  }

  /**
   * The same with an empty text or list in place of each part that may be long; skipping it costs a
   * fraction of reading it.
   */
  private JsonNode withoutPrompt(byte[] body) {
    try (JsonParser parser = mapper.createParser(body)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        return mapper.readTree(body);
      }
      ObjectNode node = mapper.createObjectNode();
      while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
        String name = parser.currentName();
        JsonToken value = parser.nextToken();
        if (!PROMPT_FIELDS.contains(name)) {
          JsonNode read = parser.readValueAsTree();
          node.set(name, read);
        } else if (value == JsonToken.START_ARRAY) {
          parser.skipChildren();
          node.putArray(name);
        } else {
          parser.skipChildren();
          node.put(name, "");
        }
      }
      // Nothing may follow; if something does, the ordinary way says what is wrong with it.
      return parser.nextToken() == null ? node : mapper.readTree(body);
    }
  }

  /** Checks that the named model is served; no name means the first one. */
  public String model(Operation operation, JsonNode body) throws ApiException {
    String name = string(body, "model");
    if (name == null || name.isEmpty()) {
      return model.name();
    }
    if (!model.names().contains(name)) {
      throw Errors.unknownModel(operation, name, model.names());
    }
    return name;
  }

  /** Reads a request for an answer. */
  public Generation generation(Operation operation, byte[] bytes) throws ApiException {
    JsonNode body = json(bytes);
    Integer limit = limit(operation, body);
    boolean stream = bool(body, "stream");
    requirePrompt(operation, body);
    String name = model(operation, body);
    if (limit != null && limit > model.maxTokens()) {
      throw Errors.bad(
          operation,
          "max_tokens="
              + limit
              + " cannot be greater than max_model_len="
              + model.maxTokens()
              + ". Please request fewer output tokens. (parameter=max_tokens, value="
              + limit
              + ")",
          "max_tokens");
    }

    LastText lastText = new LastText();
    List<TokenBuffer> prompts =
        model.countOnly() ? List.of(new TokenBuffer()) : prompts(operation, body, lastText);
    List<Integer> promptTokens = new ArrayList<>(prompts.size());
    List<Answer> answers = new ArrayList<>();
    Integer choices = integer(body, "n");
    int n = choices == null ? 1 : Math.clamp(choices, 1, MOST_CHOICES);
    for (TokenBuffer prompt : prompts) {
      int tokens =
          model.countOnly() ? Tokenizer.estimate(bytes.length) : Math.max(1, prompt.size());
      if (tokens >= model.maxTokens()) {
        throw Errors.promptTooLong(operation, tokens, model.maxTokens());
      }
      promptTokens.add(tokens);
      for (int choice = 0; choice < n; choice++) {
        answers.add(answer(operation, body, limit, tokens, prompt, choice, lastText));
      }
    }
    JsonNode options = body.path("stream_options");
    boolean usage = bool(options, "include_usage");
    return new Generation(
        operation,
        name,
        prompts,
        promptTokens,
        answers,
        salt(body),
        stream,
        usage,
        usage && bool(options, "continuous_usage_stats"),
        limit,
        body);
  }

  /** The tokens of a body of the tokenize or count route. */
  public TokenBuffer tokens(Operation operation, JsonNode body) throws ApiException {
    return body.has("prompt")
        ? prompts(Operation.COMPLETIONS, body, new LastText()).getFirst()
        : prompts(
                operation == Operation.TOKENIZE ? Operation.CHAT : operation, body, new LastText())
            .getFirst();
  }

  private Answer answer(
      Operation operation,
      JsonNode body,
      @Nullable Integer limit,
      int promptTokens,
      TokenBuffer prompt,
      int choice,
      LastText lastText) {
    int room = model.maxTokens() - promptTokens;
    if (operation == Operation.EMBEDDINGS) {
      return Answer.words(0, 1, 1);
    }
    String tool = ToolChoice.forced(body);
    if (tool != null) {
      return Answer.toolCall(tool, ToolChoice.arguments(body, tool), tokenizer);
    }
    int most = Math.max(1, Math.min(room, limit == null ? room : limit));
    if ((model.echo() || bool(body.path("vllm_xargs"), "echo")) && !lastText.value.isEmpty()) {
      return Answer.echo(lastText.value, most, tokenizer);
    }
    int natural =
        limit != null && bool(body, "ignore_eos")
            ? Integer.MAX_VALUE
            : Math.min(model.answerTokens(), room);
    return Answer.words(seed(prompt, choice), most, natural);
  }

  /** Equal prompts get equal answers, whoever asks and whenever. */
  private long seed(TokenBuffer prompt, int choice) {
    long hash = model.seed() * 0x9E3779B97F4A7C15L + choice;
    for (int i = 0; i < prompt.size(); i++) {
      hash = (hash ^ prompt.get(i)) * 0x100000001B3L;
    }
    return hash;
  }

  private static void requirePrompt(Operation operation, JsonNode body) throws ApiException {
    String field =
        switch (operation) {
          case CHAT, MESSAGES, COUNT_TOKENS -> "messages";
          case COMPLETIONS -> "prompt";
          case RESPONSES, EMBEDDINGS -> "input";
          case TOKENIZE, DETOKENIZE -> "";
        };
    if (!field.isEmpty() && !body.has(field)) {
      throw Errors.missing(field, body.size());
    }
    if (operation == Operation.MESSAGES && !body.has("max_tokens")) {
      throw Errors.missing("max_tokens", body.size());
    }
    if (field.equals("messages")) {
      JsonNode messages = body.get(field);
      if (!messages.isArray()) {
        throw Errors.validation("list_type", "body.messages", "Input should be a valid list", "''");
      }
    }
  }

  private static @Nullable Integer limit(Operation operation, JsonNode body) throws ApiException {
    return switch (operation) {
      case CHAT -> {
        Integer newer = integer(body, "max_completion_tokens");
        yield newer == null ? integer(body, "max_tokens") : newer;
      }
      case COMPLETIONS -> {
        Integer given = integer(body, "max_tokens");
        yield given == null ? 16 : given;
      }
      case RESPONSES -> integer(body, "max_output_tokens");
      default -> integer(body, "max_tokens");
    };
  }

  private List<TokenBuffer> prompts(Operation operation, JsonNode body, LastText lastText)
      throws ApiException {
    if (operation == Operation.COMPLETIONS || operation == Operation.EMBEDDINGS) {
      return plainPrompts(
          body.path(operation == Operation.EMBEDDINGS ? "input" : "prompt"), lastText);
    }
    PromptRenderer renderer = new PromptRenderer(tokenizer);
    new ConversationReader(renderer, lastText).read(operation, body);
    return List.of(renderer.openAnswer());
  }

  /** A string, strings, ids, or lists of ids. */
  private List<TokenBuffer> plainPrompts(JsonNode prompt, LastText lastText) throws ApiException {
    if (!prompt.isArray()) {
      return List.of(plainPrompt(prompt, lastText));
    }
    if (!prompt.isEmpty() && prompt.get(0).isNumber()) {
      return List.of(ids(prompt));
    }
    List<TokenBuffer> prompts = new ArrayList<>();
    for (JsonNode one : prompt) {
      prompts.add(one.isArray() ? ids(one) : plainPrompt(one, lastText));
    }
    if (prompts.isEmpty()) {
      throw Errors.bad(Operation.COMPLETIONS, "Please provide at least one prompt", "prompt");
    }
    return prompts;
  }

  private TokenBuffer plainPrompt(JsonNode prompt, LastText lastText) throws ApiException {
    if (!prompt.isString()) {
      throw Errors.validation("string_type", "body.prompt", "Input should be a valid string", "''");
    }
    TokenBuffer tokens = new TokenBuffer();
    lastText.value = prompt.stringValue();
    tokenizer.encode(lastText.value, tokens);
    return tokens;
  }

  private static TokenBuffer ids(JsonNode array) {
    TokenBuffer tokens = new TokenBuffer();
    for (JsonNode id : array) {
      tokens.add(id.asInt(0));
    }
    return tokens;
  }

  private static long salt(JsonNode body) {
    String salt = body.path("cache_salt").asString("");
    long hash = 0;
    for (int i = 0; i < salt.length(); i++) {
      hash = hash * 0x100000001B3L + salt.charAt(i) + 1;
    }
    return hash;
  }

  static boolean bool(JsonNode body, String field) {
    return body.path(field).asBoolean(false);
  }

  private static @Nullable String string(JsonNode body, String field) throws ApiException {
    JsonNode value = body.get(field);
    if (value == null || value.isNull()) {
      return null;
    }
    if (!value.isString()) {
      throw Errors.validation(
          "string_type", "body." + field, "Input should be a valid string", value.toString());
    }
    return value.stringValue();
  }

  private static @Nullable Integer integer(JsonNode body, String field) throws ApiException {
    JsonNode value = body.get(field);
    if (value == null || value.isNull()) {
      return null;
    }
    if (value.isString()) {
      throw Errors.validation(
          "int_parsing",
          "body." + field,
          "Input should be a valid integer, unable to parse string as an integer",
          "'" + value.stringValue() + "'");
    }
    if (!value.isNumber() || !value.canConvertToInt() || value.asDouble() != value.asInt()) {
      throw Errors.validation(
          "int_type", "body." + field, "Input should be a valid integer", value.toString());
    }
    if (value.asInt() < 0) {
      throw Errors.bad(
          Operation.CHAT, field + " must be at least 1, got " + value.asInt() + ".", field);
    }
    return value.asInt();
  }

  /** The last text that a user wrote. */
  static final class LastText {
    String value = "";
  }
}
