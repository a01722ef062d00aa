package dev.warmpath.cli.policy;

import dev.warmpath.cli.input.InputFiles;
import dev.warmpath.crds.resource.Resource;
import dev.warmpath.crds.resource.ResourceSet;
import dev.warmpath.crds.v1alpha1.Durations;
import dev.warmpath.extproc.policy.review.SampleState;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/**
 * Reads a state of the cluster; docs/policies.md has the form. Strict: what is misspelt would leave
 * a worker idle, and a test would pass for a state that nobody wrote. Used by one thread.
 */
final class StateFile {
  private static final YAMLMapper YAML = new YAMLMapper();
  private static final Set<String> WORKER_FIELDS =
      Set.of(
          "name",
          "ready",
          "set",
          "hardware",
          "queuedPrompts",
          "runningRequests",
          "kvCacheUsage",
          "cachedTokens",
          "predictedTtft");

  /** What a state can speak of, each as {@code namespace/name}. */
  record Names(SortedSet<String> pools, SortedSet<String> providers, SortedSet<String> sets) {
    static Names of(ResourceSet resources) {
      return new Names(
          names(resources.pools()), names(resources.providers()), names(resources.workerSets()));
    }

    /** What either configuration has. */
    Names and(Names other) {
      return new Names(
          union(pools, other.pools), union(providers, other.providers), union(sets, other.sets));
    }

    private static SortedSet<String> names(Collection<? extends Resource<?>> resources) {
      return resources.stream()
          .map(resource -> resource.namespace() + "/" + resource.name())
          .collect(Collectors.toCollection(TreeSet::new));
    }

    private static SortedSet<String> union(SortedSet<String> one, SortedSet<String> other) {
      SortedSet<String> both = new TreeSet<>(one);
      both.addAll(other);
      return both;
    }
  }

  private final Path file;
  private final Names names;

  private StateFile(Path file, Names names) {
    this.file = file;
    this.names = names;
  }

  /**
   * The state that a file holds.
   *
   * @throws IllegalArgumentException with file, field and reason
   */
  static SampleState read(Path file, Names names) {
    return new StateFile(file, names).read();
  }

  private SampleState read() {
    JsonNode root;
    try {
      root = YAML.readTree(InputFiles.text(file));
    } catch (JacksonException e) {
      throw new IllegalArgumentException(file + ": " + e.getOriginalMessage(), e);
    }
    if (root.isMissingNode() || root.isNull()) {
      return SampleState.IDLE;
    }
    fields(root, "the state", Set.of("pools", "providers", "labels"));
    Map<String, List<SampleState.Worker>> pools = new HashMap<>();
    for (Map.Entry<String, JsonNode> pool : children(root, "pools")) {
      String field = "pools." + pool.getKey();
      known(pool.getKey(), names.pools(), field, "pool");
      if (!pool.getValue().isArray()) {
        throw wrong(field, pool.getValue(), "takes a list of workers ([] for none)");
      }
      List<SampleState.Worker> workers = new ArrayList<>();
      for (JsonNode worker : pool.getValue()) {
        int index = workers.size();
        workers.add(worker(worker, field + "[" + index + "]", pool.getKey() + "-" + index));
      }
      pools.put(pool.getKey(), workers);
    }
    Set<String> unavailable = new HashSet<>();
    Map<String, Long> ttft = new HashMap<>();
    for (Map.Entry<String, JsonNode> provider : children(root, "providers")) {
      String field = "providers." + provider.getKey();
      known(provider.getKey(), names.providers(), field, "provider");
      fields(provider.getValue(), field, Set.of("available", "predictedTtft"));
      if (!bool(provider.getValue(), field, "available")) {
        unavailable.add(provider.getKey());
      }
      if (provider.getValue().has("predictedTtft")) {
        ttft.put(provider.getKey(), nanos(provider.getValue(), field, 0));
      }
    }
    Map<String, String> labels = new HashMap<>();
    for (Map.Entry<String, JsonNode> label : children(root, "labels")) {
      labels.put(label.getKey(), scalar(label.getValue(), "labels." + label.getKey()));
    }
    return new SampleState(pools, unavailable, ttft, labels);
  }

  private SampleState.Worker worker(JsonNode node, String field, String otherwise) {
    fields(node, field, WORKER_FIELDS);
    SampleState.Worker idle =
        SampleState.Worker.idle(
            node.has("name") ? scalar(node.path("name"), field + ".name") : otherwise);
    String set = text(node, field, "set");
    if (!set.isEmpty()) {
      known(set, names.sets(), field + ".set", "worker set");
    }
    return new SampleState.Worker(
        idle.name(),
        bool(node, field, "ready"),
        set,
        text(node, field, "hardware"),
        count(node, field, "queuedPrompts"),
        count(node, field, "runningRequests"),
        share(node, field, "kvCacheUsage"),
        count(node, field, "cachedTokens"),
        nanos(node, field, idle.predictedTtftNanos()));
  }

  /** The entries of a mapping that may be absent, or empty. */
  private Collection<Map.Entry<String, JsonNode>> children(JsonNode root, String field) {
    JsonNode node = root.path(field);
    if (!node.isMissingNode() && !node.isNull() && !node.isObject()) {
      throw wrong(field, node, "takes names with values");
    }
    return node.properties();
  }

  private void known(String name, SortedSet<String> all, String field, String what) {
    for (String full : all) {
      if (full.equals(name) || full.substring(full.indexOf('/') + 1).equals(name)) {
        return;
      }
    }
    throw new IllegalArgumentException(
        "%s: %s: the configuration has no %s '%s'; %s"
            .formatted(
                file,
                field,
                what,
                name,
                all.isEmpty() ? "it has none" : "there are: " + String.join(", ", all)));
  }

  private void fields(JsonNode node, String field, Set<String> known) {
    if (!node.isObject()) {
      throw wrong(field, node, "takes the fields " + String.join(", ", new TreeSet<>(known)));
    }
    for (Map.Entry<String, JsonNode> property : node.properties()) {
      if (!known.contains(property.getKey())) {
        throw new IllegalArgumentException(
            "%s: %s has no '%s'; known are %s"
                .formatted(file, field, property.getKey(), new TreeSet<>(known)));
      }
    }
  }

  /** True where it is absent. */
  private boolean bool(JsonNode node, String field, String name) {
    JsonNode value = node.path(name);
    if (!value.isMissingNode() && !value.isBoolean()) {
      throw wrong(field + "." + name, value, "takes true or false");
    }
    return value.isMissingNode() || value.booleanValue();
  }

  private long count(JsonNode node, String field, String name) {
    JsonNode value = node.path(name);
    if (value.isMissingNode()) {
      return 0;
    }
    if (!value.isIntegralNumber() || !value.canConvertToLong() || value.longValue() < 0) {
      throw wrong(field + "." + name, value, "takes a whole number, 0 or more");
    }
    return value.longValue();
  }

  private double share(JsonNode node, String field, String name) {
    JsonNode value = node.path(name);
    if (value.isMissingNode()) {
      return 0;
    }
    double share = value.isNumber() ? value.doubleValue() : Double.NaN;
    if (!(share >= 0 && share <= 1)) {
      throw wrong(field + "." + name, value, "takes a number from 0 to 1");
    }
    return share;
  }

  private String text(JsonNode node, String field, String name) {
    return node.has(name) ? scalar(node.path(name), field + "." + name) : "";
  }

  private String scalar(JsonNode value, String field) {
    if (!value.isValueNode() || value.isNull() || value.asString("").isEmpty()) {
      throw wrong(field, value, "takes a text");
    }
    return value.asString("");
  }

  private long nanos(JsonNode node, String field, long otherwise) {
    JsonNode value = node.path("predictedTtft");
    if (value.isMissingNode()) {
      return otherwise;
    }
    Duration duration = value.isValueNode() ? Durations.parse(value.asString("")) : null;
    if (duration == null) {
      throw wrong(field + ".predictedTtft", value, "takes a duration (400ms, 2s)");
    }
    return duration.isZero() ? otherwise : duration.toNanos();
  }

  private IllegalArgumentException wrong(String field, JsonNode value, String takes) {
    String got =
        value.isNull()
            ? "nothing"
            : value.isObject()
                ? "fields"
                : value.isArray()
                    ? "a list"
                    : value.isString() ? "'" + value.asString("") + "'" : value.toString();
    return new IllegalArgumentException("%s: %s %s, not %s".formatted(file, field, takes, got));
  }
}
