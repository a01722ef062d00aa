package dev.warmpath.xds.plan;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.TypeRegistry;
import com.google.protobuf.util.JsonFormat;
import dev.warmpath.crds.config.RoutingConfiguration.Worker;
import dev.warmpath.crds.config.RoutingConfigurationCodec;
import dev.warmpath.crds.resource.ParsedResources;
import dev.warmpath.crds.resource.Problem;
import dev.warmpath.crds.resource.Resource;
import dev.warmpath.crds.resource.ResourceParser;
import dev.warmpath.crds.resource.ResourceValidator;
import dev.warmpath.crds.v1alpha1.WorkerSetSpec;
import dev.warmpath.xds.source.Secrets;
import dev.warmpath.xds.source.SourceSnapshot;
import dev.warmpath.xds.translate.EnvoyResources;
import dev.warmpath.xds.translate.EnvoyTranslator;
import dev.warmpath.xds.translate.XdsResource;
import dev.warmpath.xds.translate.XdsType;
import io.envoyproxy.envoy.config.cluster.v3.Cluster;
import io.envoyproxy.envoy.config.core.v3.TypedExtensionConfig;
import io.envoyproxy.envoy.config.endpoint.v3.ClusterLoadAssignment;
import io.envoyproxy.envoy.extensions.clusters.dns.v3.DnsCluster;
import io.envoyproxy.envoy.extensions.filters.http.credential_injector.v3.CredentialInjector;
import io.envoyproxy.envoy.extensions.filters.http.header_mutation.v3.HeaderMutation;
import io.envoyproxy.envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication;
import io.envoyproxy.envoy.extensions.filters.http.lua.v3.Lua;
import io.envoyproxy.envoy.extensions.filters.http.upstream_codec.v3.UpstreamCodec;
import io.envoyproxy.envoy.extensions.http.injected_credentials.generic.v3.Generic;
import io.envoyproxy.envoy.extensions.load_balancing_policies.least_request.v3.LeastRequest;
import io.envoyproxy.envoy.extensions.transport_sockets.tls.v3.Secret;
import io.envoyproxy.envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext;
import io.envoyproxy.envoy.extensions.upstreams.http.v3.HttpProtocolOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/**
 * A folder for each case: resources and secrets in, Envoy's and the processor's part and the
 * problems out. {@code -Dwarmpath.golden=update} writes the expected files anew.
 */
class GoldenTest {
  private static final Path CASES = Path.of("src/test/resources/golden");
  private static final JsonMapper JSON =
      JsonMapper.builder()
          .enable(SerializationFeature.INDENT_OUTPUT)
          .enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
          .build();
  private static final YAMLMapper YAML = YAMLMapper.builder().build();

  private static final JsonFormat.Printer PRINTER =
      JsonFormat.printer()
          .usingTypeRegistry(
              TypeRegistry.newBuilder()
                  .add(JwtAuthentication.getDescriptor())
                  .add(HttpProtocolOptions.getDescriptor())
                  .add(Lua.getDescriptor())
                  .add(HeaderMutation.getDescriptor())
                  .add(CredentialInjector.getDescriptor())
                  .add(Generic.getDescriptor())
                  .add(UpstreamCodec.getDescriptor())
                  .add(UpstreamTlsContext.getDescriptor())
                  .add(DnsCluster.getDescriptor())
                  .add(LeastRequest.getDescriptor())
                  .build());

  static Stream<String> cases() throws IOException {
    List<String> names = new ArrayList<>();
    try (Stream<Path> folders = Files.list(CASES)) {
      folders.sorted().forEach(folder -> names.add(folder.getFileName().toString()));
    }
    return names.stream();
  }

  @ParameterizedTest
  @MethodSource("cases")
  void theOutcomeIsAsWritten(String name) throws IOException {
    Path folder = CASES.resolve(name);
    Plan plan = new Planner(new ResourceValidator()).plan(snapshot(folder));
    EnvoyResources resources =
        new EnvoyTranslator("/etc/ssl/certs/ca-certificates.crt").translate(plan.model());

    compare(folder.resolve("out-envoy.json"), envoy(resources));
    compare(
        folder.resolve("out-routing.json"),
        JSON.writeValueAsString(JSON.readTree(RoutingConfigurationCodec.toJson(plan.routing()))));
    compare(
        folder.resolve("out-problems.txt"),
        String.join("\n", plan.problems().stream().map(Problem::toString).sorted().toList()));
  }

  private static void compare(Path file, String actual) throws IOException {
    String text = actual.strip() + "\n";
    if ("update".equals(System.getProperty("warmpath.golden"))) {
      Files.writeString(file, text);
    }
    assertThat(file).as("run with -Dwarmpath.golden=update to write it").exists();
    assertThat(text).isEqualTo(Files.readString(file));
  }

  private static SourceSnapshot snapshot(Path folder) throws IOException {
    ParsedResources parsed =
        new ResourceParser()
            .parse("in-resources.yaml", Files.readString(folder.resolve("in-resources.yaml")));
    Map<Resource.Key, List<Worker>> workers = new HashMap<>();
    for (Resource<WorkerSetSpec> set : parsed.resources().workerSets()) {
      List<WorkerSetSpec.Address> addresses = set.spec().workers().addresses();
      assertThat(addresses).isNotNull();
      if (addresses != null) {
        workers.put(
            set.key(),
            addresses.stream()
                .map(a -> new Worker(a.name(), a.address(), a.port(), "", Worker.State.READY))
                .toList());
      }
    }
    Map<Secrets.Entry, String> secrets = new HashMap<>();
    Path file = folder.resolve("in-secrets.yaml");
    if (Files.exists(file)) {
      for (Map.Entry<String, JsonNode> secret :
          YAML.readTree(Files.readString(file)).properties()) {
        int slash = secret.getKey().indexOf('/');
        secrets.put(
            new Secrets.Entry(
                "", secret.getKey().substring(0, slash), secret.getKey().substring(slash + 1)),
            secret.getValue().asString());
      }
    }
    return new SourceSnapshot(
        parsed.resources(), parsed.rejected(), workers, new Secrets(secrets), parsed.problems());
  }

  private static String envoy(EnvoyResources resources) throws InvalidProtocolBufferException {
    ObjectNode all = JSON.createObjectNode();
    for (XdsType type : XdsType.values()) {
      for (XdsResource resource : resources.of(type).values()) {
        JsonNode json = JSON.readTree(PRINTER.print(message(type, resource)));
        all.set(type + " " + resource.name(), readable(json));
      }
    }
    return JSON.writeValueAsString(all);
  }

  private static Message message(XdsType type, XdsResource resource)
      throws InvalidProtocolBufferException {
    return switch (type) {
      case CLUSTER -> {
        Cluster.Builder cluster = Cluster.parseFrom(resource.body().getValue()).toBuilder();
        // A message without generated class has no JSON; what it does is seen with a real Envoy.
        if (cluster.hasLoadBalancingPolicy()) {
          cluster
              .getLoadBalancingPolicyBuilder()
              .getPoliciesBuilder(0)
              .getTypedExtensionConfigBuilder()
              .setTypedConfig(Any.getDefaultInstance());
        }
        yield cluster.build();
      }
      case ENDPOINT -> ClusterLoadAssignment.parseFrom(resource.body().getValue());
      case SECRET -> Secret.parseFrom(resource.body().getValue());
      case EXTENSION -> TypedExtensionConfig.parseFrom(resource.body().getValue());
      case ROUTE -> throw new IllegalStateException("no routes yet");
    };
  }

  /** The script is the same in every cluster; only its constants are worth showing. */
  private static JsonNode readable(JsonNode json) {
    for (JsonNode source : json.findValues("defaultSourceCode")) {
      String script = source.path("inlineString").asString();
      ((ObjectNode) source)
          .put(
              "inlineString",
              script.lines().takeWhile(line -> line.startsWith("local ")).toList().toString());
    }
    return json;
  }
}
