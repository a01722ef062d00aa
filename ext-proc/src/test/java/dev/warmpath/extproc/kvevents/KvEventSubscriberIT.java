package dev.warmpath.extproc.kvevents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.v1alpha1.LocalRef;
import dev.warmpath.crds.v1alpha1.PoolSpec;
import dev.warmpath.crds.v1alpha1.WorkerSetSpec;
import dev.warmpath.extproc.kvcache.CacheKnowledge;
import dev.warmpath.extproc.route.CacheEvents;
import dev.warmpath.extproc.route.PoolRouter;
import dev.warmpath.extproc.route.WorkerStatus;
import dev.warmpath.simulator.Simulator;
import dev.warmpath.simulator.SimulatorOptions;
import dev.warmpath.simulator.SimulatorOptions.KvEventOptions;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Over sockets, from a simulated engine to the router's knowledge. */
class KvEventSubscriberIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int BLOCK = 16;

  private final PoolRouter router =
      new PoolRouter(16 << 20, System::nanoTime, InstantSource.system(), new SplittableRandom(1));
  private final EventCounts counts = new EventCounts();
  private final HttpClient http = HttpClient.newHttpClient();
  private KvEventSubscriber subscriber =
      new KvEventSubscriber(new CacheEvents(router), counts, System::nanoTime);

  @BeforeEach
  void fresh() {
    subscriber = new KvEventSubscriber(new CacheEvents(router), counts, System::nanoTime);
  }

  @AfterEach
  void close() {
    subscriber.close();
    http.close();
  }

  @ParameterizedTest(name = "maps {0}, topic in replays {1}")
  @CsvSource({"true,true", "true,false", "false,true", "false,false"})
  void whoComesLateKnowsWhatWasToldBefore(boolean maps, boolean replayTopic) throws Exception {
    try (Simulator engine =
        start(new KvEventOptions(0, 0, "kv-events", maps, replayTopic, 10_000))) {
      long before = chat(engine, "before ".repeat(200));
      follow(engine);

      await().atMost(PATIENCE).untilAsserted(() -> assertThat(resident()).isEqualTo(before));

      long after = chat(engine, "after ".repeat(300));
      await()
          .atMost(PATIENCE)
          .untilAsserted(() -> assertThat(resident()).isEqualTo(before + after));
      assertThat(worker().cacheKnowledge()).isEqualTo(CacheKnowledge.ASSISTED);
      assertThat(worker().cacheReason()).contains("no tokenizer");
      assertThat(counts.of(EventCounts.Event.LOST)).isZero();
      assertThat(counts.of(EventCounts.Event.UNDECODABLE)).isZero();
    }
  }

  @Test
  void clearsAndRestartsEmptyWhatIsKnown() throws Exception {
    try (Simulator engine = start(KvEventOptions.defaults())) {
      follow(engine);
      long first = chat(engine, "first ".repeat(200));
      await().atMost(PATIENCE).untilAsserted(() -> assertThat(resident()).isEqualTo(first));

      fault(engine, "{\"kind\":\"clear_cache\"}");
      await().atMost(PATIENCE).untilAsserted(() -> assertThat(resident()).isZero());
      long second = chat(engine, "second ".repeat(200));
      await().atMost(PATIENCE).untilAsserted(() -> assertThat(resident()).isEqualTo(second));

      fault(engine, "{\"kind\":\"restart_cold\"}");
      long third = chat(engine, "third ".repeat(150));

      await().atMost(PATIENCE).untilAsserted(() -> assertThat(resident()).isEqualTo(third));
      assertThat(counts.of(EventCounts.Event.CLEARED)).isPositive();
      assertThat(counts.of(EventCounts.Event.RESTART)).isPositive();
    }
  }

  @Test
  void aStormOfEventsIsDecodedCountedAndBounded() throws Exception {
    try (Simulator engine = start(KvEventOptions.defaults())) {
      follow(engine);
      await()
          .atMost(PATIENCE)
          .untilAsserted(
              () -> assertThat(worker().cacheKnowledge()).isEqualTo(CacheKnowledge.ASSISTED));

      post(
          engine,
          "/_sim/fault",
          "{\"kind\":\"event_storm\",\"batches\":2000,\"blocks_per_batch\":32,\"batches_per_second\":2000,"
              + "\"gap_every\":17,\"duplicate_every\":13,\"unknown\":true,"
              + "\"both_encodings\":true,\"seed\":7}");

      await()
          .atMost(PATIENCE)
          .untilAsserted(
              () -> assertThat(counts.of(EventCounts.Event.APPLIED)).isGreaterThanOrEqualTo(2_000));
      assertThat(counts.of(EventCounts.Event.STORED)).isGreaterThanOrEqualTo(2_000L * 32);
      assertThat(counts.of(EventCounts.Event.GAP)).isPositive();
      assertThat(counts.of(EventCounts.Event.DUPLICATE)).isPositive();
      assertThat(counts.of(EventCounts.Event.UNKNOWN_FIELD)).isPositive();
      assertThat(counts.of(EventCounts.Event.UNKNOWN_EVENT)).isPositive();
      assertThat(counts.of(EventCounts.Event.UNDECODABLE)).isZero();
      assertThat(worker().cacheLedgerBytes()).isLessThan(64L << 20);
    }
  }

  private static Simulator start(KvEventOptions events) throws InterruptedException {
    return Simulator.start(
        SimulatorOptions.defaults()
            .withProfile("tiny")
            .withServedModelNames("tiny")
            .withKvEvents(events));
  }

  private void follow(Simulator engine) {
    URI uri = engine.uri();
    RoutingConfiguration configuration =
        new RoutingConfiguration(
            List.of(
                new RoutingConfiguration.WorkerSet(
                    new RoutingConfiguration.Id("default", "set", 1),
                    WorkerSetSpec.Engine.vLLM,
                    new WorkerSetSpec.Metrics("/metrics", Duration.ofSeconds(1)),
                    new WorkerSetSpec.KvEvents(WorkerSetSpec.KvEvents.Mode.ZMQ, 1, null, 1),
                    new WorkerSetSpec.Profile(null, null, null, null),
                    List.of(
                        new RoutingConfiguration.Worker(
                            "w0",
                            uri.getHost(),
                            uri.getPort(),
                            "",
                            RoutingConfiguration.Worker.State.READY)))),
            List.of(
                new RoutingConfiguration.Pool(
                    new RoutingConfiguration.Id("default", "pool", 1),
                    new PoolSpec(
                        "tiny",
                        List.of(new LocalRef("set")),
                        new PoolSpec.Objective(Duration.ofSeconds(8), 0.9),
                        new PoolSpec.Routing(PoolSpec.Algorithm.PredictedTTFT),
                        new PoolSpec.Limits(64),
                        null),
                    "pool/default/pool")),
            List.of(),
            List.of(),
            List.of(),
            List.of(),
            List.of());
    router.apply(configuration, "1");
    subscriber.configure(configuration);
  }

  private WorkerStatus worker() {
    return router.workers().getFirst();
  }

  private long resident() {
    return worker().cacheResidentTokens();
  }

  /** Returns the tokens of the full blocks that this prompt and its answer of one token make. */
  private long chat(Simulator engine, String text) throws Exception {
    String answer =
        post(
            engine,
            "/v1/chat/completions",
            "{\"model\":\"tiny\",\"max_tokens\":1,\"messages\":[{\"role\":\"user\",\"content\":\""
                + text
                + "\"}]}");
    int at = answer.indexOf("\"prompt_tokens\":") + "\"prompt_tokens\":".length();
    int tokens = Integer.parseInt(answer.substring(at, answer.indexOf(',', at)).strip());
    return (long) tokens / BLOCK * BLOCK;
  }

  private void fault(Simulator engine, String json) throws Exception {
    post(engine, "/_sim/fault", json);
  }

  private String post(Simulator engine, String path, String json) throws Exception {
    HttpResponse<String> response =
        http.send(
            HttpRequest.newBuilder(engine.uri().resolve(path))
                .header("content-type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(json))
                .build(),
            HttpResponse.BodyHandlers.ofString());
    assertThat(response.statusCode()).as(response.body()).isBetween(200, 299);
    return response.body();
  }
}
