package dev.warmpath.simulator.api;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Which tool a request insists on, and arguments that its schema would accept. */
final class ToolChoice {
  private ToolChoice() {}

  /** The name of the tool that must be called, or null when the answer is free. */
  static @Nullable String forced(JsonNode body) {
    JsonNode tools = body.path("tools");
    if (!tools.isArray() || tools.isEmpty()) {
      return null;
    }
    JsonNode choice = body.path("tool_choice");
    String type = choice.isString() ? choice.stringValue() : choice.path("type").asString("");
    return switch (type) {
      case "required", "any" -> name(tools.get(0));
      case "function" ->
          choice
              .path("function")
              .path("name")
              .asString(choice.path("name").asString(name(tools.get(0))));
      case "tool" -> choice.path("name").asString(name(tools.get(0)));
      default -> null;
    };
  }

  /** A JSON object with a value for each property of the tool's schema. */
  static String arguments(JsonNode body, String tool) {
    for (JsonNode candidate : body.path("tools")) {
      if (name(candidate).equals(tool)) {
        return value(schema(candidate));
      }
    }
    return "{}";
  }

  private static String name(JsonNode tool) {
    return tool.path("function").path("name").asString(tool.path("name").asString("tool"));
  }

  private static JsonNode schema(JsonNode tool) {
    if (tool.has("function")) {
      return tool.get("function").path("parameters");
    }
    return tool.has("input_schema") ? tool.get("input_schema") : tool.path("parameters");
  }

  private static String value(JsonNode schema) {
    JsonNode choices = schema.path("enum");
    if (choices.isArray() && !choices.isEmpty()) {
      return choices.get(0).toString();
    }
    return switch (schema.path("type").asString("object")) {
      case "string" -> "\"warm\"";
      case "integer", "number" -> "1";
      case "boolean" -> "true";
      case "array" -> "[]";
      case "null" -> "null";
      default -> object(schema.path("properties"));
    };
  }

  private static String object(JsonNode properties) {
    StringBuilder out = new StringBuilder("{");
    for (var property : properties.properties()) {
      out.append(out.length() > 1 ? ", " : "")
          .append(Json.quote(property.getKey()))
          .append(": ")
          .append(value(property.getValue()));
    }
    return out.append('}').toString();
  }
}
