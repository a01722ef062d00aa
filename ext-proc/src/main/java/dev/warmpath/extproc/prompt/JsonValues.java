package dev.warmpath.extproc.prompt;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** JSON as the values that templates take; members stay in order. */
final class JsonValues {
  private JsonValues() {}

  static @Nullable Object of(JsonNode node) {
    if (node.isNull() || node.isMissingNode()) {
      return null;
    }
    if (node.isString()) {
      return node.stringValue();
    }
    if (node.isBoolean()) {
      return node.booleanValue();
    }
    if (node.isIntegralNumber()) {
      return node.canConvertToLong() ? (Object) node.longValue() : node.bigIntegerValue();
    }
    if (node.isNumber()) {
      return node.doubleValue();
    }
    if (node.isArray()) {
      List<@Nullable Object> items = new ArrayList<>(node.size());
      node.forEach(item -> items.add(of(item)));
      return items;
    }
    return object(node);
  }

  static Map<String, @Nullable Object> object(JsonNode node) {
    Map<String, @Nullable Object> members = new LinkedHashMap<>();
    node.properties().forEach(member -> members.put(member.getKey(), of(member.getValue())));
    return members;
  }
}
