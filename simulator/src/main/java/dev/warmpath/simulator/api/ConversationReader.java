package dev.warmpath.simulator.api;

import dev.warmpath.simulator.text.PromptRenderer;
import tools.jackson.databind.JsonNode;

/**
 * Walks conversations of the chat, messages and responses routes. Text that means the same on two
 * routes renders the same.
 */
final class ConversationReader {
  private final PromptRenderer renderer;
  private final RequestReader.LastText lastText;

  ConversationReader(PromptRenderer renderer, RequestReader.LastText lastText) {
    this.renderer = renderer;
    this.lastText = lastText;
  }

  void read(Operation operation, JsonNode body) throws ApiException {
    JsonNode tools = body.path("tools");
    JsonNode system =
        operation == Operation.RESPONSES ? body.path("instructions") : body.path("system");
    if ((tools.isArray() && !tools.isEmpty()) || present(system)) {
      renderer.startMessage("system");
      if (tools.isArray() && !tools.isEmpty()) {
        renderer.text("# Tools\n");
        for (JsonNode tool : tools) {
          renderer.text(tool.toString());
          renderer.text("\n");
        }
      }
      if (present(system)) {
        content("system", system);
      }
      renderer.endMessage();
    }
    if (operation == Operation.RESPONSES && body.path("input").isString()) {
      message("user", body.get("input"));
      return;
    }
    JsonNode messages =
        operation == Operation.RESPONSES ? body.path("input") : body.path("messages");
    for (JsonNode message : messages) {
      if (!message.isObject()) {
        throw Errors.validation(
            "dict_type", "body.messages", "Input should be a valid dictionary", "''");
      }
      message(message.path("role").asString("user"), message.path("content"));
      for (JsonNode call : message.path("tool_calls")) {
        renderer.text(call.path("function").toString());
      }
    }
  }

  private void message(String role, JsonNode content) {
    renderer.startMessage(role);
    content(role, content);
    renderer.endMessage();
  }

  private void content(String role, JsonNode content) {
    if (content.isString()) {
      text(role, content.stringValue());
      return;
    }
    for (JsonNode part : content) {
      if (part.isString()) {
        text(role, part.stringValue());
      } else if (part.path("text").isString()) {
        text(role, part.get("text").stringValue());
      } else if (part.has("image_url")) {
        JsonNode image = part.get("image_url");
        renderer.image(image.isString() ? image.stringValue() : image.path("url").asString(""));
      } else if (part.has("source")) {
        JsonNode source = part.get("source");
        renderer.image(source.path("url").asString(source.path("data").asString("")));
      } else if (part.has("content")) {
        content(role, part.get("content"));
      } else {
        renderer.text(part.toString());
      }
    }
  }

  private void text(String role, String text) {
    if (role.equals("user")) {
      lastText.value = text;
    }
    renderer.text(text);
  }

  private static boolean present(JsonNode node) {
    return node.isString() || (node.isArray() && !node.isEmpty());
  }
}
