package dev.warmpath.cli.policy;

import dev.warmpath.cli.input.InputFiles;
import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.resource.ParsedResources;
import dev.warmpath.crds.resource.Problem;
import dev.warmpath.crds.resource.Resource;
import dev.warmpath.crds.resource.ResourceParser;
import dev.warmpath.crds.resource.ResourceSet;
import dev.warmpath.crds.resource.ResourceValidator;
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
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Reads what the commands are given. Throws {@link IllegalArgumentException} with a sentence. */
final class Inputs {
  private static final JsonMapper JSON = JsonMapper.shared();
  private static final String DEFAULT_PATH = "/v1/chat/completions";

  private Inputs() {}

  /**
   * A configuration.
   *
   * @param names what a state of it can speak of
   */
  record Configuration(PolicyReview review, StateFile.Names names) {}

  /** A configuration folder, compiled as the control plane does, without workers and secrets. */
  static Configuration configuration(Path folder) {
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
    return new Configuration(
        new PolicyReview(routing, Classifiers.builtIn(System::nanoTime), InstantSource.system()),
        StateFile.Names.of(parsed.resources()));
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

  /** A state of configurations that have these names; no file is a state where all are idle. */
  static SampleState state(@Nullable Path file, StateFile.Names names) {
    return file == null ? SampleState.IDLE : StateFile.read(file, names);
  }
}
