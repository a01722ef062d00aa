package dev.warmpath.crds.resource;

import dev.warmpath.crds.resource.YamlNode.Mapping;
import dev.warmpath.crds.resource.YamlNode.Scalar;
import dev.warmpath.crds.resource.YamlNode.ScalarType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Reads resources strictly. Stateless; any thread.
 *
 * <p>Nothing in a text makes it throw: whatever is wrong comes back as a {@link Problem}, and a
 * document with an error hides no other. Time and memory are bounded by the length of the text.
 */
public final class ResourceParser {
  public ResourceParser() {}

  /** Reads the documents of one file; {@code file} is only for problems. */
  public ParsedResources parse(String file, String text) {
    return parseAll(new TreeMap<>(Map.of(file, text)));
  }

  /**
   * Reads several files as one set. Of documents with the same kind, namespace and name the first
   * counts, by file name and line; the others are problems.
   */
  public ParsedResources parseAll(SortedMap<String, String> textByFile) {
    Collector collector = new Collector();
    textByFile.forEach((file, text) -> {
      for (YamlReader.Document document : YamlReader.read(text)) {
        collector.add(DocumentReader.read(file, document));
      }
    });
    return collector.result();
  }

  /**
   * Reads one object as an API server gives it: maps, lists, text, numbers, booleans. Its problems
   * have no file and no lines.
   */
  public ParsedResources parseObject(Map<String, ?> object) {
    Collector collector = new Collector();
    collector.add(DocumentReader.read("", ObjectNodes.document(object)));
    return collector.result();
  }

  private static final class Collector {
    private final Map<Resource.Key, Resource<?>> resources = new HashMap<>();
    private final Map<Resource.Key, SourceLocation> seen = new HashMap<>();
    private final List<RejectedResource> rejected = new ArrayList<>();
    private final List<Problem> problems = new ArrayList<>();

    void add(DocumentReader.Outcome outcome) {
      problems.addAll(outcome.problems());
      Resource.Key key = outcome.key();
      if (key == null) {
        return;
      }
      SourceLocation earlier = seen.putIfAbsent(key, outcome.source());
      if (earlier != null) {
        problems.add(
            new Problem(
                Problem.Severity.ERROR,
                outcome.source().file(),
                outcome.source().line(),
                key.kind(),
                key.namespace(),
                key.name(),
                "metadata.name",
                Reason.DuplicateResource.name(),
                "the same resource is written in " + earlier + "; that one counts"));
        return;
      }
      if (outcome.resource() != null) {
        resources.put(key, outcome.resource());
      } else if (outcome.rejected() != null) {
        rejected.add(outcome.rejected());
      }
    }

    ParsedResources result() {
      return new ParsedResources(ResourceSet.of(resources.values()), rejected, problems);
    }
  }

  /** Maps and lists of an API object as nodes. */
  private static final class ObjectNodes {
    private ObjectNodes() {}

    static YamlReader.Document document(Map<String, ?> object) {
      return new YamlReader.Document(0, node(object, 0), List.of(), "");
    }

    private static YamlNode node(@org.jspecify.annotations.Nullable Object value, int depth) {
      if (depth > YamlReader.MAX_DEPTH) {
        return new Scalar(0, "", ScalarType.NULL, true);
      }
      return switch (value) {
        case null -> new Scalar(0, "", ScalarType.NULL, true);
        case Map<?, ?> map -> {
          Mapping mapping = Mapping.at(0);
          map.forEach((key, item) ->
              mapping
                  .entries()
                  .put(String.valueOf(key), new Mapping.Entry(0, node(item, depth + 1))));
          yield mapping;
        }
        case Iterable<?> items -> {
          YamlNode.Sequence sequence = YamlNode.Sequence.at(0);
          items.forEach(item -> sequence.items().add(node(item, depth + 1)));
          yield sequence;
        }
        case Boolean bool -> new Scalar(0, bool.toString(), ScalarType.BOOLEAN, false);
        case Integer number -> new Scalar(0, number.toString(), ScalarType.INTEGER, false);
        case Long number -> new Scalar(0, number.toString(), ScalarType.INTEGER, false);
        case java.math.BigInteger number ->
            new Scalar(0, number.toString(), ScalarType.INTEGER, false);
        case Number number -> new Scalar(0, number.toString(), ScalarType.NUMBER, false);
        default -> new Scalar(0, value.toString(), ScalarType.STRING, false);
      };
    }
  }
}
