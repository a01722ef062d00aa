package dev.warmpath.extproc.prompt;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Where a text can be cut so that the tokens of its pieces are the tokens of the whole.
 *
 * <p>A tokenizer looks for its special tokens first and does everything else (normalising,
 * splitting into words, merging) between them, each piece for itself. So a text can be cut in front
 * of a special token, where nothing makes the tokenizer look further: the token takes no space
 * beside it, is found in the text as it came, and no other added token overlaps it; and every later
 * step is one that knows nothing of what stands elsewhere in the text. All of this is read from
 * {@code tokenizer.json}; where anything in it is not known to be so, nothing is cut. Immutable.
 */
final class Cuts {
  /** No text is cut. */
  static final Cuts NONE = new Cuts(List.of());

  private static final Set<String> NORMALIZERS = Set.of("NFC", "NFD", "NFKC", "NFKD", "Lowercase");
  private static final Set<String> SPLITTERS =
      Set.of("ByteLevel", "Split", "Digits", "Whitespace", "WhitespaceSplit", "Punctuation");

  /** Models that take one word at a time. */
  private static final Set<String> MODELS = Set.of("BPE", "WordLevel", "WordPiece");

  private final List<String> tokens;

  private Cuts(List<String> tokens) {
    this.tokens = List.copyOf(tokens);
  }

  /**
   * Of that tokenizer.
   *
   * @param template source of the chat template; only tokens that it writes are looked for
   */
  static Cuts read(Path file, String template) throws IOException {
    List<JsonNode> added = new ArrayList<>();
    boolean local = true;
    // The vocabulary is most of the file, and is passed over.
    try (JsonParser parser = JsonMapper.shared().createParser(file.toFile())) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        return NONE;
      }
      while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
        String name = parser.currentName();
        JsonToken value = parser.nextToken();
        switch (name) {
          case "added_tokens" -> tree(parser).forEach(added::add);
          case "normalizer" -> local &= local(tree(parser), "normalizers", NORMALIZERS);
          case "pre_tokenizer" -> local &= local(tree(parser), "pretokenizers", SPLITTERS);
          case "model" -> local &= value == JsonToken.START_OBJECT && wordByWord(parser);
          default -> parser.skipChildren();
        }
      }
    } catch (JacksonException e) {
      throw new IOException(file + " is no JSON", e);
    }
    return local ? new Cuts(usable(added, template)) : NONE;
  }

  private static JsonNode tree(JsonParser parser) {
    return parser.readValueAsTree();
  }

  /** Whether that step, or each of its steps, is one that looks at one piece only. */
  private static boolean local(JsonNode step, String steps, Set<String> known) {
    if (step.isNull()) {
      return true;
    }
    if (step.path("type").asString("").equals("Sequence")) {
      for (JsonNode one : step.path(steps)) {
        if (!local(one, steps, known)) {
          return false;
        }
      }
      return step.path(steps).isArray();
    }
    return known.contains(step.path("type").asString(""))
        && !step.path("add_prefix_space").asBoolean(false);
  }

  private static boolean wordByWord(JsonParser parser) {
    boolean known = false;
    boolean certain = true;
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      String name = parser.currentName();
      JsonToken value = parser.nextToken();
      if (name.equals("type")) {
        known = value == JsonToken.VALUE_STRING && MODELS.contains(parser.getString());
      } else if (name.equals("dropout")) {
        certain = value == JsonToken.VALUE_NULL;
      } else {
        parser.skipChildren();
      }
    }
    return known && certain;
  }

  private static List<String> usable(List<JsonNode> added, String template) {
    List<String> usable = new ArrayList<>();
    for (JsonNode token : added) {
      String text = token.path("content").asString("");
      boolean plain =
          token.path("special").asBoolean(false)
              && !token.path("normalized").asBoolean(true)
              && !token.path("lstrip").asBoolean(true)
              && !token.path("rstrip").asBoolean(true)
              && !token.path("single_word").asBoolean(true);
      if (plain && !text.isEmpty() && template.contains(text) && alone(text, added)) {
        usable.add(text);
      }
    }
    return usable;
  }

  /** No other token, nor itself, can be found where it overlaps an occurrence of this one. */
  private static boolean alone(String text, List<JsonNode> added) {
    for (JsonNode token : added) {
      String other = token.path("content").asString("");
      if (!other.equals(text) && (other.contains(text) || text.contains(other))) {
        return false;
      }
      for (int length = 1; length < Math.min(text.length(), other.length()); length++) {
        if (other.endsWith(text.substring(0, length))
            || text.endsWith(other.substring(0, length))) {
          return false;
        }
      }
    }
    return true;
  }

  /** Pieces of that text, in order; the text itself where it is not cut. */
  List<String> of(String text) {
    String token = mostFrequent(text);
    if (token == null) {
      return List.of(text);
    }
    List<String> pieces = new ArrayList<>();
    int from = 0;
    for (int at = text.indexOf(token, 1); at >= 0; at = text.indexOf(token, at + 1)) {
      pieces.add(text.substring(from, at));
      from = at;
    }
    pieces.add(text.substring(from));
    return pieces;
  }

  /** Templates open each message with the same token; of equals the one that stands first. */
  private @Nullable String mostFrequent(String text) {
    String best = null;
    int most = 0;
    int first = 0;
    for (String token : tokens) {
      int start = text.indexOf(token);
      int count = 0;
      for (int at = start; at >= 0; at = text.indexOf(token, at + 1)) {
        count++;
      }
      if (count > most || (count == most && count > 0 && start < first)) {
        best = token;
        most = count;
        first = start;
      }
    }
    return best;
  }
}
