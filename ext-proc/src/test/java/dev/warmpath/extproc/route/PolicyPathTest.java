package dev.warmpath.extproc.route;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.crds.config.GatewayNames;
import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.v1alpha1.BackendSpec;
import dev.warmpath.crds.v1alpha1.PolicySpec;
import dev.warmpath.crds.v1alpha1.PolicySpec.OnNoCandidate;
import dev.warmpath.crds.v1alpha1.PolicySpec.OnNoCandidate.Action;
import dev.warmpath.crds.v1alpha1.PoolSpec;
import dev.warmpath.crds.v1alpha1.ProviderSpec;
import dev.warmpath.extproc.candidate.WorkerGauges;
import dev.warmpath.extproc.candidate.WorkerId;
import dev.warmpath.extproc.inflight.InFlightRequest.Outcome;
import dev.warmpath.extproc.label.Classifier;
import dev.warmpath.extproc.label.Classifiers;
import dev.warmpath.extproc.label.Label;
import dev.warmpath.extproc.label.LabelSource;
import dev.warmpath.extproc.label.PiiClassifier;
import dev.warmpath.extproc.label.RequestText;
import dev.warmpath.extproc.queue.WaitingRoom;
import dev.warmpath.extproc.tenant.TenantLimits;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Policies on the whole path: bodies in, clusters out. */
class PolicyPathTest {
  private static final String CARD = "4111 1111 1111 1111";
  private static final String PROVIDER = GatewayNames.providerCluster("default", "cloud");
  private static final List<String> CARRIERS =
      List.of(
          "/v1/chat/completions {\"model\":\"qwen-27b\",\"messages\":[{\"role\":\"system\",\"content\":\"%s\"},{\"role\":\"user\",\"content\":\"hi\"}]}",
          "/v1/chat/completions {\"model\":\"qwen-27b\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"%s\"}]}]}",
          "/v1/chat/completions {\"model\":\"qwen-27b\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"},{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"c\\\":\\\"%s\\\"}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"ok\"}]}",
          "/v1/chat/completions {\"model\":\"qwen-27b\",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"description\":\"%s\",\"parameters\":{}}}],\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}",
          "/v1/chat/completions {\"model\":\"qwen-27b\",\"metadata\":{\"a\":\"%s\"},\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}",
          "/v1/messages {\"model\":\"qwen-27b\",\"max_tokens\":9,\"stream\":true,\"system\":\"%s\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}",
          "/v1/messages {\"model\":\"qwen-27b\",\"max_tokens\":9,\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"a\",\"content\":\"%s\"}]}]}",
          "/v1/completions {\"model\":\"qwen-27b\",\"prompt\":\"%s\"}",
          "/v1/responses {\"model\":\"qwen-27b\",\"instructions\":\"%s\",\"input\":\"hi\"}",
          "/v1/embeddings {\"model\":\"qwen-27b\",\"input\":[\"hi\",\"%s\"]}");

  private final AtomicLong clock = new AtomicLong();
  private final DecisionLog log = new DecisionLog(64);
  private final PoolRouter router =
      new PoolRouter(1 << 20, clock::get, InstantSource.system(), new SplittableRandom(1));
  private final Holding holding =
      new Holding(
          new WaitingRoom(new WaitingRoom.Limits(2, 1 << 20), clock::get),
          Executors.newSingleThreadScheduledExecutor(),
          clock::get);
  private int next;

  @AfterEach
  void close() {
    holding.close();
  }

  @Test
  void personalDataNeverGetsAPlanWithAProvider() {
    RoutingPipeline pipeline = pipeline(new PiiClassifier());

    for (String carrier : CARRIERS) {
      ProviderSpec.Type speaksIt =
          carrier.startsWith("/v1/messages")
              ? ProviderSpec.Type.Anthropic
              : ProviderSpec.Type.OpenAI;
      router.apply(configuration(List.of(piiStaysLocal(), burst()), 1, 1, speaksIt), "v1");
      for (boolean busy : new boolean[] {false, true}) {
        gauges(busy ? 50 : 0, 0.1);
        Decision with = ask(pipeline, carrier.formatted(CARD));
        Decision without = ask(pipeline, carrier.formatted("nothing to see"));

        assertThat(clusters(with)).as(carrier).doesNotContain(PROVIDER);
        assertThat(clusters(without)).as(carrier).contains(PROVIDER);
        if (busy) {
          assertThat(((Decision.Rejected) with).error().status()).isEqualTo(503);
          assertThat(((Decision.Rejected) with).error().code()).isEqualTo("policy_excluded");
          assertThat(((Decision.Rejected) with).error().message())
              .contains("'personal-data-stays-here'")
              .doesNotContain("4111");
        } else {
          assertThat(clusters(with)).containsOnly(Configurations.CLUSTER);
        }
        end(with);
        end(without);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 9})
  void howeverManyWorkersThereAreEachLaterTierHasAnAttempt(int workers) {
    RoutingPipeline pipeline = pipeline(new PiiClassifier());
    router.apply(configuration(List.of(piiStaysLocal(), burst()), 1, workers), "v1");

    Decision without = ask(pipeline, CARRIERS.get(0).formatted("hi"));
    Decision with = ask(pipeline, CARRIERS.get(0).formatted(CARD));

    assertThat(clusters(without))
        .hasSize(Math.min(workers, 3) + 1)
        .startsWith(Configurations.CLUSTER)
        .endsWith(PROVIDER);
    assertThat(clusters(with)).containsOnly(Configurations.CLUSTER);
  }

  @Test
  void aWorkerThatNobodyListensAtIsNoCandidateUntilItIsBack() {
    RoutingPipeline pipeline = pipeline(new PiiClassifier());
    router.apply(configuration(List.of(piiStaysLocal(), burst())), "v1");
    WorkerId worker = new WorkerId("default", "l40s", "w0", "");
    gauges(0, 0.1);

    router.refused(worker);
    Decision once = ask(pipeline, CARRIERS.get(0).formatted(CARD));
    router.refused(worker);
    Decision with = ask(pipeline, CARRIERS.get(0).formatted(CARD));
    Decision without = ask(pipeline, CARRIERS.get(0).formatted("hi"));
    gauges(0, 0.1);
    Decision back = ask(pipeline, CARRIERS.get(0).formatted(CARD));

    assertThat(clusters(once)).containsOnly(Configurations.CLUSTER);
    assertThat(((Decision.Rejected) with).error().code()).isEqualTo("policy_excluded");
    assertThat(clusters(without)).containsOnly(PROVIDER);
    assertThat(clusters(back)).containsOnly(Configurations.CLUSTER);
  }

  @Test
  void whatTheClassifierCannotTellStaysToo() {
    router.apply(configuration(List.of(piiStaysLocal(), burst())), "v1");
    Classifier broken =
        new Classifier() {
          @Override
          public String key() {
            return "pii";
          }

          @Override
          public Verdict classify(RequestText text) {
            throw new IllegalStateException("broken");
          }
        };

    for (Classifier classifier : new Classifier[] {broken, null}) {
      RoutingPipeline pipeline = pipeline(classifier);
      gauges(50, 0.1);
      assertThat(ask(pipeline, CARRIERS.get(0).formatted("hi")))
          .isInstanceOf(Decision.Rejected.class);
    }
    Decision image =
        ask(
            pipeline(new PiiClassifier()),
            "/v1/chat/completions {\"model\":\"qwen-27b\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"AAAA\",\"format\":\"wav\"}}]}]}");
    assertThat(clusters(image)).doesNotContain(PROVIDER);
  }

  @Test
  void aBatchRequestWaitsForRoomAndIsDecidedAnew() {
    RoutingPipeline pipeline = pipeline(new PiiClassifier());
    router.apply(configuration(List.of(piiStaysLocal(), batch())), "v1");
    gauges(0, 0.9);

    Decision.Deferred waiting = (Decision.Deferred) ask(pipeline, CARRIERS.get(0).formatted(CARD));
    CompletableFuture<Decision> decision = waiting.decision().toCompletableFuture();
    assertThat(decision).isNotDone();
    gauges(0, 0.2);

    Decision late = Awaitility.await().until(() -> decision.getNow(null), d -> d != null);
    assertThat(clusters(late)).containsOnly(Configurations.CLUSTER);
    end(late);
  }

  @Test
  void aReleaseKeepsTheConstraint() {
    RoutingPipeline pipeline = pipeline(new PiiClassifier());
    router.apply(configuration(List.of(piiStaysLocal(), batch())), "v1");
    gauges(0, 0.9);
    Decision.Deferred waiting = (Decision.Deferred) ask(pipeline, CARRIERS.get(0).formatted(CARD));

    // Now everything local is refused and only the provider would be left.
    router.apply(configuration(List.of(piiStaysLocal(), burst())), "v2");
    gauges(50, 0.9);

    Decision late =
        Awaitility.await()
            .until(() -> waiting.decision().toCompletableFuture().getNow(null), d -> d != null);
    assertThat(((Decision.Rejected) late).error().code()).isEqualTo("policy_excluded");
  }

  @Test
  void oneWhoLeavesFreesThePlaceAndTooManyAreTurnedAway() {
    RoutingPipeline pipeline = pipeline(new PiiClassifier());
    router.apply(configuration(List.of(batch())), "v1");
    gauges(0, 0.9);

    Decision.Deferred first = (Decision.Deferred) ask(pipeline, CARRIERS.get(0).formatted("a"));
    Decision second = ask(pipeline, CARRIERS.get(0).formatted("b"));
    Decision.Rejected third = (Decision.Rejected) ask(pipeline, CARRIERS.get(0).formatted("c"));
    first.clientGone().run();
    Decision fourth = ask(pipeline, CARRIERS.get(0).formatted("d"));

    assertThat(third.error().status()).isEqualTo(429);
    assertThat(third.error().code()).isEqualTo("queue_full");
    assertThat(third.error().retryAfterSeconds()).isPositive();
    assertThat(second).isInstanceOf(Decision.Deferred.class);
    assertThat(fourth).isInstanceOf(Decision.Deferred.class);
    assertThat(first.decision().toCompletableFuture()).isDone();
  }

  @Test
  void oneWhoLeavesWhileWaitingIsRecordedAsGoneAndNotAsRefused() {
    router.apply(configuration(List.of(batch())), "v1");
    gauges(0, 0.9);
    CompletableFuture<Void> verdict = new CompletableFuture<>();
    LabelSource late =
        new LabelSource() {
          @Override
          public Label label(String key) {
            return Label.unknown(Label.Source.WEBHOOK, "asked", 0);
          }

          @Override
          public Pending pending() {
            return new Pending(verdict, 1_000_000_000);
          }
        };
    Map<String, RoutingPipeline> waitingFor =
        Map.of(
            "capacity", pipeline(new PiiClassifier()),
            "a label", pipeline((body, head, tenant) -> late));

    waitingFor.forEach((what, pipeline) -> {
      String id = "d" + next;
      Decision.Deferred waiting = (Decision.Deferred) ask(pipeline, CARRIERS.get(0).formatted("a"));
      waiting.clientGone().run();

      assertThat(waiting.decision().toCompletableFuture())
          .as(what)
          .isCompletedWithValue(new Decision.ClientGone());
      assertThat(log.find(id))
          .as(what)
          .isNotNull()
          .returns(Outcome.CLIENT_GONE, DecisionRecord::outcome)
          .returns(null, DecisionRecord::refusal);
    });
  }

  @Test
  void twoOfOneColdBeginningAreSentInTheirOrder() throws Exception {
    RoutingPipeline pipeline = pipeline(new PiiClassifier());
    router.apply(configuration(List.of(), 1, 1, ProviderSpec.Type.OpenAI), "v1");
    String cold = CARRIERS.get(0).formatted("some words of a long beginning ".repeat(400));

    Decision first = ask(pipeline, cold);
    Decision.Deferred second = (Decision.Deferred) ask(pipeline, cold);
    Decision.Deferred left = (Decision.Deferred) ask(pipeline, cold);
    left.clientGone().run();

    assertThat(first).isInstanceOf(Decision.Routed.class);
    assertThat(second.maxWaitNanos()).isPositive().isLessThanOrEqualTo(100_000_000);
    Decision sent = second.decision().toCompletableFuture().get(60, TimeUnit.SECONDS);
    assertThat(clusters(sent)).isEqualTo(clusters(first));
    assertThat(left.decision().toCompletableFuture())
        .isCompletedWithValue(new Decision.ClientGone());
    assertThat(router.activeLeases()).isEqualTo(2);
    end(first);
    end(sent);
    assertThat(router.activeLeases()).isZero();
  }

  @Test
  void theLongestWaitEndsWithThePolicysAnswer() {
    RoutingPipeline pipeline = pipeline(new PiiClassifier());
    router.apply(configuration(List.of(batch())), "v1");
    gauges(0, 0.9);
    Decision.Deferred waiting = (Decision.Deferred) ask(pipeline, CARRIERS.get(0).formatted("a"));

    clock.addAndGet(TimeUnit.SECONDS.toNanos(61));

    Decision late =
        Awaitility.await()
            .until(() -> waiting.decision().toCompletableFuture().getNow(null), d -> d != null);
    assertThat(((Decision.Rejected) late).error().status()).isEqualTo(529);
  }

  @Test
  void eachDecisionIsByOneGenerationWhilePoliciesChange() {
    List<List<String>> matched = new CopyOnWriteArrayList<>();
    RoutingPipeline pipeline =
        new RoutingPipeline(
            router,
            (body, head, tenant) -> key -> Label.unknown(Label.Source.NONE, "none", 0),
            new DecisionLog(64),
            InstantSource.system(),
            holding,
            trace ->
                matched.add(
                    trace.matched().stream().map(id -> Long.toString(id.generation())).toList()),
            new TenantLimits(clock::get));
    router.apply(configuration(List.of(piiStaysLocal(), burst()), 0), "v0");
    gauges(0, 0.1);
    CompletableFuture<Void> changes =
        CompletableFuture.runAsync(() -> {
          for (int generation = 1; generation <= 100; generation++) {
            router.apply(
                configuration(List.of(piiStaysLocal(), burst()), generation), "v" + generation);
          }
        });

    int asked = 0;
    while (!changes.isDone() || asked < 100) {
      Decision decision = ask(pipeline, CARRIERS.get(0).formatted("hi"));
      assertThat(clusters(decision)).containsOnly(Configurations.CLUSTER);
      end(decision);
      asked++;
    }

    changes.join();
    assertThat(matched).hasSize(asked);
    assertThat(matched)
        .allSatisfy(generations -> assertThat(new HashSet<>(generations)).hasSize(1));
  }

  private RoutingPipeline pipeline(@Nullable Classifier pii) {
    Classifiers classifiers =
        new Classifiers(pii == null ? List.of() : List.of(pii), List.of(), clock::get);
    return pipeline((body, head, tenant) -> classifiers.of(body, head.headers(), tenant));
  }

  private RoutingPipeline pipeline(RoutingPipeline.Labels labels) {
    return new RoutingPipeline(
        router,
        labels,
        log,
        InstantSource.system(),
        holding,
        trace -> {},
        new TenantLimits(clock::get));
  }

  private Decision ask(RoutingPipeline pipeline, String request) {
    int space = request.indexOf(' ');
    RequestHead head =
        new RequestHead(
            "d" + next++, "r", "POST", request.substring(0, space), "", Map.of(), clock.get());
    return pipeline.route(head, request.substring(space + 1).getBytes(StandardCharsets.UTF_8));
  }

  private static List<String> clusters(Decision decision) {
    return decision instanceof Decision.Routed routed ? routed.clusters() : List.of();
  }

  private void end(Decision decision) {
    if (decision instanceof Decision.Routed routed) {
      routed.request().ended(Outcome.COMPLETED, clock.get());
    }
  }

  private static PolicySpec piiStaysLocal() {
    return policy(
        900,
        List.of(
            new PolicySpec.Constraint(
                "personal-data-stays-here",
                "labels.pii != 'absent'",
                "backend.external",
                "personal data may not leave the cluster")),
        null,
        new OnNoCandidate(Action.Reject, 503, Duration.ofSeconds(5), null));
  }

  private static PolicySpec burst() {
    return policy(
        100,
        List.of(),
        List.of(tier("endpoint.queuedPrompts < 8", "qwen-local"), tier(null, "qwen-cloud")),
        new OnNoCandidate(Action.Reject, 503, null, null));
  }

  private static PolicySpec batch() {
    return policy(
        100,
        List.of(),
        List.of(tier("endpoint.kvCacheUsage < 0.7", "qwen-local")),
        new OnNoCandidate(Action.Queue, 529, null, Duration.ofSeconds(60)));
  }

  private static PolicySpec.Tier tier(@Nullable String filter, String backend) {
    return new PolicySpec.Tier(new PolicySpec.BackendSelector(List.of(backend), Map.of()), filter);
  }

  private static PolicySpec policy(
      int priority,
      List<PolicySpec.Constraint> constraints,
      @Nullable List<PolicySpec.Tier> tiers,
      OnNoCandidate onNoCandidate) {
    return new PolicySpec(
        priority,
        PolicySpec.Mode.Enforce,
        new PolicySpec.Match(List.of(), null, List.of(), null),
        constraints,
        tiers == null
            ? null
            : new PolicySpec.Route(tiers, PolicySpec.Choose.PredictedTTFT, Duration.ZERO),
        onNoCandidate);
  }

  private static RoutingConfiguration configuration(List<PolicySpec> policies) {
    return configuration(policies, 1);
  }

  private static RoutingConfiguration configuration(List<PolicySpec> policies, long generation) {
    return configuration(policies, generation, 1);
  }

  private static RoutingConfiguration configuration(
      List<PolicySpec> policies, long generation, int workers) {
    return configuration(policies, generation, workers, ProviderSpec.Type.OpenAI);
  }

  private static RoutingConfiguration configuration(
      List<PolicySpec> policies, long generation, int workers, ProviderSpec.Type type) {
    RoutingConfiguration local =
        Configurations.pool(workers, PoolSpec.Algorithm.PredictedTTFT, 1000);
    List<RoutingConfiguration.Backend> backends =
        List.of(
            local.backends().getFirst(),
            new RoutingConfiguration.Backend(
                id("qwen-cloud"),
                new BackendSpec(
                    List.of("qwen-27b"),
                    null,
                    new BackendSpec.ProviderTarget("cloud", "theirs"),
                    Map.of(),
                    new BackendSpec.Capabilities(null, true, true),
                    null,
                    List.of())));
    List<RoutingConfiguration.Policy> named = new ArrayList<>();
    for (PolicySpec policy : policies) {
      named.add(
          new RoutingConfiguration.Policy(
              new RoutingConfiguration.Id("default", "policy" + named.size(), generation), policy));
    }
    return new RoutingConfiguration(
        local.workerSets(),
        local.pools(),
        List.of(
            new RoutingConfiguration.Provider(
                id("cloud"),
                new ProviderSpec(
                    type,
                    null,
                    null,
                    null,
                    null,
                    new ProviderSpec.Limits(100),
                    Duration.ofMillis(900)),
                PROVIDER)),
        backends,
        named,
        List.of(),
        List.of());
  }

  private static RoutingConfiguration.Id id(String name) {
    return new RoutingConfiguration.Id("default", name, 1);
  }

  private void gauges(int waiting, double kvCacheUsage) {
    router.scraped(
        new WorkerId("default", "l40s", "w0", ""),
        new WorkerGauges(0, waiting, kvCacheUsage, null, null, null, null, clock.get()));
  }
}
