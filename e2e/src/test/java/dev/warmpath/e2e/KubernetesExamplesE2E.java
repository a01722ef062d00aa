package dev.warmpath.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.warmpath.e2e.support.KubeNamespace;
import dev.warmpath.e2e.support.Repository;
import dev.warmpath.e2e.support.ScriptedWorker;
import dev.warmpath.e2e.support.Scripts;
import dev.warmpath.e2e.support.Stack;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The examples of all six kinds in one namespace, with the Pods, slices and Secrets they ask for.
 */
class KubernetesExamplesE2E {

  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Path EXAMPLES = Repository.root().resolve("crds/examples");

  private static KubeNamespace namespace;
  private static ScriptedWorker worker;
  private static Stack stack;

  /** What {@code kubectl get} would list: the example resources by kind and name. */
  private static final Map<String, String> RESOURCES = new TreeMap<>();

  @BeforeAll
  static void start(@TempDir Path folder) throws IOException, InterruptedException {
    namespace = KubeNamespace.create();
    worker = ScriptedWorker.start("qwen", KubeNamespace.address(), Scripts.vllm());
    String authorities = Files.readString(namespace.api().certificate());
    namespace
        .secret("openai", "api-key", "sk-1")
        .secret("aws", "id", "a")
        .secret("aws", "secret", "b")
        .secret("team-a-keys", "primary", "key-1")
        .secret("team-a-keys", "next", "key-2")
        .secret("partner", "api-key", "sk-2")
        .secret("partner", "ca.pem", authorities);
    pod();
    namespace.endpoint("vllm-h100", "h100-0", worker);
    try (Stream<Path> files = Files.list(EXAMPLES)) {
      for (Path file : files.filter(path -> path.toString().endsWith(".yaml")).toList()) {
        String text = Files.readString(file);
        namespace.apply(text);
        for (HasMetadata object : namespace.read(text)) {
          RESOURCES.put(object.getKind() + " " + object.getMetadata().getName(), "");
        }
      }
    }
    Path account =
        namespace.controlPlaneAccount(
            folder, namespace.api().address(), "openai", "aws", "team-a-keys", "partner");
    stack = Stack.onKubernetes(folder, namespace.name(), account);
  }

  @AfterAll
  static void stop() throws IOException {
    stack.close();
    worker.close();
    RESOURCES.clear();
  }

  /** A ready Pod as the scheduler and a kubelet would leave it. */
  private static void pod() {
    Pod pod =
        new PodBuilder()
            .withNewMetadata()
            .withName("l40s-0")
            .withNamespace(namespace.name())
            .withLabels(Map.of("app", "vllm", "gpu", "l40s"))
            .endMetadata()
            .withNewSpec()
            .addNewContainer()
            .withName("vllm")
            .withImage("vllm/vllm-openai")
            .endContainer()
            .endSpec()
            .build();
    namespace.client().resource(pod).create();
    namespace
        .client()
        .pods()
        .inNamespace(namespace.name())
        .withName("l40s-0")
        .editStatus(created ->
            new PodBuilder(created)
                .editOrNewStatus()
                .withPhase("Running")
                .withPodIP("10.0.0.1")
                .addNewPodIP("10.0.0.1")
                .addNewCondition()
                .withType("Ready")
                .withStatus("True")
                .endCondition()
                .endStatus()
                .build());
  }

  private static String ready(String resource) {
    String[] kindAndName = resource.split(" ", 2);
    return namespace.condition(kindAndName[0], kindAndName[1], "Ready");
  }

  @Test
  void every_kind_reaches_its_good_conditions() {
    await("conditions")
        .atMost(PATIENCE)
        .untilAsserted(() -> {
          RESOURCES.replaceAll((resource, before) -> ready(resource));
          Map<String, String> expected = new TreeMap<>(RESOURCES);
          expected.replaceAll((resource, found) -> found.startsWith("True") ? found : "True");
          // The signatures that Bedrock asks for are not made yet, and the status says so.
          expected.put("InferenceProvider bedrock", "False NotAccepted: see Accepted");
          expected.put("GatewayBackend claude", "False RefsNotResolved: see ResolvedRefs");
          assertThat(RESOURCES).containsExactlyInAnyOrderEntriesOf(expected);
        });

    assertThat(RESOURCES)
        .containsEntry("InferenceWorkerSet l40s", "True Ready: 1 of 1 workers")
        .containsEntry("InferenceWorkerSet h100", "True Ready: 1 of 1 workers");
    assertThat(namespace.condition("InferenceProvider", "bedrock", "Accepted"))
        .startsWith("False NotSupported: spec.credentials.secret: ");
    Map<String, Object> pool = namespace.get("InferencePool", "qwen").get("status");
    assertThat(pool).containsKeys("workers", "ready", "observedGeneration");
    Map<String, Object> backend = namespace.get("GatewayBackend", "qwen-local").get("status");
    assertThat(backend).containsEntry("models", 2).containsEntry("target", "pool/qwen");
    Map<String, Object> tenant = namespace.get("InferenceTenant", "team-a").get("status");
    assertThat(tenant).containsEntry("keys", 2);
    Map<String, Object> policy =
        namespace.get("InferencePolicy", "team-a-first-local").get("status");
    assertThat(policy).containsEntry("generationInForce", 1);
  }

  @Test
  void an_operator_takes_the_only_worker_out_and_puts_it_back() {
    String set = "InferenceWorkerSet l40s";
    await("ready").atMost(PATIENCE).until(() -> ready(set).startsWith("True"));

    annotate("true");

    await("drained")
        .atMost(PATIENCE)
        .until(() -> ready(set).equals("False NoReadyWorkers: none of 1 workers is ready"));
    await("an Event")
        .atMost(PATIENCE)
        .until(() ->
            namespace
                .events("InferenceWorkerSet", "l40s")
                .contains("Warning NoReadyWorkers: none of 1 workers is ready"));
    annotate("false");
    await("ready again").atMost(PATIENCE).until(() -> ready(set).startsWith("True"));
  }

  private static void annotate(String drain) {
    namespace
        .client()
        .pods()
        .inNamespace(namespace.name())
        .withName("l40s-0")
        .edit(pod ->
            new PodBuilder(pod)
                .editMetadata()
                .addToAnnotations("inference.warmpath.dev/drain", drain)
                .endMetadata()
                .build());
  }
}
