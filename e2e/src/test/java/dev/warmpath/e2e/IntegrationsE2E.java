package dev.warmpath.e2e;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.warmpath.e2e.support.Charts;
import dev.warmpath.e2e.support.Header;
import dev.warmpath.e2e.support.IstioGateway;
import dev.warmpath.e2e.support.KubeApi;
import dev.warmpath.e2e.support.ManagedProcess;
import dev.warmpath.e2e.support.Ports;
import dev.warmpath.e2e.support.Repository;
import dev.warmpath.e2e.support.ScriptedWorker;
import dev.warmpath.e2e.support.Scripts;
import dev.warmpath.e2e.support.Warmpath;
import dev.warmpath.e2e.support.WireClient;
import dev.warmpath.e2e.support.WireResponse;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The processor behind an Envoy that others configure: the example manifests are valid, and what
 * they say works on the real Envoy.
 */
class IntegrationsE2E {

  private static final Path ROOT = Repository.root();
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  /** Long enough that the worker that has its prefix is the better choice from then on. */
  private static final String CHAT =
      "{\"model\":\"qwen-27b\",\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}]}"
          .formatted("Hello, who is there? ".repeat(2_000));

  private static KubeApi api;

  @TempDir Path folder;

  private final List<AutoCloseable> running = new ArrayList<>();
  private final List<ScriptedWorker> workers = new ArrayList<>();
  private final int processorPort = Ports.free();
  private final InetSocketAddress gateway =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), Ports.free());

  @BeforeAll
  static void defineTheKindsOfOthers() throws IOException, InterruptedException {
    api = KubeApi.withCrds();
    try (Stream<Path> files = Files.list(ROOT.resolve("e2e/src/test/resources/crds"))) {
      for (Path file : files.filter(path -> path.toString().endsWith(".json")).toList()) {
        for (HasMetadata crd : objects(Files.readString(file))) {
          api.admin().resource(crd).forceConflicts().serverSideApply();
        }
      }
    }
  }

  @BeforeEach
  void startWorkers() throws IOException {
    for (int i = 0; i < 2; i++) {
      workers.add(ScriptedWorker.start("Qwen/Qwen3.8-27B-FP8", Scripts.vllm()));
    }
    running.addAll(workers);
  }

  @AfterEach
  void stop() throws Exception {
    for (AutoCloseable part : running.reversed()) {
      part.close();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "helm/manifests/istio/envoy-filter.yaml",
        "helm/manifests/istio/virtual-service.yaml",
        "helm/manifests/envoy-gateway/policies.yaml",
        "helm/manifests/inference-pool/inference-pool.yaml",
        "helm/manifests/quickstart/simulated-workers.yaml",
        "helm/manifests/quickstart/models.yaml",
        "examples/quickstart/workers.yaml",
        "examples/quickstart/pool.yaml",
        "examples/quickstart/backend.yaml"
      })
  void example_is_valid_by_the_schemas_of_its_kinds(String example) throws IOException {
    String namespace = api.newNamespace();

    for (HasMetadata object : objects(Files.readString(ROOT.resolve(example)))) {
      object.getMetadata().setNamespace(namespace);
      await()
          .atMost(PATIENCE)
          .ignoreExceptionsMatching(IntegrationsE2E::isNotServedYet)
          .untilAsserted(() ->
              assertThat(api.admin().resource(object).dryRun().create().getKind())
                  .isEqualTo(object.getKind()));
    }
  }

  @Test
  void schemas_refuse_a_field_that_does_not_exist() throws IOException {
    String text = Files.readString(ROOT.resolve("helm/manifests/envoy-gateway/policies.yaml"));
    HasMetadata policy =
        objects(text.replace("FullDuplexStreamed", "Duplex")).stream()
            .filter(object -> object.getKind().equals("EnvoyExtensionPolicy"))
            .findFirst()
            .orElseThrow();
    policy.getMetadata().setNamespace(api.newNamespace());

    assertThatThrownBy(() -> api.admin().resource(policy).dryRun().create())
        .hasMessageContaining("Unsupported value: \"Duplex\"");
  }

  @Test
  void istio_gateway_sends_each_request_to_the_worker_that_the_processor_names()
      throws IOException, InterruptedException {
    IstioGateway istio = new IstioGateway();
    istio.service("vllm.models.svc.cluster.local", 8000, false, ports());
    istio.service("warmpath-ext-proc.models.svc.cluster.local", 9002, true, List.of(processorPort));
    istio.apply(document("helm/manifests/istio/envoy-filter.yaml"));
    istio.routes(document("helm/manifests/istio/virtual-service.yaml"));

    start(istio);

    assertThatChatsAreServed();
  }

  @Test
  void gateway_with_an_endpoint_picker_sends_each_request_to_the_worker_that_it_names()
      throws IOException, InterruptedException {
    // As Envoy Gateway and gateways with InferencePool write it: no rules for headers, the list of
    // endpoints in a header.
    IstioGateway other = new IstioGateway();
    other.service("vllm.models.svc.cluster.local", 8000, false, ports());
    other.service("warmpath-ext-proc.models.svc.cluster.local", 9002, true, List.of(processorPort));
    other.apply(
        Charts.documents(
                """
                spec:
                  configPatches:
                  - applyTo: HTTP_FILTER
                    patch:
                      operation: INSERT_BEFORE
                      value:
                        name: envoy.filters.http.ext_proc
                        typed_config:
                          "@type": type.googleapis.com/envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor
                          grpc_service: {envoy_grpc: {cluster_name: outbound|9002||warmpath-ext-proc.models.svc.cluster.local, authority: warmpath-ext-proc}}
                          message_timeout: 15s
                          processing_mode: {request_header_mode: SEND, request_body_mode: FULL_DUPLEX_STREAMED, request_trailer_mode: SEND, response_header_mode: SEND, response_body_mode: FULL_DUPLEX_STREAMED, response_trailer_mode: SEND}
                          metadata_options: {receiving_namespaces: {untyped: [envoy.lb]}}
                  - applyTo: CLUSTER
                    match: {cluster: {service: vllm.models.svc.cluster.local}}
                    patch:
                      operation: MERGE
                      value:
                        load_balancing_policy:
                          policies:
                          - typed_extension_config:
                              name: envoy.load_balancing_policies.override_host
                              typed_config:
                                "@type": type.googleapis.com/envoy.extensions.load_balancing_policies.override_host.v3.OverrideHost
                                override_host_sources: [{header: x-gateway-destination-endpoint}]
                                fallback_policy:
                                  policies:
                                  - typed_extension_config:
                                      name: envoy.load_balancing_policies.least_request
                                      typed_config: {"@type": type.googleapis.com/envoy.extensions.load_balancing_policies.least_request.v3.LeastRequest}
                """)
            .getFirst());
    // One route, as an HTTPRoute with one rule gives it.
    other.routes(
        Charts.documents(
                """
                spec:
                  http:
                  - route: [{destination: {host: vllm.models.svc.cluster.local, port: {number: 8000}}}]
                    headers: {request: {remove: [x-wp-cluster, x-wp-route]}}
                    retries: {attempts: 3}
                """)
            .getFirst());

    start(other);

    assertThatChatsAreServed();
  }

  private void assertThatChatsAreServed() throws IOException {
    WireResponse answer = WireClient.post(gateway, "/v1/chat/completions", CHAT);
    assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    assertThat(answer.text()).contains("chat.completion");
    ScriptedWorker first = busiest();
    // The same prompt again goes where its prefix is, however the client would have it.
    String other =
        "127.0.0.1:" + (first == workers.get(0) ? workers.get(1) : workers.get(0)).port();
    for (int i = 0; i < 5; i++) {
      WireResponse again =
          WireClient.post(
              gateway,
              "/v1/chat/completions",
              CHAT.replace("}]}", "}],\"stream\":true}").getBytes(UTF_8),
              List.of(
                  new Header("content-type", "application/json"),
                  new Header("x-gateway-destination-endpoint", other),
                  new Header("x-wp-cluster", "pool/models/other")));
      assertThat(again.status()).as(again.text()).isEqualTo(200);
      assertThat(again.text()).contains("data: [DONE]");
    }
    assertThat(first.received()).hasSize(6);
    assertThat(
            first.last().head().headers().stream()
                .map(header -> header.name().toLowerCase(Locale.ROOT)))
        .noneMatch(name -> name.startsWith("x-wp-"));
    // And without a worker of that name: nothing is sent anywhere.
    assertThat(
            WireClient.post(gateway, "/v1/chat/completions", CHAT.replace("qwen-27b", "none"))
                .status())
        .isEqualTo(404);
    assertThat(first.received()).hasSize(6);
  }

  private ScriptedWorker busiest() {
    return workers.stream()
        .filter(worker -> !worker.received().isEmpty())
        .findFirst()
        .orElseThrow();
  }

  private void start(IstioGateway istio) throws IOException, InterruptedException {
    Path config = Files.createDirectories(folder.resolve("config"));
    Files.writeString(
        config.resolve("all.yaml"),
        """
        apiVersion: inference.warmpath.dev/v1alpha1
        kind: InferenceWorkerSet
        metadata: {name: vllm, namespace: models}
        spec: {workers: {addresses: [{name: w0, address: 127.0.0.1, port: %d}, {name: w1, address: 127.0.0.1, port: %d}]}}
        ---
        apiVersion: inference.warmpath.dev/v1alpha1
        kind: InferencePool
        metadata: {name: qwen, namespace: models}
        spec: {model: Qwen/Qwen3.8-27B-FP8, workerSets: [{name: vllm}]}
        ---
        apiVersion: inference.warmpath.dev/v1alpha1
        kind: GatewayBackend
        metadata: {name: qwen, namespace: models}
        spec: {models: [qwen-27b], pool: {name: qwen}}
        """
            .formatted(ports().get(0), ports().get(1)));
    Path run = Files.createTempDirectory("wp");
    int admin = Ports.free();
    warmpath("xds-server", "--config", config.toString(), "--run-dir", run.toString());
    warmpath(
        "ext-proc",
        "--run-dir",
        run.toString(),
        "--listen",
        "127.0.0.1:" + processorPort,
        "--admin",
        "127.0.0.1:" + admin);
    Path bootstrap = folder.resolve("envoy.json");
    int envoyAdmin = Ports.free();
    Files.writeString(bootstrap, istio.bootstrap(gateway.getPort(), envoyAdmin));
    Warmpath.Result valid = Warmpath.run("envoy", "validate", bootstrap.toString());
    assertThat(valid.exit()).as(valid.output()).isZero();
    ManagedProcess envoy =
        ManagedProcess.start(
            "envoy",
            folder,
            Map.of(),
            List.of(
                Warmpath.envoy().toString(),
                "--disable-hot-restart",
                "--concurrency",
                "2",
                "-l",
                "warning",
                "-c",
                bootstrap.toString()));
    running.add(envoy);
    InetSocketAddress pages = new InetSocketAddress(InetAddress.getLoopbackAddress(), admin);
    await()
        .atMost(PATIENCE)
        .ignoreExceptions()
        .failFast("Envoy ended", () -> !envoy.isAlive())
        .until(() ->
            WireClient.get(pages, "/readyz").status() == 200
                && WireClient.get(gateway, "/v1/models").text().contains("qwen-27b"));
  }

  private void warmpath(String... arguments) throws IOException {
    running.add(
        ManagedProcess.start(
            arguments[0], folder, Warmpath.environment(), Warmpath.command(List.of(arguments))));
  }

  private List<Integer> ports() {
    return workers.stream().map(ScriptedWorker::port).toList();
  }

  private static Map<String, Object> document(String example) throws IOException {
    return Charts.documents(Files.readString(ROOT.resolve(example))).getFirst();
  }

  private static List<HasMetadata> objects(String text) {
    return api.admin().load(new ByteArrayInputStream(text.getBytes(UTF_8))).items();
  }

  /** A definition that was just made: 404, until the server serves it. */
  private static boolean isNotServedYet(Throwable failure) {
    return failure instanceof KubernetesClientException refused && refused.getCode() == 404;
  }
}
