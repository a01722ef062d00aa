package dev.warmpath.crds.resource;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A piece of a document with its place. Built by one thread; not changed after the reader hands it
 * out. Aliases make it a graph without cycles, so whoever walks it must bound the walk.
 */
sealed interface YamlNode {
  /** From 1; 0 where there are no lines. */
  int line();

  /** Word for messages: what was found. */
  String describe();

  enum ScalarType {
    STRING,
    INTEGER,
    NUMBER,
    BOOLEAN,
    NULL
  }

  /** A single value; {@code plain} means written without quotes. */
  record Scalar(int line, String text, ScalarType type, boolean plain) implements YamlNode {
    private static final int SHOWN_LENGTH = 60;

    @Override
    public String describe() {
      return switch (type) {
        case NULL -> "null";
        case BOOLEAN -> "the boolean " + text;
        case INTEGER, NUMBER -> "the number " + shown();
        case STRING -> "the text \"" + shown() + "\"";
      };
    }

    private String shown() {
      return FieldPath.printable(
          text.length() <= SHOWN_LENGTH ? text : text.substring(0, SHOWN_LENGTH) + "…");
    }
  }

  record Sequence(int line, List<YamlNode> items) implements YamlNode {
    static Sequence at(int line) {
      return new Sequence(line, new ArrayList<>());
    }

    @Override
    public String describe() {
      return "a list";
    }
  }

  record Mapping(int line, Map<String, Entry> entries) implements YamlNode {
    record Entry(int keyLine, YamlNode value) {}

    static Mapping at(int line) {
      return new Mapping(line, new LinkedHashMap<>());
    }

    /** The value of the key; null if it is absent or written as null, which mean the same here. */
    @Nullable YamlNode get(String key) {
      Entry entry = entries.get(key);
      return entry == null || isNull(entry.value) ? null : entry.value;
    }

    @Override
    public String describe() {
      return "a mapping";
    }
  }

  static boolean isNull(YamlNode node) {
    return node instanceof Scalar scalar && scalar.type() == ScalarType.NULL;
  }
}
