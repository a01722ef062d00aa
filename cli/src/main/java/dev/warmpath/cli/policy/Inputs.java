package dev.warmpath.cli.policy;

import dev.warmpath.cli.input.InputFiles;
import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.resource.ParsedResources;
import dev.warmpath.crds.resource.Problem;
import dev.warmpath.crds.resource.Resource;
import dev.warmpath.crds.resource.ResourceParser;
import dev.warmpath.crds.resource.ResourceSet;
import dev.warmpath.crds.resource.ResourceValidator;
import dev.warmpath.crds.v1alpha1.Durations;
import dev.warmpath.crds.v1alpha1.ProviderSpec;
import dev.warmpath.crds.v1alpha1.SecretKeyRef;
import dev.warmpath.extproc.label.Classifiers;
import dev.warmpath.extproc.policy.review.PolicyReview;
import dev.warmpath.extproc.policy.review.SampleRequest;
import dev.warmpath.extproc.policy.review.SampleState;
import dev.warmpath.xds.plan.Planner;
import dev.warmpath.xds.source.Secrets;
import dev.warmpath.xds.source.SourceSnapshot;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** Reads what the commands are given. Throws {@link IllegalArgumentException} with a sentence. */
final class Inputs {
  private static final JsonMapper JSON = JsonMapper.shared();
  private static final YAMLMapper YAML = new YAMLMapper();
  private static final String DEFAULT_PATH = "/v1/chat/completions";

  private Inputs() {}

  /** A configuration folder, compiled as the control plane does, without workers and secrets. */
  static PolicyReview configuration(Path folder) {
    SortedMap<String, String> texts = InputFiles.configuration(List.of(folder));
    ParsedResources parsed = new ResourceParser().parseAll(texts);
    List<Problem> errors = new ArrayList<>(parsed.problems());
    errors.addAll(new ResourceValidator().validate(parsed.resources()));
    errors.removeIf(problem -> !problem.isError());
    if (!errors.isEmpty()) {
      throw new IllegalArgumentException(
          folder + " is not valid (see warmpath validate): " + errors.getFirst());
    }
    RoutingConfiguration routing =
        new Planner(new ResourceValidator())
            .plan(
                new SourceSnapshot(
                    parsed.resources(),
                    parsed.rejected(),
                    Map.of(),
                    placeholders(parsed.resources()),
                    List.of()))
            .routing();
    return new PolicyReview(routing, Classifiers.builtIn(System::nanoTime), InstantSource.system());
  }

  /** A provider counts although its secret isn't here: nothing is sent to it. */
  private static Secrets placeholders(ResourceSet resources) {
    Map<Secrets.Entry, String> values = new HashMap<>();
    for (Resource<ProviderSpec> provider : resources.providers()) {
      ProviderSpec.Credentials credentials = provider.spec().credentials();
      ProviderSpec.Tls tls = provider.spec().tls();
      List<SecretKeyRef> references = new ArrayList<>();
      if (credentials != null && credentials.apiKey() != null) {
        references.add(credentials.apiKey().secret());
      }
      if (credentials != null && credentials.secret() != null) {
        ProviderSpec.AwsKeys keys = credentials.secret();
        references.add(new SecretKeyRef(keys.name(), keys.accessKeyIdKey()));
        references.add(new SecretKeyRef(keys.name(), keys.secretAccessKeyKey()));
      }
      if (tls != null) {
        references.add(tls.caBundle().secret());
      }
      for (SecretKeyRef reference : references) {
        values.put(
            new Secrets.Entry(provider.namespace(), reference.name(), reference.key()),
            "placeholder");
      }
    }
    return new Secrets(values);
  }

  /** A body as a client sends it. */
  static SampleRequest request(Path file, @Nullable String path, @Nullable String tenant) {
    return new SampleRequest(
        path == null ? DEFAULT_PATH : path, Map.of(), InputFiles.bytes(file), tenant);
  }

  /**
   * One recorded request in a line: {@code {"path": …, "tenant": …, "headers": {…}, "body": {…}}};
   * a line without {@code body} is a body itself.
   */
  static SampleRequest recorded(String line) {
    try {
      JsonNode node = JSON.readTree(line);
      JsonNode body = node.path("body");
      if (body.isMissingNode()) {
        return new SampleRequest(
            DEFAULT_PATH, Map.of(), line.getBytes(StandardCharsets.UTF_8), null);
      }
      Map<String, String> headers = new HashMap<>();
      node.path("headers")
          .properties()
          .forEach(header ->
              headers.put(
                  header.getKey().toLowerCase(java.util.Locale.ROOT),
                  header.getValue().asString("")));
      return new SampleRequest(
          node.path("path").asString(DEFAULT_PATH),
          headers,
          JSON.writeValueAsBytes(body),
          node.has("tenant") ? node.path("tenant").asString("") : null);
    } catch (JacksonException e) {
      throw new IllegalArgumentException("not JSON: " + e.getOriginalMessage(), e);
    }
  }

  /** A state of the cluster; docs/policies.md has the form. */
  static SampleState state(@Nullable Path file) {
    if (file == null) {
      return SampleState.IDLE;
    }
    JsonNode root;
    try {
      root = YAML.readTree(InputFiles.text(file));
    } catch (JacksonException e) {
      throw new IllegalArgumentException(file + ": " + e.getOriginalMessage(), e);
    }
    only(root, "the state", Set.of("pools", "providers", "labels"));
    Map<String, List<SampleState.Worker>> pools = new HashMap<>();
    for (Map.Entry<String, JsonNode> pool : root.path("pools").properties()) {
      List<SampleState.Worker> workers = new ArrayList<>();
      for (JsonNode worker : pool.getValue()) {
        workers.add(worker(worker, pool.getKey(), workers.size()));
      }
      pools.put(pool.getKey(), workers);
    }
    Set<String> unavailable = new HashSet<>();
    Map<String, Long> ttft = new HashMap<>();
    for (Map.Entry<String, JsonNode> provider : root.path("providers").properties()) {
      only(provider.getValue(), provider.getKey(), Set.of("available", "predictedTtft"));
      if (!provider.getValue().path("available").asBoolean(true)) {
        unavailable.add(provider.getKey());
      }
      if (provider.getValue().has("predictedTtft")) {
        ttft.put(provider.getKey(), nanos(provider.getValue(), 0));
      }
    }
    Map<String, String> labels = new HashMap<>();
    root.path("labels")
        .properties()
        .forEach(label -> labels.put(label.getKey(), label.getValue().asString("")));
    return new SampleState(pools, unavailable, ttft, labels);
  }

  private static SampleState.Worker worker(JsonNode node, String pool, int index) {
    only(
        node,
        "a worker of " + pool,
        Set.of(
            "name",
            "ready",
            "set",
            "hardware",
            "queuedPrompts",
            "runningRequests",
            "kvCacheUsage",
            "cachedTokens",
            "predictedTtft"));
    SampleState.Worker idle =
        SampleState.Worker.idle(node.path("name").asString(pool + "-" + index));
    return new SampleState.Worker(
        idle.name(),
        node.path("ready").asBoolean(true),
        node.path("set").asString(""),
        node.path("hardware").asString(""),
        node.path("queuedPrompts").asLong(0),
        node.path("runningRequests").asLong(0),
        node.path("kvCacheUsage").asDouble(0),
        node.path("cachedTokens").asLong(0),
        node.has("predictedTtft")
            ? nanos(node, idle.predictedTtftNanos())
            : idle.predictedTtftNanos());
  }

  private static long nanos(JsonNode node, long otherwise) {
    String text = node.path("predictedTtft").asString("");
    Duration duration = Durations.parse(text);
    if (duration == null) {
      throw new IllegalArgumentException("predictedTtft '" + text + "' is no duration (400ms, 2s)");
    }
    return duration.isZero() ? otherwise : duration.toNanos();
  }

  private static void only(JsonNode node, String what, Set<String> known) {
    for (Map.Entry<String, JsonNode> property : node.properties()) {
      if (!known.contains(property.getKey())) {
        throw new IllegalArgumentException(
            what
                + " has no '"
                + property.getKey()
                + "'; known are "
                + new java.util.TreeSet<>(known));
      }
    }
  }
}
