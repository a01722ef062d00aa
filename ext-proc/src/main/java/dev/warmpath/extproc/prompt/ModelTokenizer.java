package dev.warmpath.extproc.prompt;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import dev.warmpath.extproc.request.Operation;
import dev.warmpath.extproc.template.ChatTemplate;
import dev.warmpath.extproc.template.TemplateException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * One model's tokenizer and chat template. Thread-safe; tokenising costs 3 to 30 ms for 1,000
 * tokens, hardly scales over threads, and is done once for each message that comes again.
 */
public final class ModelTokenizer implements AutoCloseable {
  private static final List<String> SPECIAL_TOKENS =
      List.of("bos_token", "eos_token", "unk_token", "pad_token", "sep_token", "cls_token");

  /** For what came before: some millions of tokens. */
  private static final long PIECE_BYTES = 32 << 20;

  private final HuggingFaceTokenizer tokenizer;
  private final @Nullable ChatTemplate template;
  private final Map<String, @Nullable Object> specials;
  private final Cuts cuts;
  private final PieceCache pieces = new PieceCache(PIECE_BYTES);

  private ModelTokenizer(
      HuggingFaceTokenizer tokenizer,
      @Nullable ChatTemplate template,
      Map<String, @Nullable Object> specials,
      Cuts cuts) {
    this.cuts = cuts;
    this.tokenizer = tokenizer;
    this.template = template;
    this.specials = specials;
  }

  /**
   * Reads {@code tokenizer.json}, {@code tokenizer_config.json} and, where there is one, {@code
   * chat_template.jinja}. Takes a second or two.
   *
   * @throws IOException where something is missing or cannot be rendered exactly; the message says
   *     what, for the operator
   */
  public static ModelTokenizer load(Path folder) throws IOException {
    // Natives are in the jar; nothing is fetched, and nothing is written into the user's home.
    System.setProperty("ai.djl.offline", "true");
    if (System.getProperty("ENGINE_CACHE_DIR") == null) {
      System.setProperty("ENGINE_CACHE_DIR", System.getProperty("java.io.tmpdir"));
    }
    Path file = folder.resolve("tokenizer.json");
    if (!Files.isReadable(file)) {
      throw new IOException(file + " cannot be read");
    }
    JsonNode config = config(folder.resolve("tokenizer_config.json"));
    String source = source(folder, config);
    ChatTemplate template = source == null ? null : template(source);
    Map<String, @Nullable Object> specials = new LinkedHashMap<>();
    for (String name : SPECIAL_TOKENS) {
      JsonNode token = config.path(name);
      String text = token.isObject() ? token.path("content").asString("") : token.asString("");
      if (!text.isEmpty()) {
        specials.put(name, text);
      }
    }
    try {
      HuggingFaceTokenizer tokenizer =
          HuggingFaceTokenizer.builder()
              .optTokenizerPath(file)
              .optAddSpecialTokens(false)
              .optTruncation(false)
              .optPadding(false)
              .build();
      Cuts cuts = source == null ? Cuts.NONE : Cuts.read(file, source);
      return new ModelTokenizer(tokenizer, template, specials, cuts);
    } catch (RuntimeException | UnsatisfiedLinkError e) {
      throw new IOException(file + ": " + e.getMessage(), e);
    }
  }

  private static JsonNode config(Path file) throws IOException {
    try {
      return Files.isReadable(file)
          ? JsonMapper.shared().readTree(Files.readString(file))
          : JsonMapper.shared().createObjectNode();
    } catch (JacksonException e) {
      throw new IOException(file + " is no JSON", e);
    }
  }

  private static @Nullable String source(Path folder, JsonNode config) throws IOException {
    Path file = folder.resolve("chat_template.jinja");
    if (Files.isReadable(file)) {
      return Files.readString(file);
    }
    if (config.path("chat_template").isArray()) {
      throw new IOException("the tokenizer has several chat templates");
    }
    return config.path("chat_template").isString()
        ? config.path("chat_template").stringValue()
        : null;
  }

  private static ChatTemplate template(String source) throws IOException {
    try {
      ChatTemplate template = ChatTemplate.parse(source);
      if (template.readsParts()) {
        throw new IOException(
            "the chat template goes through the parts of a message, which engines prepare"
                + " differently");
      }
      return template;
    } catch (TemplateException e) {
      throw new IOException("the chat template cannot be rendered exactly: " + e.getMessage(), e);
    }
  }

  /** Tokens of a request's prompt, or why they cannot be told. */
  public Result read(Operation operation, byte[] body) {
    try {
      JsonNode request = JsonMapper.shared().readTree(body);
      String salt = request.path("cache_salt").asString("");
      int[] tokens =
          switch (operation) {
            case CHAT_COMPLETIONS ->
                encode(
                    render(Conversation.ofChat(request)),
                    request.path("add_special_tokens").asBoolean(false));
            case COMPLETIONS -> completion(request);
            case RESPONSES, MESSAGES, EMBEDDINGS, COUNT_TOKENS ->
                throw new NotExactException(operation.path() + " is not read in tokens");
          };
      return new Result(new TokenPrompt(tokens, salt.isEmpty() ? null : salt), "");
    } catch (NotExactException | TemplateException | JacksonException e) {
      return new Result(null, String.valueOf(e.getMessage()));
    }
  }

  /**
   * What became of a prompt.
   *
   * @param prompt null where it cannot be told exactly
   * @param reason why not; empty otherwise
   */
  public record Result(@Nullable TokenPrompt prompt, String reason) {}

  private String render(Map<String, @Nullable Object> variables) throws NotExactException {
    if (template == null) {
      throw new NotExactException("the tokenizer has no chat template");
    }
    Map<String, @Nullable Object> all = new LinkedHashMap<>(specials);
    all.putAll(variables);
    return template.render(all);
  }

  private int[] completion(JsonNode request) throws NotExactException {
    JsonNode prompt = request.path("prompt");
    if (prompt.isString()) {
      return encode(prompt.stringValue(), request.path("add_special_tokens").asBoolean(true));
    }
    if (!prompt.isArray() || prompt.isEmpty() || !prompt.get(0).isIntegralNumber()) {
      throw new NotExactException("several prompts in one request");
    }
    int[] ids = new int[prompt.size()];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = prompt.get(i).asInt();
    }
    return ids;
  }

  private int[] encode(String text, boolean addSpecials) {
    return addSpecials
        ? encodeWhole(text, true)
        : pieces.tokens(cuts.of(text), piece -> encodeWhole(piece, false));
  }

  private int[] encodeWhole(String text, boolean addSpecials) {
    long[] wide = tokenizer.encode(text, addSpecials, false).getIds();
    int[] ids = new int[wide.length];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = (int) wide[i];
    }
    return ids;
  }

  @Override
  public void close() {
    tokenizer.close();
  }
}
