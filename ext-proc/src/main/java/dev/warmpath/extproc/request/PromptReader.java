package dev.warmpath.extproc.request;

import dev.warmpath.extproc.request.PromptText.Speaker;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Writes the prompt parts of a checked body in the order engines render them. It reads the shapes
 * of both dialects with one set of rules, so that a conversation that renders to the same prompt
 * gives the same bytes whichever API carried it:
 *
 * <ul>
 *   <li>a tool is name, description, schema; wrapping and {@code strict} or {@code cache_control}
 *       do not count;
 *   <li>a system prompt is a message of role system, wherever it was given;
 *   <li>string content is one text part; an empty text is none;
 *   <li>a tool result is a message of role tool, in front of the rest of the message that held it;
 *   <li>tool arguments are JSON, whether they came as an object or as a string;
 *   <li>call ids do not count, because few templates render them and clients invent them anew;
 *   <li>an image is the hash of its address or of its data.
 * </ul>
 */
final class PromptReader {
  private final JsonScanner scanner;
  private final PromptHasher out;
  private final CanonicalJson canonical;
  private final List<PromptText.Part> parts;
  private int images;

  PromptReader(JsonScanner scanner, PromptHasher out, List<PromptText.Part> parts) {
    this.scanner = scanner;
    this.out = out;
    this.canonical = new CanonicalJson(scanner, out);
    this.parts = parts;
  }

  int images() {
    return images;
  }

  PromptText text() {
    return new PromptText(scanner, List.copyOf(parts));
  }

  /** A field that changes how the prompt is rendered. */
  void option(String name, int at) {
    out.mark(PromptHasher.OPTION);
    out.text(name);
    canonical.value(at);
    out.mark(PromptHasher.END);
  }

  /** Returns whether there is any. */
  boolean tools(int open) {
    JsonCursor items = JsonCursor.items(scanner, open, 1);
    int i = 0;
    while (items.next()) {
      if (scanner.peek(items.start()) != '{') {
        throw MalformedBody.wrongType("tools[" + i + "]", "an object");
      }
      out.mark(PromptHasher.TOOL);
      tool(items.start());
      out.mark(PromptHasher.END);
      i++;
    }
    return i > 0;
  }

  private void tool(int open) {
    int function = 0;
    int name = 0;
    int description = 0;
    int schema = 0;
    JsonCursor fields = JsonCursor.fields(scanner, open, 2);
    while (fields.next()) {
      int at = fields.start();
      switch (fields.name()) {
        case "function" -> function = scanner.peek(at) == '{' ? at : 0;
        case "name" -> name = at;
        case "description" -> description = at;
        case "parameters", "input_schema" -> schema = at;
        default -> {}
      }
    }
    if (function != 0) {
      tool(function);
      return;
    }
    if (name == 0) {
      canonical.value(open);
      return;
    }
    canonical.value(name);
    if (description != 0 && scanner.peek(description) == '"') {
      canonical.value(description);
    }
    if (schema != 0) {
      canonical.value(schema);
    }
    // A server-side tool has settings beside its name.
    fields = JsonCursor.fields(scanner, open, 2);
    while (fields.next()) {
      switch (fields.name()) {
        case "name", "description", "parameters", "input_schema", "strict", "cache_control" -> {}
        case "type" -> {
          if (!scanner.stringIs(fields.start(), "function")
              && !scanner.stringIs(fields.start(), "custom")) {
            canonical.value(fields.start());
          }
        }
        default -> option(fields.name(), fields.start());
      }
    }
  }

  /** A system prompt outside of the message list: a string, or text parts. */
  void system(int at, String param) {
    int b = scanner.peek(at);
    if (b != '"' && b != '[') {
      throw MalformedBody.wrongType(param, "a string or an array of parts");
    }
    open("system");
    content(at, Speaker.SYSTEM, param);
  }

  void messages(int open) {
    JsonCursor items = JsonCursor.items(scanner, open, 1);
    int i = 0;
    while (items.next()) {
      String param = "messages[" + i + "]";
      if (scanner.peek(items.start()) != '{') {
        throw MalformedBody.wrongType(param, "an object");
      }
      message(items.start(), param);
      i++;
    }
  }

  private void message(int open, String param) {
    String role = "";
    int content = 0;
    int calls = 0;
    int name = 0;
    int reasoning = 0;
    int legacyCall = 0;
    int seen = 0;
    JsonCursor fields = JsonCursor.fields(scanner, open, 2);
    while (fields.next()) {
      int at = fields.start();
      int bit = 0;
      switch (fields.name()) {
        case "role" -> {
          bit = 1;
          if (scanner.peek(at) != '"') {
            throw MalformedBody.wrongType(param + ".role", "a string");
          }
          role = scanner.string(at, fields.end());
        }
        case "content" -> {
          bit = 2;
          content = at;
        }
        case "tool_calls" -> {
          bit = 4;
          calls = at;
        }
        case "name" -> name = at;
        case "reasoning_content", "reasoning" -> reasoning = at;
        case "function_call" -> legacyCall = at;
        default -> {}
      }
      if ((seen & bit) != 0) {
        throw new MalformedBody(
            "duplicate_field",
            "Field '" + param + "." + fields.name() + "' occurs twice.",
            param + "." + fields.name());
      }
      seen |= bit;
    }
    if (role.isEmpty()) {
      throw new MalformedBody(
          "missing_field", "Field '" + param + ".role' is required.", param + ".role");
    }
    Speaker speaker = speaker(role);
    if (content != 0 && scanner.peek(content) == '[' && toolResults(content, param)) {
      return; // nothing but tool results
    }
    open(role);
    if (name != 0 && scanner.peek(name) == '"') {
      option("name", name);
    }
    if (reasoning != 0 && scanner.peek(reasoning) == '"') {
      out.mark(PromptHasher.REASONING);
      canonical.string(reasoning);
    }
    if (content != 0) {
      content(content, speaker, param + ".content");
    }
    if (calls != 0 && scanner.peek(calls) == '[') {
      JsonCursor items = JsonCursor.items(scanner, calls, 3);
      while (items.next()) {
        if (scanner.peek(items.start()) == '{') {
          call(items.start());
        }
      }
    }
    if (legacyCall != 0 && scanner.peek(legacyCall) == '{') {
      call(legacyCall);
    }
  }

  private void open(String role) {
    out.mark(PromptHasher.MESSAGE);
    out.text(role);
    out.mark(PromptHasher.END);
  }

  private static Speaker speaker(String role) {
    return switch (role) {
      case "system", "developer" -> Speaker.SYSTEM;
      case "assistant" -> Speaker.ASSISTANT;
      case "tool", "function" -> Speaker.TOOL;
      default -> Speaker.USER;
    };
  }

  /**
   * Writes the tool results among the parts as messages of their own. Returns whether there was
   * nothing else.
   */
  private boolean toolResults(int open, String param) {
    boolean results = false;
    boolean others = false;
    JsonCursor items = JsonCursor.items(scanner, open, 3);
    while (items.next()) {
      if (scanner.peek(items.start()) != '{') {
        others = true;
        continue;
      }
      int content = 0;
      boolean result = false;
      JsonCursor fields = JsonCursor.fields(scanner, items.start(), 4);
      while (fields.next()) {
        switch (fields.name()) {
          case "type" -> result = scanner.stringIs(fields.start(), "tool_result");
          case "content" -> content = fields.start();
          default -> {}
        }
      }
      if (!result) {
        others = true;
        continue;
      }
      results = true;
      open("tool");
      if (content != 0) {
        content(content, Speaker.TOOL, param + ".content");
      }
    }
    return results && !others;
  }

  private void content(int at, Speaker speaker, String param) {
    switch (scanner.peek(at)) {
      case '"' -> text(at, speaker);
      case '[' -> {
        JsonCursor items = JsonCursor.items(scanner, at, 3);
        int i = 0;
        while (items.next()) {
          int b = scanner.peek(items.start());
          if (b == '"') {
            text(items.start(), speaker);
          } else if (b == '{') {
            part(items.start(), items.end(), speaker);
          } else {
            throw MalformedBody.wrongType(param + "[" + i + "]", "an object");
          }
          i++;
        }
      }
      case 'n' -> {}
      default -> throw MalformedBody.wrongType(param, "a string or an array of parts");
    }
  }

  private void text(int at, Speaker speaker) {
    if (scanner.peek(at + 1) == '"') {
      return;
    }
    out.mark(PromptHasher.TEXT);
    int end = canonical.string(at);
    out.mark(PromptHasher.END);
    parts.add(new PromptText.Part(speaker, at, end));
  }

  private void part(int open, int end, Speaker speaker) {
    String type = "";
    int text = 0;
    int image = 0;
    JsonCursor fields = JsonCursor.fields(scanner, open, 4);
    while (fields.next()) {
      int at = fields.start();
      switch (fields.name()) {
        case "type" -> type = scanner.peek(at) == '"' ? scanner.string(at, fields.end()) : "";
        case "text" -> text = at;
        case "image_url", "source", "image" -> image = at;
        default -> {}
      }
    }
    switch (type) {
      case "text", "input_text", "output_text" -> {
        if (text != 0 && scanner.peek(text) == '"') {
          text(text, speaker);
        }
      }
      case "image_url", "image", "input_image" -> {
        images++;
        out.media(image == 0 ? hash(open, end) : image(image));
      }
      case "thinking", "redacted_thinking" -> {
        out.mark(PromptHasher.REASONING);
        canonical.value(open);
      }
      case "tool_use" -> call(open);
      case "tool_result" -> {} // written in front of the message
      default -> out.media(hash(open, end));
    }
  }

  /** The address of an image, or its data as the data URL that the other dialect would use. */
  private long image(int at) {
    if (scanner.peek(at) == '"') {
      return hashString(at);
    }
    if (scanner.peek(at) != '{') {
      return hash(at, scanner.skipValue(at, 0));
    }
    int url = 0;
    int data = 0;
    String mediaType = "";
    JsonCursor fields = JsonCursor.fields(scanner, at, 5);
    while (fields.next()) {
      if (scanner.peek(fields.start()) == '"') {
        switch (fields.name()) {
          case "url" -> url = fields.start();
          case "data" -> data = fields.start();
          case "media_type" -> mediaType = scanner.string(fields.start(), fields.end());
          default -> {}
        }
      }
    }
    if (url != 0) {
      return hashString(url);
    }
    if (data != 0) {
      byte[] head = ("data:" + mediaType + ";base64,").getBytes(StandardCharsets.UTF_8);
      byte[] content = decoded(data);
      byte[] all = new byte[head.length + content.length];
      System.arraycopy(head, 0, all, 0, head.length);
      System.arraycopy(content, 0, all, head.length, content.length);
      return PromptHasher.hash(all, 0, all.length);
    }
    return hash(at, scanner.skipValue(at, 0));
  }

  private long hash(int from, int to) {
    return PromptHasher.hash(scanner.json, from, to);
  }

  private long hashString(int at) {
    byte[] content = decoded(at);
    return PromptHasher.hash(content, 0, content.length);
  }

  private byte[] decoded(int at) {
    return scanner.escaped.bytes(at + 1, scanner.skipCheckedString(at) - 1);
  }

  /** A tool call of either dialect: name and arguments. */
  private void call(int open) {
    int function = 0;
    int name = 0;
    int arguments = 0;
    JsonCursor fields = JsonCursor.fields(scanner, open, 4);
    while (fields.next()) {
      int at = fields.start();
      switch (fields.name()) {
        case "function" -> function = scanner.peek(at) == '{' ? at : 0;
        case "name" -> name = scanner.peek(at) == '"' ? at : 0;
        case "arguments", "input" -> arguments = at;
        default -> {}
      }
    }
    if (function != 0) {
      call(function);
      return;
    }
    out.mark(PromptHasher.CALL);
    if (name != 0) {
      canonical.string(name);
    }
    out.mark(PromptHasher.END);
    if (arguments == 0) {
      out.text("{}");
    } else if (scanner.peek(arguments) == '"') {
      embeddedJson(decoded(arguments));
    } else {
      canonical.value(arguments);
    }
    out.mark(PromptHasher.END);
  }

  /** Arguments that came as a string: as JSON if they are, else as they stand. */
  private void embeddedJson(byte[] json) {
    JsonScanner inner = new JsonScanner(json, json.length);
    int start = inner.skipBlank(0);
    boolean valid;
    try {
      valid = inner.skipBlank(inner.skipValue(start, 0)) == json.length;
    } catch (MalformedBody notJson) {
      valid = false;
    }
    if (valid) {
      new CanonicalJson(inner, out).value(start);
    } else {
      out.bytes(json, 0, json.length);
    }
  }

  /** The {@code input} of a response request: a string, or items. */
  void input(int at) {
    switch (scanner.peek(at)) {
      case '"' -> {
        open("user");
        text(at, Speaker.USER);
      }
      case '[' -> {
        JsonCursor items = JsonCursor.items(scanner, at, 1);
        int i = 0;
        while (items.next()) {
          String param = "input[" + i + "]";
          if (scanner.peek(items.start()) != '{') {
            throw MalformedBody.wrongType(param, "an object");
          }
          item(items.start(), param);
          i++;
        }
      }
      default -> throw MalformedBody.wrongType("input", "a string or an array");
    }
  }

  private void item(int open, String param) {
    String type = "message";
    int output = 0;
    JsonCursor fields = JsonCursor.fields(scanner, open, 2);
    while (fields.next()) {
      switch (fields.name()) {
        case "type" ->
            type =
                scanner.peek(fields.start()) == '"'
                    ? scanner.string(fields.start(), fields.end())
                    : type;
        case "output" -> output = fields.start();
        default -> {}
      }
    }
    switch (type) {
      case "message" -> message(open, param);
      case "function_call" -> {
        open("assistant");
        call(open);
      }
      case "function_call_output" -> {
        open("tool");
        if (output != 0) {
          int b = scanner.peek(output);
          if (b == '"' || b == '[') {
            content(output, Speaker.TOOL, param + ".output");
          } else {
            canonical.value(output);
          }
        }
      }
      default -> {
        out.mark(PromptHasher.OPTION);
        canonical.value(open);
      }
    }
  }

  /** A bare prompt: a string, token ids, or a list of either. */
  void prompt(int at, String param) {
    switch (scanner.peek(at)) {
      case '"' -> text(at, Speaker.USER);
      case '[' -> promptItems(at, param, true);
      default -> throw MalformedBody.wrongType(param, "a string or an array");
    }
  }

  private void promptItems(int open, String param, boolean nested) {
    JsonCursor items = JsonCursor.items(scanner, open, 1);
    int i = 0;
    while (items.next()) {
      int at = items.start();
      int b = scanner.peek(at);
      if (b == '"') {
        text(at, Speaker.USER);
      } else if (b >= '0' && b <= '9' && items.end() - at <= 10) {
        long id = 0;
        for (int k = at; k < items.end() && scanner.json[k] >= '0' && scanner.json[k] <= '9'; k++) {
          id = id * 10 + (scanner.json[k] - '0');
        }
        out.word(id, Integer.BYTES); // four bytes are one token at the default ratio, too
      } else if (b == '[' && nested) {
        out.mark(PromptHasher.MESSAGE);
        promptItems(at, param, false);
      } else {
        throw MalformedBody.wrongType(
            param + "[" + i + "]", "a string, a token id or a list of them");
      }
      i++;
    }
  }
}
