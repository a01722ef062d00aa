package dev.warmpath.e2e;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.warmpath.e2e.support.Charts;
import dev.warmpath.e2e.support.Header;
import dev.warmpath.e2e.support.KubeApi;
import dev.warmpath.e2e.support.ManagedProcess;
import dev.warmpath.e2e.support.Ports;
import dev.warmpath.e2e.support.RenderedPod;
import dev.warmpath.e2e.support.ScriptedWorker;
import dev.warmpath.e2e.support.Scripts;
import dev.warmpath.e2e.support.Warmpath;
import dev.warmpath.e2e.support.WireClient;
import dev.warmpath.e2e.support.WireResponse;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What the chart installs, run: the containers' own arguments, certificates and ServiceAccount,
 * against the API server that holds them.
 */
class ChartE2E {

  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final String KEY = "key-of-team-a-0123456789";
  private static final String CHAT =
      "{\"model\":\"qwen\",\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]}";
  private static final String TEAM_KEYS = "team-keys";
  private static final String FOREIGN_SECRET = "not-for-warmpath";

  @TempDir Path folder;

  private final List<AutoCloseable> running = new ArrayList<>();
  private final int xds = Ports.free();
  private final int processorPages = Ports.free();
  private final InetSocketAddress gateway = loopback(Ports.free());
  private KubeApi api;
  private String namespace;

  @BeforeEach
  void makeNamespace() throws IOException, InterruptedException {
    api = KubeApi.withCrds();
    namespace = api.newNamespace();
  }

  @AfterEach
  void stop() throws Exception {
    for (AutoCloseable part : running.reversed()) {
      part.close();
    }
  }

  @Test
  void installed_pods_serve_chats_with_the_chart_s_rights_and_certificates_and_drain_at_the_end()
      throws Exception {
    ScriptedWorker worker = ScriptedWorker.start("qwen-served", Scripts.vllm());
    running.add(worker);
    writeResources(worker.port());
    Warmpath.Result installed =
        api.helm(
            "install",
            "warmpath",
            Charts.folder("warmpath").toString(),
            "--namespace=" + namespace,
            "--set=secretNames={" + TEAM_KEYS + "}",
            "--set=gateway.drain.settleSeconds=1");
    assertThat(installed.exit()).as(installed.output()).isZero();

    ManagedProcess controlPlane = startControlPlane();
    RenderedPod pod = startGateway();

    assertThat(chat(KEY).text()).contains("chat.completion");
    assertThat(chat("another-key-0123456789").status()).isEqualTo(401);
    assertThatStatusIsWritten();
    assertThat(controlPlane.log()).doesNotContainIgnoringCase("forbidden");
    assertThatRightsAreMinimal();

    Warmpath.Result drained = Warmpath.run(pod.preStop("ext-proc").toArray(String[]::new));
    assertThat(drained.exit()).as(drained.output()).isZero();
    assertThat(pod.folderOf("/run/warmpath").resolve("drained")).exists();
    assertThatThrownBy(() -> new Socket(gateway.getAddress(), gateway.getPort()).close())
        .isInstanceOf(ConnectException.class);
  }

  /** Everything that the control plane may read is named by a resource: Pods, slices, a Secret. */
  private void writeResources(int workerPort) {
    for (Map.Entry<String, String> secret :
        Map.of(TEAM_KEYS, KEY, FOREIGN_SECRET, "private").entrySet()) {
      api.admin()
          .resource(
              new SecretBuilder()
                  .withNewMetadata()
                  .withName(secret.getKey())
                  .withNamespace(namespace)
                  .endMetadata()
                  .addToStringData("primary", secret.getValue())
                  .build())
          .create();
    }
    String resources =
        """
        apiVersion: inference.warmpath.dev/v1alpha1
        kind: InferenceWorkerSet
        metadata: {name: listed}
        spec: {workers: {addresses: [{name: w0, address: 127.0.0.1, port: %d}]}}
        ---
        apiVersion: inference.warmpath.dev/v1alpha1
        kind: InferenceWorkerSet
        metadata: {name: by-selector}
        spec: {workers: {podSelector: {matchLabels: {app: vllm}, port: 8000}}}
        ---
        apiVersion: inference.warmpath.dev/v1alpha1
        kind: InferenceWorkerSet
        metadata: {name: by-service}
        spec: {workers: {service: {name: vllm, port: 8000}}}
        ---
        apiVersion: inference.warmpath.dev/v1alpha1
        kind: InferencePool
        metadata: {name: qwen}
        spec: {model: qwen-served, workerSets: [{name: listed}, {name: by-selector}, {name: by-service}]}
        ---
        apiVersion: inference.warmpath.dev/v1alpha1
        kind: GatewayBackend
        metadata: {name: qwen}
        spec: {models: [qwen], pool: {name: qwen}}
        ---
        apiVersion: inference.warmpath.dev/v1alpha1
        kind: InferenceTenant
        metadata: {name: team-a}
        spec: {apiKeys: [{secret: {name: team-keys, key: primary}}]}
        """
            .formatted(workerPort);
    for (HasMetadata object :
        api.admin().load(new ByteArrayInputStream(resources.getBytes(UTF_8))).items()) {
      object.getMetadata().setNamespace(namespace);
      api.admin().resource(object).create();
    }
  }

  private ManagedProcess startControlPlane() throws IOException {
    RenderedPod pod =
        new RenderedPod(
            api.admin(), namespace, "warmpath-xds", Files.createDirectories(folder.resolve("xds")));
    pod.replace("0.0.0.0:18000", "127.0.0.1:" + xds);
    pod.replace("0.0.0.0:9903", "127.0.0.1:0");
    Path kubeconfig = folder.resolve("kubeconfig");
    String token = api.tokenOf(namespace, pod.serviceAccount());
    Files.writeString(
        kubeconfig,
        Files.readString(api.kubeconfig())
            .replaceFirst("token: \"[^\"]*\"", "token: \"" + token + "\""));
    Map<String, String> environment = new HashMap<>(Warmpath.environment());
    environment.put("KUBECONFIG", kubeconfig.toString());
    environment.put("POD_NAME", pod.name());
    environment.put("POD_NAMESPACE", namespace);
    ManagedProcess process =
        ManagedProcess.start(
            "xds-server", folder, environment, Warmpath.command(pod.arguments("xds-server")));
    running.add(process);
    return process;
  }

  private RenderedPod startGateway() throws IOException, InterruptedException {
    Path pods = Files.createTempDirectory("wp");
    RenderedPod pod = new RenderedPod(api.admin(), namespace, "warmpath-gateway", pods);
    String host = "warmpath-xds." + namespace + ".svc";
    // The name that the certificate is checked against stays what it is.
    pod.replace(
        "--xds=" + host + ":18000", "--xds=127.0.0.1:" + xds + "\n--xds-server-name=" + host);
    pod.replace("0.0.0.0:8080", "127.0.0.1:" + gateway.getPort());
    pod.replace("0.0.0.0:9902", "127.0.0.1:" + Ports.free());
    pod.replace("0.0.0.0:9901", "127.0.0.1:" + processorPages);
    Warmpath.Result rendered = Warmpath.run(pod.arguments("bootstrap").toArray(String[]::new));
    assertThat(rendered.exit()).as(rendered.output()).isZero();
    ManagedProcess processor =
        ManagedProcess.start(
            "ext-proc",
            folder,
            Warmpath.environment(),
            Warmpath.command(pod.arguments("ext-proc")));
    running.add(processor);
    List<String> envoy = new ArrayList<>(List.of(Warmpath.envoy().toString()));
    envoy.addAll(pod.arguments("envoy"));
    ManagedProcess proxy = ManagedProcess.start("envoy", folder, Map.of(), envoy);
    running.add(proxy);
    try {
      await()
          .atMost(PATIENCE)
          .ignoreExceptions()
          .failFast("Envoy or the processor ended", () -> !proxy.isAlive() || !processor.isAlive())
          .until(() ->
              WireClient.get(loopback(processorPages), "/readyz").status() == 200
                  && WireClient.get(gateway, "/health").status() == 200
                  && chat(KEY).status() == 200);
    } catch (RuntimeException | Error notReady) {
      StringBuilder logs = new StringBuilder();
      running.stream()
          .filter(ManagedProcess.class::isInstance)
          .map(ManagedProcess.class::cast)
          .forEach(process -> logs.append(process.tail()).append('\n'));
      throw new AssertionError(logs.toString(), notReady);
    }
    return pod;
  }

  private WireResponse chat(String key) throws IOException {
    return WireClient.post(
        gateway,
        "/v1/chat/completions",
        CHAT.getBytes(UTF_8),
        List.of(
            new Header("content-type", "application/json"),
            new Header("authorization", "Bearer " + key)));
  }

  private void assertThatStatusIsWritten() {
    await()
        .atMost(PATIENCE)
        .untilAsserted(() ->
            assertThat(
                    api.admin()
                        .genericKubernetesResources(
                            "inference.warmpath.dev/v1alpha1", "InferencePool")
                        .inNamespace(namespace)
                        .withName("qwen")
                        .get()
                        .getAdditionalProperties()
                        .toString())
                .contains("type=Programmed"));
    assertThat(
            api.admin()
                .leases()
                .inNamespace(namespace)
                .withName("warmpath-xds")
                .get()
                .getSpec()
                .getHolderIdentity())
        .startsWith("warmpath-xds-0-");
  }

  private void assertThatRightsAreMinimal() {
    try (KubernetesClient robot = api.client(api.tokenOf(namespace, "warmpath-xds"))) {
      var secrets = robot.secrets().inNamespace(namespace);
      assertThat(secrets.withName(TEAM_KEYS).get().getData()).containsKey("primary");
      assertForbidden(() -> secrets.withName(FOREIGN_SECRET).get());
      assertForbidden(secrets::list);
      assertForbidden(() -> robot.secrets().inAnyNamespace().list());
      assertForbidden(() -> robot.pods().inAnyNamespace().list());
      assertForbidden(() -> robot.configMaps().inNamespace(namespace).list());
      assertForbidden(
          () -> robot.apps().deployments().inNamespace(namespace).withName("warmpath-xds").get());
      assertForbidden(() ->
          robot
              .genericKubernetesResources("inference.warmpath.dev/v1alpha1", "InferencePool")
              .inNamespace(namespace)
              .withName("qwen")
              .delete());
    }
    try (KubernetesClient pod = api.client(api.tokenOf(namespace, "warmpath-gateway"))) {
      assertForbidden(() -> pod.pods().inNamespace(namespace).list());
      assertForbidden(() -> pod.secrets().inNamespace(namespace).withName(TEAM_KEYS).get());
    }
  }

  private static void assertForbidden(org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            KubernetesClientException.class,
            refused -> assertThat(refused.getCode()).isEqualTo(403));
  }

  private static InetSocketAddress loopback(int port) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }
}
