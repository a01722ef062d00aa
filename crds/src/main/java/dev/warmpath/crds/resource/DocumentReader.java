package dev.warmpath.crds.resource;

import dev.warmpath.crds.resource.Problem.Severity;
import dev.warmpath.crds.resource.YamlNode.Mapping;
import dev.warmpath.crds.resource.YamlNode.Scalar;
import dev.warmpath.crds.resource.YamlNode.ScalarType;
import dev.warmpath.crds.resource.YamlNode.Sequence;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** One document to one resource: the envelope by hand, the spec by {@link SpecBinder}. */
final class DocumentReader {
  static final String DEFAULT_NAMESPACE = "default";

  private static final List<String> ENVELOPE =
      List.of("apiVersion", "kind", "metadata", "spec", "status");

  // Kubernetes' own metadata; what is not read here is accepted as an API server wrote it.
  private static final List<String> METADATA =
      List.of(
          "name",
          "namespace",
          "labels",
          "annotations",
          "uid",
          "generation",
          "creationTimestamp",
          "deletionGracePeriodSeconds",
          "deletionTimestamp",
          "finalizers",
          "generateName",
          "managedFields",
          "ownerReferences",
          "resourceVersion",
          "selfLink");

  private static final Pattern NAME =
      Pattern.compile("[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*");
  private static final int MAX_NAME_LENGTH = 253;
  private static final Pattern NAMESPACE = Pattern.compile("[a-z0-9]([-a-z0-9]*[a-z0-9])?");
  private static final int MAX_NAMESPACE_LENGTH = 63;

  // For a document that is not YAML (yet): enough to know whose it is, never used to read a value.
  private static final Pattern KIND_LINE =
      Pattern.compile("(?m)^kind:[ \\t]*[\"']?([A-Za-z]{1,40})\\b");
  private static final Pattern NAME_LINE =
      Pattern.compile(
          "(?m)^(?:metadata:[^\\n]{0,200}?|[ \\t]{1,8})\\bname:[ \\t]*[\"']?([-a-z0-9.]{1,253})");
  private static final Pattern NAMESPACE_LINE =
      Pattern.compile(
          "(?m)^(?:metadata:[^\\n]{0,200}?|[ \\t]{1,8})\\bnamespace:[ \\t]*[\"']?([-a-z0-9]{1,63})");

  /** What one document became; {@code resource} and {@code rejected} are never both set. */
  record Outcome(
      SourceLocation source,
      Resource.@Nullable Key key,
      @Nullable Resource<?> resource,
      @Nullable RejectedResource rejected,
      List<Problem> problems) {}

  private final String file;
  private final int line;
  private final Map<String, Integer> fieldLines = new HashMap<>();
  private final List<Finding> findings = new ArrayList<>();
  private @Nullable Kind kind;
  private String namespace = "";
  private String name = "";
  private long generation;

  private record Finding(
      Severity severity, int line, String field, Reason reason, String message) {}

  private DocumentReader(String file, int line) {
    this.file = file;
    this.line = line;
  }

  static Outcome read(String file, YamlReader.Document document) {
    return new DocumentReader(file, document.line()).read(document);
  }

  private Outcome read(YamlReader.Document document) {
    for (YamlReader.Fault fault : document.faults()) {
      error(fault.line(), fault.field(), fault.reason(), fault.message());
    }
    YamlNode root = document.root();
    if (root == null) {
      if (findings.isEmpty()) {
        return new Outcome(new SourceLocation(file, line), null, null, null, List.of());
      }
      guessIdentity(document.text());
      return outcome(null, List.of(), document.text().contains("constraints"));
    }
    if (YamlNode.isNull(root)) {
      return new Outcome(new SourceLocation(file, line), null, null, null, List.of());
    }
    if (!(root instanceof Mapping mapping)) {
      error(
          root.line(),
          "",
          Reason.InvalidYaml,
          "the document must be a resource (apiVersion, kind, metadata, spec), got "
              + root.describe());
      return outcome(null, List.of(), false);
    }
    return outcome(readResource(mapping), policyModels(mapping), mayConstrain(mapping));
  }

  private @Nullable Resource<?> readResource(Mapping root) {
    unknownKeys(root, "", ENVELOPE);
    readApiVersion(root);
    readKind(root);
    Map<String, String> labels = new HashMap<>();
    Map<String, String> annotations = new HashMap<>();
    String uid = readMetadata(root, labels, annotations);
    if (kind == null) {
      return null;
    }
    YamlNode spec = root.get("spec");
    if (spec == null) {
      error(line, "spec", Reason.MissingField, "this field is required");
      return null;
    }
    Record bound = null;
    try {
      bound = new SpecBinder(this::add, fieldLines).bind(kind.specType(), spec, "spec");
    } catch (SpecBinder.TooManyNodes e) {
      error(
          line,
          "spec",
          Reason.TooLarge,
          "the spec has more than " + SpecBinder.MAX_VISITED_NODES + " values, counting aliases");
    }
    if (bound == null || findings.stream().anyMatch(f -> f.severity() == Severity.ERROR)) {
      return null;
    }
    return new Resource<>(
        kind, namespace, name, uid, generation, labels, annotations, bound, source());
  }

  private void readApiVersion(Mapping root) {
    String found = readText(root, "apiVersion", "apiVersion", Reason.UnsupportedApiVersion);
    if (found != null && !found.equals(Kind.API_VERSION)) {
      error(
          lineOf(root, "apiVersion"),
          "apiVersion",
          Reason.UnsupportedApiVersion,
          "must be " + Kind.API_VERSION + ", got \"" + shorten(found) + "\"");
    }
  }

  private void readKind(Mapping root) {
    String found = readText(root, "kind", "kind", Reason.UnsupportedKind);
    if (found == null) {
      return;
    }
    kind = Kind.ofName(found);
    if (kind == null) {
      error(
          lineOf(root, "kind"),
          "kind",
          Reason.UnsupportedKind,
          "must be one of "
              + String.join(", ", Kind.names())
              + ", got \""
              + shorten(found)
              + "\""
              + Nearest.hint(found, Kind.names()));
    }
  }

  private @Nullable String readMetadata(
      Mapping root, Map<String, String> labels, Map<String, String> annotations) {
    YamlNode node = root.get("metadata");
    if (!(node instanceof Mapping metadata)) {
      if (node == null) {
        error(line, "metadata.name", Reason.MissingField, "this field is required");
      } else {
        error(
            node.line(),
            "metadata",
            Reason.WrongType,
            "must be a mapping of fields, got " + node.describe());
      }
      return null;
    }
    fieldLines.put("metadata", lineOf(root, "metadata"));
    unknownKeys(metadata, "metadata", METADATA);
    String foundNamespace =
        metadata.get("namespace") == null
            ? DEFAULT_NAMESPACE
            : readText(metadata, "namespace", "metadata.namespace", Reason.MissingField);
    if (foundNamespace != null
        && checkName(metadata, "namespace", foundNamespace, NAMESPACE, MAX_NAMESPACE_LENGTH)) {
      namespace = foundNamespace;
    }
    String foundName = readText(metadata, "name", "metadata.name", Reason.MissingField);
    // The name is of use in messages only together with its namespace.
    if (foundName != null
        && checkName(metadata, "name", foundName, NAME, MAX_NAME_LENGTH)
        && !namespace.isEmpty()) {
      name = foundName;
    }
    readTexts(metadata, "labels", labels);
    readTexts(metadata, "annotations", annotations);
    if (metadata.get("generation") instanceof Scalar scalar
        && scalar.type() == ScalarType.INTEGER
        && scalar.text().matches("[0-9]{1,18}")) {
      generation = Long.parseLong(scalar.text());
    }
    return metadata.get("uid") instanceof Scalar uid && uid.type() == ScalarType.STRING
        ? uid.text()
        : null;
  }

  private boolean checkName(
      Mapping metadata, String key, String value, Pattern pattern, int maxLength) {
    fieldLines.put("metadata." + key, lineOf(metadata, key));
    if (value.length() <= maxLength && pattern.matcher(value).matches()) {
      return true;
    }
    error(
        lineOf(metadata, key),
        "metadata." + key,
        Reason.InvalidName,
        "must be at most "
            + maxLength
            + " lower-case letters, digits and hyphens, got \""
            + shorten(value)
            + "\"");
    return false;
  }

  private void readTexts(Mapping metadata, String key, Map<String, String> target) {
    YamlNode node = metadata.get(key);
    if (node == null) {
      return;
    }
    String path = "metadata." + key;
    if (!(node instanceof Mapping mapping)) {
      error(
          node.line(),
          path,
          Reason.WrongType,
          "must be a mapping of text to text, got " + node.describe());
      return;
    }
    for (String label : mapping.entries().keySet()) {
      String text = readText(mapping, label, FieldPath.child(path, label), Reason.MissingField);
      if (text != null) {
        target.put(label, text);
      }
    }
  }

  private @Nullable String readText(Mapping mapping, String key, String path, Reason ifAbsent) {
    YamlNode node = mapping.get(key);
    if (node == null) {
      error(
          mapping.entries().containsKey(key) ? lineOf(mapping, key) : mapping.line(),
          path,
          ifAbsent,
          "this field is required");
      return null;
    }
    if (node instanceof Scalar scalar && scalar.type() == ScalarType.STRING) {
      if (SpecBinder.isOldBoolean(scalar)) {
        add(
            Severity.WARNING,
            node.line(),
            path,
            Reason.AmbiguousScalar,
            SpecBinder.oldBooleanMessage(scalar));
      }
      return scalar.text();
    }
    error(
        node.line(),
        path,
        Reason.WrongType,
        "must be text, got "
            + node.describe()
            + (node instanceof Scalar ? "; write it in quotes" : ""));
    return null;
  }

  private void unknownKeys(Mapping mapping, String path, List<String> known) {
    mapping
        .entries()
        .forEach((key, entry) -> {
          if (!known.contains(key) && findings.size() < SpecBinder.MAX_PROBLEMS) {
            error(
                entry.keyLine(),
                FieldPath.child(path, key),
                Reason.UnknownField,
                "there is no such field" + Nearest.hint(key, known));
          }
        });
  }

  /** What can be read of a policy's {@code spec.match.models}. */
  private static List<String> policyModels(Mapping root) {
    List<String> models = new ArrayList<>();
    if (root.get("spec") instanceof Mapping spec
        && spec.get("match") instanceof Mapping match
        && match.get("models") instanceof Sequence sequence) {
      for (YamlNode item : sequence.items()) {
        if (!(item instanceof Scalar scalar) || scalar.type() != ScalarType.STRING) {
          return List.of();
        }
        models.add(scalar.text());
      }
    }
    return models;
  }

  private static boolean mayConstrain(Mapping root) {
    if (!(root.get("spec") instanceof Mapping spec)) {
      return true;
    }
    YamlNode constraints = spec.get("constraints");
    if (constraints == null) {
      // A mistyped field may have been meant to hold them.
      return spec.entries().keySet().stream()
          .anyMatch(key -> "constraints".equals(Nearest.of(key, List.of("constraints"))));
    }
    return !(constraints instanceof Sequence sequence) || !sequence.items().isEmpty();
  }

  private void guessIdentity(String text) {
    Matcher kindLine = KIND_LINE.matcher(text);
    kind = kindLine.find() ? Kind.ofName(kindLine.group(1)) : null;
    Matcher nameLine = NAME_LINE.matcher(text);
    if (kind != null && nameLine.find()) {
      name = nameLine.group(1);
      Matcher namespaceLine = NAMESPACE_LINE.matcher(text);
      namespace = namespaceLine.find() ? namespaceLine.group(1) : DEFAULT_NAMESPACE;
    }
  }

  private Outcome outcome(
      @Nullable Resource<?> resource, List<String> policyModels, boolean mayConstrain) {
    List<Problem> problems =
        findings.stream()
            .map(f ->
                new Problem(
                    f.severity(),
                    file,
                    f.line(),
                    kind,
                    namespace,
                    name,
                    f.field(),
                    f.reason().name(),
                    f.message()))
            .toList();
    if (kind == null || name.isEmpty()) {
      return new Outcome(source(), null, null, null, problems);
    }
    RejectedResource rejected =
        resource != null
            ? null
            : new RejectedResource(
                kind,
                namespace,
                name,
                generation,
                source(),
                kind == Kind.POLICY ? policyModels : List.of(),
                kind == Kind.POLICY && mayConstrain);
    return new Outcome(
        source(), new Resource.Key(kind, namespace, name), resource, rejected, problems);
  }

  private SourceLocation source() {
    return new SourceLocation(file, line, line == 0 ? Map.of() : fieldLines);
  }

  private static int lineOf(Mapping mapping, String key) {
    Mapping.Entry entry = mapping.entries().get(key);
    return entry == null ? mapping.line() : entry.keyLine();
  }

  private static String shorten(String text) {
    return FieldPath.printable(text.length() <= 80 ? text : text.substring(0, 80) + "…");
  }

  private void error(int line, String field, Reason reason, String message) {
    add(Severity.ERROR, line, field, reason, message);
  }

  private void add(Severity severity, int line, String field, Reason reason, String message) {
    if (findings.size() < SpecBinder.MAX_PROBLEMS) {
      findings.add(new Finding(severity, line, field, reason, message));
    }
  }
}
