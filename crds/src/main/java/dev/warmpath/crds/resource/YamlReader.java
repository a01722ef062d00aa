package dev.warmpath.crds.resource;

import dev.warmpath.crds.resource.YamlNode.Mapping;
import dev.warmpath.crds.resource.YamlNode.Scalar;
import dev.warmpath.crds.resource.YamlNode.ScalarType;
import dev.warmpath.crds.resource.YamlNode.Sequence;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.common.Anchor;
import org.snakeyaml.engine.v2.events.AliasEvent;
import org.snakeyaml.engine.v2.events.CollectionStartEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.nodes.Tag;
import org.snakeyaml.engine.v2.resolver.ScalarResolver;
import org.snakeyaml.engine.v2.schema.CoreSchema;

/**
 * YAML text to nodes, document by document, so that one that can't be read hides no other.
 *
 * <p>Reads the parser's events with a stack of its own: depth and size are bounded before anything
 * is built, an alias is one shared node, and an alias of an unfinished node (a cycle) is a fault.
 */
final class YamlReader {
  /** The deepest resource nests 9 levels; more than this is not one. */
  static final int MAX_DEPTH = 40;

  /** Code points of one document: the size that etcd takes of one object. */
  static final int MAX_DOCUMENT_LENGTH = 1_500_000;

  // The parser's buffer grows by copying: of a small one a long scalar would cost its length
  // squared.
  private static final int SHORT = 16_384;
  private static final LoadSettings FOR_SHORT = settings(1024);
  private static final LoadSettings FOR_LONG = settings(MAX_DOCUMENT_LENGTH + 1);

  private static final ScalarResolver RESOLVER = new CoreSchema().getScalarResolver();

  /** One fault of the text itself. */
  record Fault(int line, String field, Reason reason, String message) {}

  /**
   * One document.
   *
   * @param root null if it could not be read, or holds nothing
   * @param text for a document that could not be read
   */
  record Document(int line, @Nullable YamlNode root, List<Fault> faults, String text) {}

  private YamlReader() {}

  private static LoadSettings settings(int bufferLength) {
    return LoadSettings.builder()
        .setCodePointLimit(Integer.MAX_VALUE)
        .setBufferSize(bufferLength)
        .build();
  }

  static List<Document> read(String text) {
    List<Document> documents = new ArrayList<>();
    for (Segment segment : split(text)) {
      documents.add(readDocument(segment));
    }
    return documents;
  }

  private record Segment(int line, String text) {}

  /**
   * Cuts at lines that begin with {@code ---}, and after lines that begin with {@code ...}: no
   * scalar of any style can hold such a line, by YAML 1.2 section 9.1.2.
   */
  private static List<Segment> split(String text) {
    List<Segment> segments = new ArrayList<>();
    int start = text.startsWith("\uFEFF") ? 1 : 0;
    int startLine = 1;
    int line = 1;
    boolean hasContent = false;
    int position = start;
    while (position < text.length()) {
      int newline = text.indexOf('\n', position);
      int end = newline < 0 ? text.length() : newline + 1;
      if (isMarker(text, position, "---")) {
        if (hasContent) {
          segments.add(new Segment(startLine, text.substring(start, position)));
          start = position;
          startLine = line;
        }
        hasContent = true;
      } else if (isMarker(text, position, "...")) {
        if (hasContent) {
          segments.add(new Segment(startLine, text.substring(start, position)));
        }
        start = end;
        startLine = line + 1;
        hasContent = false;
      } else if (!isBlankOrDirective(text, position, end)) {
        hasContent = true;
      }
      position = end;
      line++;
    }
    if (hasContent) {
      segments.add(new Segment(startLine, text.substring(start)));
    }
    return segments;
  }

  private static boolean isMarker(String text, int position, String marker) {
    int after = position + marker.length();
    return text.startsWith(marker, position)
        && (after >= text.length() || Character.isWhitespace(text.charAt(after)));
  }

  private static boolean isBlankOrDirective(String text, int from, int to) {
    for (int i = from; i < to; i++) {
      char c = text.charAt(i);
      if (c == '#' || (c == '%' && i == from)) {
        return true;
      }
      if (!Character.isWhitespace(c)) {
        return false;
      }
    }
    return true;
  }

  private static Document readDocument(Segment segment) {
    List<Fault> faults = new ArrayList<>();
    if (segment.text().length() > MAX_DOCUMENT_LENGTH) {
      faults.add(
          new Fault(
              segment.line(),
              "",
              Reason.TooLarge,
              "the document is longer than " + MAX_DOCUMENT_LENGTH + " characters"));
      return new Document(segment.line(), null, faults, segment.text());
    }
    try {
      YamlNode root = new Builder(segment.line(), faults).build(segment.text());
      int line = root == null ? segment.line() : root.line();
      return new Document(line, root, faults, segment.text());
    } catch (Unreadable unreadable) {
      faults.add(unreadable.fault);
    } catch (MarkedYamlEngineException e) {
      int line = segment.line() + e.getProblemMark().map(mark -> mark.getLine()).orElse(0);
      String problem = e.getProblem() == null ? "unknown" : oneLine(e.getProblem());
      String context = e.getContext() == null ? "" : " (" + oneLine(e.getContext()) + ")";
      faults.add(
          new Fault(line, "", Reason.InvalidYaml, "the text is not YAML: " + problem + context));
    } catch (RuntimeException e) {
      // The parser reports some unreadable characters, and its own slips, by other exceptions.
      String message = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
      faults.add(
          new Fault(
              segment.line(), "", Reason.InvalidYaml, "the text is not YAML: " + oneLine(message)));
    }
    return new Document(segment.line(), null, faults, segment.text());
  }

  private static String oneLine(String text) {
    String line = FieldPath.printable(text.lines().findFirst().orElse("").strip());
    return line.length() <= 200 ? line : line.substring(0, 200) + "…";
  }

  /** Stops reading of a document. */
  @SuppressWarnings("serial")
  private static final class Unreadable extends RuntimeException {
    private final Fault fault;

    Unreadable(Fault fault) {
      super(fault.message(), null, false, false);
      this.fault = fault;
    }
  }

  private static final class Builder {
    private final int firstLine;
    private final List<Fault> faults;
    private final Map<Anchor, YamlNode> anchors = new HashMap<>();
    private final Set<Anchor> unfinished = new HashSet<>();
    private final Deque<Open> stack = new ArrayDeque<>();
    private @Nullable YamlNode root;

    Builder(int firstLine, List<Fault> faults) {
      this.firstLine = firstLine;
      this.faults = faults;
    }

    /** A collection whose end has not come. {@code key} is set between a key and its value. */
    private static final class Open {
      final YamlNode node;
      final @Nullable Anchor anchor;
      final String path;
      @Nullable String key;
      int keyLine;

      Open(YamlNode node, @Nullable Anchor anchor, String path) {
        this.node = node;
        this.anchor = anchor;
        this.path = path;
      }
    }

    @Nullable YamlNode build(String text) {
      for (Event event :
          new Parse(text.length() < SHORT ? FOR_SHORT : FOR_LONG).parseString(text)) {
        accept(event);
      }
      return root;
    }

    private void accept(Event event) {
      int line = firstLine + event.getStartMark().map(mark -> mark.getLine()).orElse(0);
      switch (event.getEventId()) {
        case Scalar -> {
          ScalarEvent scalar = (ScalarEvent) event;
          Scalar node = scalar(scalar, line);
          scalar.getAnchor().ifPresent(anchor -> anchors.put(anchor, node));
          add(node, line);
        }
        case SequenceStart -> open(Sequence.at(line), (CollectionStartEvent) event, line);
        case MappingStart -> open(Mapping.at(line), (CollectionStartEvent) event, line);
        case SequenceEnd, MappingEnd -> {
          Open closed = stack.pop();
          if (closed.anchor != null) {
            unfinished.remove(closed.anchor);
          }
        }
        case Alias -> {
          Anchor anchor = ((AliasEvent) event).getAlias();
          YamlNode target = anchors.get(anchor);
          if (target == null || unfinished.contains(anchor)) {
            throw unreadable(
                line,
                Reason.InvalidYaml,
                "the alias *"
                    + anchor.getValue()
                    + (target == null ? " has no anchor before it" : " contains itself"));
          }
          add(target, line);
        }
        case StreamStart, StreamEnd, DocumentStart, DocumentEnd, Comment -> {}
      }
    }

    private void open(YamlNode node, CollectionStartEvent event, int line) {
      if (stack.size() >= MAX_DEPTH) {
        throw unreadable(
            line, Reason.TooLarge, "the document nests deeper than " + MAX_DEPTH + " levels");
      }
      Open parent = stack.peek();
      String path = parent == null ? "" : childPath(parent);
      add(node, line);
      Anchor anchor = event.getAnchor().orElse(null);
      if (anchor != null) {
        anchors.put(anchor, node);
        unfinished.add(anchor);
      }
      stack.push(new Open(node, anchor, path));
    }

    private static String childPath(Open parent) {
      if (parent.node instanceof Sequence sequence) {
        return parent.path + "[" + sequence.items().size() + "]";
      }
      return parent.key == null ? parent.path : FieldPath.child(parent.path, parent.key);
    }

    private void add(YamlNode node, int line) {
      Open parent = stack.peek();
      if (parent == null) {
        if (root == null) {
          root = node;
        }
        return;
      }
      switch (parent.node) {
        case Sequence sequence -> sequence.items().add(node);
        case Mapping mapping -> {
          if (parent.key == null) {
            parent.key = key(node, line);
            parent.keyLine = line;
          } else {
            put(parent, mapping, node);
          }
        }
        case Scalar scalar -> throw new IllegalStateException("open scalar " + scalar);
      }
    }

    private String key(YamlNode node, int line) {
      if (node instanceof Scalar scalar) {
        return scalar.text();
      }
      throw unreadable(line, Reason.InvalidYaml, "a field name must be text");
    }

    private void put(Open parent, Mapping mapping, YamlNode value) {
      String key = parent.key;
      parent.key = null;
      if (key == null) {
        throw new IllegalStateException("value without key");
      }
      Mapping.Entry earlier = mapping.entries().get(key);
      if (earlier == null) {
        mapping.entries().put(key, new Mapping.Entry(parent.keyLine, value));
      } else if (faults.size() < SpecBinder.MAX_PROBLEMS) {
        faults.add(
            new Fault(
                parent.keyLine,
                FieldPath.child(parent.path, key),
                Reason.DuplicateKey,
                "this field is written twice, first in line " + earlier.keyLine()));
      }
    }

    private static Scalar scalar(ScalarEvent event, int line) {
      if (event.getTag().isPresent() && !event.getTag().get().endsWith(":str")) {
        throw unreadable(
            line,
            Reason.InvalidYaml,
            "the tag " + oneLine(event.getTag().get()) + " is not supported");
      }
      if (!event.isPlain() || event.getTag().isPresent()) {
        return new Scalar(line, event.getValue(), ScalarType.STRING, false);
      }
      Tag tag = RESOLVER.resolve(event.getValue(), true);
      ScalarType type;
      if (tag.equals(Tag.NULL)) {
        type = ScalarType.NULL;
      } else if (tag.equals(Tag.BOOL)) {
        type = ScalarType.BOOLEAN;
      } else if (tag.equals(Tag.INT)) {
        type = ScalarType.INTEGER;
      } else if (tag.equals(Tag.FLOAT)) {
        type = ScalarType.NUMBER;
      } else {
        type = ScalarType.STRING;
      }
      return new Scalar(line, event.getValue(), type, true);
    }

    private static Unreadable unreadable(int line, Reason reason, String message) {
      return new Unreadable(new Fault(line, "", reason, message));
    }
  }
}
