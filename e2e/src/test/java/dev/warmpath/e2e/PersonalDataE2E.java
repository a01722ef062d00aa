package dev.warmpath.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.warmpath.e2e.support.ConfigFolder;
import dev.warmpath.e2e.support.Errors;
import dev.warmpath.e2e.support.PromptCarriers;
import dev.warmpath.e2e.support.PromptCarriers.Carrier;
import dev.warmpath.e2e.support.ScriptedWorker;
import dev.warmpath.e2e.support.Scripts;
import dev.warmpath.e2e.support.Stack;
import dev.warmpath.e2e.support.WireClient;
import dev.warmpath.e2e.support.WireResponse;
import dev.warmpath.simulator.ReceivedRequest;
import dev.warmpath.simulator.Simulator;
import dev.warmpath.simulator.SimulatorOptions;
import dev.warmpath.simulator.TlsIdentity;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Nothing whose label is present or unknown reaches a provider's socket: every carrier of text in
 * every dialect, streamed or not, while workers fail in every way. The provider is a look-alike
 * behind TLS that keeps what it received; the same requests without personal data have to reach it,
 * which shows that the way was open.
 */
class PersonalDataE2E {

  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final String PERSONAL = "card 4111 1111 1111 1111 please";
  private static final String PLAIN = "nothing of anybody";

  /** Longer than what is scanned, so that the rest is unknown. */
  private static final int CUT_CHARS = (2 << 20) + 1000;

  private static final int QUEUED_LIMIT = 1;

  private static ScriptedWorker first;
  private static ScriptedWorker second;
  private static ScriptedWorker screen;
  private static Simulator provider;
  private static Stack stack;
  private static InetSocketAddress gateway;

  @BeforeAll
  static void start(@TempDir Path folder) throws Exception {
    first = ScriptedWorker.start("served", Scripts.vllm());
    second = ScriptedWorker.start("served", Scripts.vllm());
    screen = ScriptedWorker.start("screen", verdict("absent"));
    TlsIdentity identity = TlsIdentity.create();
    provider =
        Simulator.start(
            SimulatorOptions.defaults()
                .withProfile("instant")
                .withModel("theirs")
                .withRecording(SimulatorOptions.Recording.BODY)
                .withTls(identity));
    ConfigFolder config =
        new ConfigFolder(folder.resolve("config"))
            .workerSet(
                "w",
                List.of(
                    new ConfigFolder.Worker("w0", first.port()),
                    new ConfigFolder.Worker("w1", second.port())))
            .pool("served", "served", "w")
            .poolBackend("local", "served", "pii", "screened")
            .write("secrets/cloud/key", "sk-cloud")
            .write("secrets/cloud/ca", identity.authorityPem())
            .providerBackend("cloud", "cloud", "theirs", "pii", "screened", "waiting")
            .providerBackend(
                "cloud-messages", "cloud-messages", "theirs", "pii", "screened", "waiting")
            .write("policies.yaml", policies(provider.uri().toString()))
            // One queued prompt fills a worker of this pool.
            .write(
                "narrow.yaml",
                """
                apiVersion: inference.warmpath.dev/v1alpha1
                kind: InferencePool
                metadata: {name: narrow}
                spec: {model: served, workerSets: [{name: w}], limits: {maxQueuedPromptsPerWorker: %d}}
                ---
                apiVersion: inference.warmpath.dev/v1alpha1
                kind: GatewayBackend
                metadata: {name: narrow}
                spec: {models: [waiting], pool: {name: narrow}}
                """
                    .formatted(QUEUED_LIMIT));
    stack =
        Stack.run(
            folder,
            config,
            "--label-webhook",
            "screen=http://127.0.0.1:" + screen.port() + "/screen deadline=2s");
    gateway = stack.gateway();
  }

  private static String policies(String endpoint) {
    return """
    apiVersion: inference.warmpath.dev/v1alpha1
    kind: InferenceProvider
    metadata: {name: cloud}
    spec:
      type: OpenAICompatible
      endpoint: %1$s
      credentials: {apiKey: {secret: {name: cloud, key: key}}}
      tls: {caBundle: {secret: {name: cloud, key: ca}}}
    ---
    # The same for requests of Anthropic's API, as a provider gets only what it speaks.
    apiVersion: inference.warmpath.dev/v1alpha1
    kind: InferenceProvider
    metadata: {name: cloud-messages}
    spec:
      type: Anthropic
      endpoint: %1$s
      credentials: {apiKey: {secret: {name: cloud, key: key}}}
      tls: {caBundle: {secret: {name: cloud, key: ca}}}
    ---
    apiVersion: inference.warmpath.dev/v1alpha1
    kind: InferencePolicy
    metadata: {name: pii-stays}
    spec:
      priority: 900
      match: {models: [pii, waiting]}
      constraints:
      - {name: no-pii-outside, when: "labels.pii != 'absent'", exclude: backend.external, message: stays}
    ---
    apiVersion: inference.warmpath.dev/v1alpha1
    kind: InferencePolicy
    metadata: {name: screened-stays}
    spec:
      priority: 900
      match: {models: [screened]}
      constraints:
      - {name: screened, when: "labels.screen != 'absent'", exclude: backend.external, message: stays}
    ---
    apiVersion: inference.warmpath.dev/v1alpha1
    kind: InferencePolicy
    metadata: {name: local-then-cloud}
    spec:
      match: {models: [pii, screened]}
      route:
        tiers:
        - backends: {names: [local]}
        - backends: {names: [cloud, cloud-messages]}
    ---
    apiVersion: inference.warmpath.dev/v1alpha1
    kind: InferencePolicy
    metadata: {name: wait-here}
    spec:
      match: {models: [waiting]}
      route:
        tiers:
        - backends: {names: [narrow]}
        - backends: {names: [cloud, cloud-messages]}
          endpoints: "labels.pii == 'absent'"
      onNoCandidate: {action: Queue, maxWait: 30s, status: 503}
    """
        .formatted(endpoint);
  }

  private static ScriptedWorker.Script verdict(String value) {
    return (request, reply) -> reply.json(200, "{\"value\":\"" + value + "\"}");
  }

  @AfterAll
  static void stop() throws IOException {
    if (stack != null) {
      stack.close();
    }
    provider.close();
    for (ScriptedWorker worker : List.of(first, second, screen)) {
      worker.close();
    }
  }

  @BeforeEach
  void repair() {
    workers(Scripts.vllm());
    screen.script(verdict("absent"));
    provider.forget();
  }

  private static void workers(ScriptedWorker.Script script) {
    first.script(script);
    second.script(script);
  }

  private static WireResponse send(Carrier carrier, String model, boolean stream, String text)
      throws IOException {
    return WireClient.post(gateway, carrier.path(), carrier.with(model, stream, text));
  }

  /** Every carrier, streamed and not, several at once; returns what came back. */
  private static List<WireResponse> all(String model, String text) throws Exception {
    List<Future<WireResponse>> running = new ArrayList<>();
    try (ExecutorService clients = Executors.newFixedThreadPool(8)) {
      for (Carrier carrier : PromptCarriers.ALL) {
        for (boolean stream : new boolean[] {false, true}) {
          running.add(clients.submit(() -> send(carrier, model, stream, text)));
        }
      }
      List<WireResponse> answers = new ArrayList<>();
      for (Future<WireResponse> one : running) {
        answers.add(one.get());
      }
      return answers;
    }
  }

  private static List<String> atProvider() {
    return provider.received().stream()
        .map(ReceivedRequest::body)
        .map(Objects::requireNonNull)
        .toList();
  }

  /** The promise, and that it is not empty: the plain ones got there. */
  private static void assertOnlyPlainOnesLeft(String model) throws Exception {
    provider.forget();
    List<WireResponse> personal = all(model, PERSONAL);
    assertThat(personal).allSatisfy(answer -> assertThat(answer.status()).isEqualTo(503));
    assertThat(atProvider()).isEmpty();

    List<WireResponse> plain = all(model, PLAIN);
    assertThat(plain).allSatisfy(answer -> assertThat(answer.status()).isEqualTo(200));
    assertThat(atProvider())
        .hasSize(plain.size())
        .allSatisfy(body -> assertThat(body).contains(PLAIN).doesNotContain("4111"));
  }

  @Test
  void pool_up() throws Exception {
    assertThat(all("pii", PERSONAL))
        .allSatisfy(answer -> assertThat(answer.status()).isEqualTo(200));
    assertThat(all("pii", PLAIN)).allSatisfy(answer -> assertThat(answer.status()).isEqualTo(200));
    assertThat(atProvider()).isEmpty();
  }

  @Test
  void every_worker_answers_503() throws Exception {
    workers((request, reply) -> Scripts.QUEUE_FULL.replay(reply));

    assertOnlyPlainOnesLeft("pii");
  }

  @Test
  void every_worker_breaks_off_after_it_was_chosen() throws Exception {
    workers((request, reply) -> reply.reset());

    assertOnlyPlainOnesLeft("pii");
  }

  @Test
  void a_retry_finds_another_worker() throws Exception {
    AtomicInteger turn = new AtomicInteger();
    first.script((request, reply) -> Scripts.QUEUE_FULL.replay(reply));
    second.script((request, reply) -> {
      turn.incrementAndGet();
      Scripts.vllm().answer(request, reply);
    });

    assertThat(all("pii", PERSONAL))
        .allSatisfy(answer -> assertThat(answer.status()).isEqualTo(200));
    assertThat(turn.get()).isEqualTo(2 * PromptCarriers.ALL.size());
    assertThat(atProvider()).isEmpty();
  }

  @Test
  void the_pool_is_down_before() throws Exception {
    int firstPort = first.port();
    int secondPort = second.port();
    first.close();
    second.close();
    try {
      Carrier chat = PromptCarriers.ALL.getFirst();
      await("the pool counts as down")
          .atMost(PATIENCE)
          .until(() -> send(chat, "pii", false, PERSONAL).text().contains("no-pii-outside"));

      assertOnlyPlainOnesLeft("pii");
      for (Carrier carrier : PromptCarriers.ALL) {
        WireResponse refused = send(carrier, "pii", false, PERSONAL);
        Errors.assertShape(Errors.Shape.of(carrier.path()), refused);
        assertThat(refused.text()).contains("pii-stays", "no-pii-outside").doesNotContain("4111");
      }
    } finally {
      first = ScriptedWorker.start("served", firstPort, Scripts.vllm());
      second = ScriptedWorker.start("served", secondPort, Scripts.vllm());
      Carrier chat = PromptCarriers.ALL.getFirst();
      await("the pool is back")
          .atMost(PATIENCE)
          .until(() -> send(chat, "pii", false, PERSONAL).status() == 200);
    }
  }

  @Test
  void the_text_is_cut_short_or_not_readable() throws Exception {
    workers((request, reply) -> Scripts.QUEUE_FULL.replay(reply));
    String cut = "word ".repeat(CUT_CHARS / 5);
    String[] unreadable = {
      "{\"model\":\"pii\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\","
          + "\"image_url\":{\"url\":\"data:image/png;base64,iVBORw0KGgo=\"}}]}]}",
      "{\"model\":\"pii\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"input_audio\","
          + "\"input_audio\":{\"data\":\"AAAA\",\"format\":\"wav\"}}]}]}",
      "{\"model\":\"pii\",\"messages\":[{\"role\":\"user\",\"content\":\"" + cut + "\"}]}"
    };
    for (String body : unreadable) {
      WireResponse refused = WireClient.post(gateway, "/v1/chat/completions", body);

      assertThat(refused.status()).as(refused.toString()).isEqualTo(503);
    }
    assertThat(
            WireClient.post(
                    gateway,
                    "/v1/completions",
                    "{\"model\":\"pii\",\"prompt\":[[1,2,3]],\"max_tokens\":4}")
                .status())
        .isEqualTo(503);
    assertThat(atProvider()).isEmpty();
  }

  @Test
  void the_webhook_fails_or_says_so() throws Exception {
    workers((request, reply) -> Scripts.QUEUE_FULL.replay(reply));
    Carrier chat = PromptCarriers.ALL.getFirst();
    Carrier message = PromptCarriers.ALL.getLast();
    List<ScriptedWorker.Script> failures =
        List.of(
            verdict("present"),
            (request, reply) -> reply.json(500, "{\"value\":\"absent\"}"),
            (request, reply) -> reply.json(200, "absent"),
            (request, reply) -> reply.json(200, "{\"value\":\"\"}"),
            (request, reply) -> reply.reset());
    for (ScriptedWorker.Script failure : failures) {
      screen.script(failure);
      for (boolean stream : new boolean[] {false, true}) {
        assertThat(send(chat, "screened", stream, PLAIN).status()).isEqualTo(503);
        assertThat(send(message, "screened", stream, PLAIN).status()).isEqualTo(503);
      }
    }
    assertThat(atProvider()).isEmpty();

    screen.script(verdict("absent"));
    assertThat(send(chat, "screened", false, PLAIN).status()).isEqualTo(200);
    assertThat(atProvider()).hasSize(1);
  }

  @Test
  void the_webhook_is_late() throws Exception {
    workers((request, reply) -> Scripts.QUEUE_FULL.replay(reply));
    CountDownLatch end = new CountDownLatch(1);
    screen.script((request, reply) -> {
      end.await(30, TimeUnit.SECONDS);
      reply.json(200, "{\"value\":\"absent\"}");
    });
    List<WireResponse> answers = all("screened", PLAIN);
    end.countDown();

    assertThat(answers).allSatisfy(answer -> assertThat(answer.status()).isEqualTo(503));
    assertThat(atProvider()).isEmpty();
  }

  @Test
  void a_request_that_waited_is_released_to_a_worker_only() throws Exception {
    CountDownLatch busy = new CountDownLatch(1);
    workers((request, reply) -> {
      if (request.text().contains("occupy")) {
        busy.await(30, TimeUnit.SECONDS);
      }
      Scripts.vllm().answer(request, reply);
    });
    Carrier chat = PromptCarriers.ALL.getFirst();
    try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<WireResponse>> occupying = new ArrayList<>();
      for (int i = 0; i < 2 * QUEUED_LIMIT; i++) {
        occupying.add(clients.submit(() -> send(chat, "waiting", true, "occupy " + PERSONAL)));
      }
      await("both workers are busy")
          .atMost(PATIENCE)
          .until(() -> first.received().size() + second.received().size() >= 2 * QUEUED_LIMIT);
      List<Future<WireResponse>> waiting = new ArrayList<>();
      for (Carrier carrier : PromptCarriers.ALL) {
        for (boolean stream : new boolean[] {false, true}) {
          waiting.add(clients.submit(() -> send(carrier, "waiting", stream, PERSONAL)));
        }
      }
      await("they wait")
          .atMost(PATIENCE)
          .until(() -> stack.metrics().sum("warmpath_waiting_requests").orElse(0) > 0);
      assertThat(atProvider()).isEmpty();

      busy.countDown();
      for (Future<WireResponse> one : waiting) {
        assertThat(one.get().status()).isEqualTo(200);
      }
      for (Future<WireResponse> one : occupying) {
        assertThat(one.get().status()).isEqualTo(200);
      }
    }
    assertThat(atProvider()).isEmpty();
  }
}
