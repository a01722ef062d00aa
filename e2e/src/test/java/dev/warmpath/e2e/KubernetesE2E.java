package dev.warmpath.e2e;

import static dev.warmpath.e2e.support.StreamLoad.body;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.warmpath.e2e.support.Header;
import dev.warmpath.e2e.support.KubeNamespace;
import dev.warmpath.e2e.support.ScriptedWorker;
import dev.warmpath.e2e.support.SlowStream;
import dev.warmpath.e2e.support.Stack;
import dev.warmpath.e2e.support.StreamLoad;
import dev.warmpath.e2e.support.TcpSwitch;
import dev.warmpath.e2e.support.WireClient;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The gateway on an API server: the workers are the endpoints of a Service, the control plane has a
 * service account with no more rights than it needs, and the API server comes and goes.
 */
class KubernetesE2E {

  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int STREAMS = 20;

  /** The promise: a change takes effect within that time. */
  private static final Duration PROMPTLY = Duration.ofSeconds(1);

  /** On a machine that runs other tests, one prompt change in a few shows that it can be kept. */
  private static final int ATTEMPTS = 5;

  /** The promise: so long after its return nothing of an outage is left. */
  private static final Duration CONVERGENCE = Duration.ofSeconds(10);

  /** The promise: a refusal by Envoy is on the object within that time. */
  private static final Duration REFUSAL = Duration.ofSeconds(2);

  /**
   * The pause between two tries to watch doubles from 0.1 s to 3.2 s, its longest, in 7 s, and the
   * leader has given up after 10 s. From then on a longer outage is the same again.
   */
  private static final Duration OUTAGE =
      Duration.ofSeconds(Integer.getInteger("kube.outage.seconds", 15));

  private static final String KEYS = "team-keys";
  private static final String PROVIDER = "provider-keys";

  private static KubeNamespace namespace;

  /** Between the control plane and the API server. */
  private static TcpSwitch link;

  private static ScriptedWorker first;
  private static ScriptedWorker second;
  private static Stack stack;
  private static InetSocketAddress gateway;

  @BeforeAll
  static void start(@TempDir Path folder) throws IOException, InterruptedException {
    namespace = KubeNamespace.create();
    first = ScriptedWorker.start("tiny", KubeNamespace.address(), SlowStream.brief());
    second = ScriptedWorker.start("tiny", KubeNamespace.address(), SlowStream.brief());
    namespace.endpoint("tiny", "first", first);
    namespace.served("tiny", "tiny");
    link = new TcpSwitch(namespace.api().address());
    Path account = namespace.controlPlaneAccount(folder, link.address(), KEYS, PROVIDER);
    stack = Stack.onKubernetes(folder, namespace.name(), account);
    gateway = stack.gateway();
    await("served").atMost(PATIENCE).until(() -> status(body(0)) == 200);
  }

  @AfterAll
  static void stop() throws IOException {
    stack.close();
    link.close();
    first.close();
    second.close();
  }

  private static int status(String body, Header... headers) throws IOException {
    return WireClient.post(gateway, "/v1/chat/completions", body.getBytes(UTF_8), List.of(headers))
        .status();
  }

  /** Waits for the effect of a change, and says how long it took. */
  private static Duration effect(String what, Runnable change, Callable<Boolean> seen) {
    long changed = System.nanoTime();
    change.run();
    await(what).atMost(PATIENCE).pollInterval(Duration.ofMillis(10)).until(seen);
    return Duration.ofNanos(System.nanoTime() - changed);
  }

  private static void assertPrompt(String what, List<Duration> seen) {
    assertThat(seen.stream().anyMatch(time -> time.compareTo(PROMPTLY) <= 0))
        .as("%s within %s; seen: %s", what, PROMPTLY, seen)
        .isTrue();
  }

  private static void assertNoneFailed(StreamLoad load) throws InterruptedException {
    load.finish();
    assertThat(load.failures().stream().limit(5)).isEmpty();
    assertThat(load.completed()).isGreaterThanOrEqualTo(STREAMS);
  }

  private static void awaitMoreTraffic(StreamLoad load) {
    int before = load.completed();
    await("traffic goes on").atMost(PATIENCE).until(() -> load.completed() > before + STREAMS);
  }

  @Test
  void a_worker_comes_and_goes_under_load() throws Exception {
    List<Duration> arrivals = new ArrayList<>();
    try (StreamLoad load = StreamLoad.start(gateway, STREAMS, StreamLoad::body)) {
      for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        second.forget();
        arrivals.add(
            effect(
                "traffic at the new endpoint",
                () -> namespace.endpoint("tiny", "second", second),
                () -> !second.received().isEmpty()));
        awaitMoreTraffic(load);
        namespace.endingEndpoint("tiny", "second", second);
        await("no new traffic at the endpoint that ends")
            .atMost(PATIENCE)
            .until(() -> hasFallenSilent(second, load));
        namespace.removeEndpoint("second");
        if (arrivals.getLast().compareTo(PROMPTLY) <= 0) {
          break;
        }
      }
      assertNoneFailed(load);
    }
    assertPrompt("a new endpoint", arrivals);
  }

  private static boolean hasFallenSilent(ScriptedWorker worker, StreamLoad load) {
    int before = worker.received().size();
    awaitMoreTraffic(load);
    return worker.received().size() == before;
  }

  @Test
  void an_edited_policy_takes_effect_under_load() throws Exception {
    // A change of a policy for whole answers; the load asks for streams.
    String probe = body(0).replace("\"stream\":true,", "");
    List<Duration> times = new ArrayList<>();
    try (StreamLoad load = StreamLoad.start(gateway, STREAMS, StreamLoad::body)) {
      for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        times.add(effect("the policy shuts out", () -> policy("true"), () -> status(probe) == 503));
        times.add(
            effect("the edited one lets in", () -> policy("false"), () -> status(probe) == 200));
        if (areBothPrompt(times)) {
          break;
        }
      }
      assertNoneFailed(load);
    } finally {
      namespace.delete("InferencePolicy", "shut");
    }
    assertThat(areBothPrompt(times)).as("within %s; seen: %s", PROMPTLY, times).isTrue();
  }

  private static boolean areBothPrompt(List<Duration> times) {
    return times.stream().skip(times.size() - 2).allMatch(time -> time.compareTo(PROMPTLY) <= 0);
  }

  private static void policy(String exclude) {
    namespace.apply(
        """
        apiVersion: inference.warmpath.dev/v1alpha1
        kind: InferencePolicy
        metadata: {name: shut}
        spec:
          match: {condition: "!request.stream"}
          constraints:
          - {name: shut, when: "true", exclude: "%s", message: shut for the test}
        """
            .formatted(exclude));
  }

  @Test
  void a_rotated_key_takes_effect_under_load() throws Exception {
    namespace.secret(KEYS, "constant", "key-of-the-load");
    namespace.secret(KEYS, "rotated", "key-0");
    namespace.apply(
        """
        apiVersion: inference.warmpath.dev/v1alpha1
        kind: InferenceTenant
        metadata: {name: team}
        spec:
          apiKeys:
          - {secret: {name: team-keys, key: constant}}
          - {secret: {name: team-keys, key: rotated}}
          models: {allow: ["*"]}
        """);
    await("the gateway is closed to strangers")
        .atMost(PATIENCE)
        .until(() -> status(body(0)) == 401 && status(body(0), bearer("key-0")) == 200);
    List<Duration> times = new ArrayList<>();
    try (StreamLoad load =
        StreamLoad.start(gateway, STREAMS, StreamLoad::body, bearer("key-of-the-load"))) {
      for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
        String old = "key-" + (attempt - 1);
        String next = "key-" + attempt;
        times.add(
            effect(
                "the new key is good",
                () -> namespace.secret(KEYS, "rotated", next),
                () -> status(body(0), bearer(next)) == 200));
        assertThat(status(body(0), bearer(old))).as("the old key").isEqualTo(401);
        if (times.getLast().compareTo(PROMPTLY) <= 0) {
          break;
        }
      }
      assertNoneFailed(load);
    } finally {
      namespace.delete("InferenceTenant", "team");
    }
    await("open again").atMost(PATIENCE).until(() -> status(body(0)) == 200);
    assertPrompt("a rotated key", times);
  }

  private static Header bearer(String key) {
    return new Header("authorization", "Bearer " + key);
  }

  @Test
  void the_control_plane_may_not_list_secrets() throws Exception {
    try (KubernetesClient account =
        namespace.api().client(namespace.api().tokenOf(namespace.name(), "warmpath-xds"))) {
      assertThatThrownBy(() -> account.secrets().inNamespace(namespace.name()).list())
          .isInstanceOfSatisfying(
              KubernetesClientException.class,
              refused -> assertThat(refused.getCode()).isEqualTo(403));
    }
  }

  // The API server fails

  @Test
  void traffic_outlives_the_api_server_and_later_changes_arrive() throws Exception {
    try (StreamLoad load = StreamLoad.start(gateway, STREAMS, StreamLoad::body)) {
      namespace.api().kill();
      long killed = System.nanoTime();
      await("the outage is over")
          .atMost(OUTAGE.plus(PATIENCE))
          .until(() -> since(killed).compareTo(OUTAGE) > 0);
      awaitMoreTraffic(load);
      namespace.api().restart();
      second.forget();

      Duration converged =
          effect(
              "traffic at the new endpoint",
              () -> namespace.endpoint("tiny", "second", second),
              () -> !second.received().isEmpty());

      assertThat(converged).isLessThan(CONVERGENCE);
      assertNoneFailed(load);
    } finally {
      namespace.removeEndpoint("second");
    }
  }

  @Test
  void what_was_deleted_while_the_watch_was_away_is_noticed_though_its_past_is_forgotten()
      throws Exception {
    namespace.endpoint("gone", "gone", second);
    namespace.served("gone", "gone");
    namespace.endpoint("tiny", "stale", second);
    String gone = body(1).replace("\"tiny\"", "\"gone\"");
    await("the other pool serves")
        .atMost(PATIENCE)
        .until(() -> status(gone) == 200 && workers("tiny") == 2);
    String seen = namespace.get("InferencePool", "gone").getMetadata().getResourceVersion();
    try (StreamLoad load = StreamLoad.start(gateway, STREAMS, StreamLoad::body)) {
      link.open(false);
      for (String kind : List.of("GatewayBackend", "InferencePool", "InferenceWorkerSet")) {
        namespace.delete(kind, "gone");
      }
      namespace.removeEndpoint("gone");
      namespace.removeEndpoint("stale");
      namespace.api().compact();
      namespace.api().kill();
      namespace.api().restart();
      await("the past is forgotten")
          .atMost(PATIENCE)
          .until(() -> watch(seen).contains("\"code\":410"));
      awaitMoreTraffic(load);

      Duration converged =
          effect("the deletions are noticed", () -> link.open(true), () -> status(gone) == 404);

      assertThat(converged).isLessThan(CONVERGENCE);
      // After the configuration comes the status: its writer has to be elected again.
      await("the status knows of one worker")
          .atMost(PATIENCE)
          .until(() ->
              namespace
                  .condition("InferencePool", "tiny", "Ready")
                  .equals("True Ready: 1 of 1 workers"));
      await("no zombie cluster in Envoy")
          .atMost(PATIENCE)
          .until(() -> !stack.envoyClusters().contains("/gone"));
      await("no stale worker either").atMost(PATIENCE).until(() -> workers("tiny") == 1);
      assertNoneFailed(load);
    }
  }

  @Test
  void a_watch_that_breaks_off_in_the_middle_of_changes_loses_none() throws Exception {
    try (StreamLoad load = StreamLoad.start(gateway, STREAMS, StreamLoad::body)) {
      for (int round = 0; round < 5; round++) {
        namespace.endpoint("tiny", "second", second);
        link.breakOff();
        await("both workers").atMost(CONVERGENCE.plus(PATIENCE)).until(() -> workers("tiny") == 2);
        namespace.removeEndpoint("second");
        link.breakOff();
        await("one worker").atMost(CONVERGENCE.plus(PATIENCE)).until(() -> workers("tiny") == 1);
      }
      assertNoneFailed(load);
    }
  }

  /** What a watch of the pools from that version is answered. */
  private static String watch(String resourceVersion) throws IOException, InterruptedException {
    return namespace
        .api()
        .watch(
            "inference.warmpath.dev/v1alpha1/namespaces/%s/inferencepools"
                .formatted(namespace.name()),
            resourceVersion);
  }

  /** Endpoints of a pool in Envoy, each address once. */
  private static long workers(String pool) throws IOException {
    String prefix = "pool/" + namespace.name() + "/" + pool + "::";
    return stack
        .envoyClusters()
        .lines()
        .filter(line -> line.startsWith(prefix) && line.contains("::health_flags::"))
        .count();
  }

  private static Duration since(long nanoTime) {
    return Duration.ofNanos(System.nanoTime() - nanoTime);
  }

  // Status

  @Test
  void a_broken_policy_names_its_fault_and_the_last_good_version_stays_in_force() throws Exception {
    String probe = body(0).replace("\"stream\":true,", "");
    policy("true");
    await("in force").atMost(PATIENCE).until(() -> status(probe) == 503);
    await("status").atMost(PATIENCE).until(() -> condition("shut", "Ready").startsWith("True"));
    try {
      long changed = System.nanoTime();
      policy("backend.nothing == 1");
      await("the fault is shown")
          .atMost(PATIENCE)
          .pollInterval(Duration.ofMillis(50))
          .untilAsserted(() ->
              assertThat(condition("shut", "Accepted"))
                  .startsWith("False InvalidExpression: spec.constraints[0].exclude: ")
                  .contains("nothing", "generation 1 stays in force"));
      assertThat(since(changed)).as("time to the status").isLessThan(CONVERGENCE);
      assertThat(condition("shut", "Programmed"))
          .isEqualTo("False LastGoodInForce: generation 1: 1 of 1 gateways");
      assertThat(condition("shut", "Ready")).startsWith("False NotAccepted");
      assertThat(status(probe)).as("the last good version").isEqualTo(503);
      assertThat(status(body(0))).as("all others").isEqualTo(200);
      assertThat(namespace.condition("InferencePool", "tiny", "Ready"))
          .isEqualTo("True Ready: 1 of 1 workers");
      await("an Event")
          .atMost(PATIENCE)
          .untilAsserted(() ->
              assertThat(namespace.events("InferencePolicy", "shut"))
                  .singleElement()
                  .asString()
                  .startsWith("Warning InvalidExpression: spec.constraints[0].exclude"));

      policy("false");
      await("put right")
          .atMost(PATIENCE)
          .until(() -> condition("shut", "Ready").startsWith("True"));
      await("and told")
          .atMost(PATIENCE)
          .untilAsserted(() ->
              assertThat(namespace.events("InferencePolicy", "shut"))
                  .contains("Normal Accepted: solved: was InvalidExpression"));
    } finally {
      namespace.delete("InferencePolicy", "shut");
    }
  }

  private static String condition(String policy, String type) {
    return namespace.condition("InferencePolicy", policy, type);
  }

  @Test
  void what_envoy_refuses_shows_on_the_resource_that_caused_it() throws Exception {
    namespace.secret(PROVIDER, "key", "sk-1");
    namespace.secret(PROVIDER, "ca", "this is no certificate");
    List<Duration> times = new ArrayList<>();
    try {
      for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        times.add(
            effect(
                "the refusal is shown",
                () ->
                    namespace.apply(
                        """
                        apiVersion: inference.warmpath.dev/v1alpha1
                        kind: InferenceProvider
                        metadata: {name: broken}
                        spec:
                          type: OpenAI
                          endpoint: https://llm.example.com
                          credentials: {apiKey: {secret: {name: provider-keys, key: key}}}
                          tls: {caBundle: {secret: {name: provider-keys, key: ca}}}
                        """),
                () ->
                    namespace
                        .condition("InferenceProvider", "broken", "Programmed")
                        .startsWith("False Refused: generation 1: 0 of 1 gateways; refused by")));
        if (times.getLast().compareTo(REFUSAL) <= 0) {
          break;
        }
        namespace.delete("InferenceProvider", "broken");
        await("gone").atMost(PATIENCE).until(() -> !stack.envoyClusters().contains("/broken"));
      }
      assertThat(times.getLast()).as("seen: %s", times).isLessThanOrEqualTo(REFUSAL);
      await("an Event")
          .atMost(PATIENCE)
          .untilAsserted(() ->
              assertThat(namespace.events("InferenceProvider", "broken"))
                  .anyMatch(event -> event.startsWith("Warning Refused: ")));
      assertThat(status(body(0))).isEqualTo(200);
      await("all others are as they were")
          .atMost(PATIENCE)
          .until(
              () -> namespace.condition("InferencePool", "tiny", "Programmed").startsWith("True"));
    } finally {
      namespace.delete("InferenceProvider", "broken");
    }
  }
}
