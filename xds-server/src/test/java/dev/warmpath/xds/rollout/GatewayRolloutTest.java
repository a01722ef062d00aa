package dev.warmpath.xds.rollout;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.crds.config.GatewayNames;
import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.config.RoutingConfiguration.Worker;
import dev.warmpath.crds.config.RoutingConfigurationCodec;
import dev.warmpath.crds.resource.Kind;
import dev.warmpath.crds.resource.Resource;
import dev.warmpath.crds.v1alpha1.LocalRef;
import dev.warmpath.crds.v1alpha1.PoolSpec;
import dev.warmpath.crds.v1alpha1.WorkerSetSpec;
import dev.warmpath.xds.model.Endpoint;
import dev.warmpath.xds.model.GatewayModel;
import dev.warmpath.xds.model.PoolCluster;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GatewayRolloutTest {
  private static final RolloutTimes TIMES =
      new RolloutTimes(
          Duration.ofSeconds(2),
          Duration.ofSeconds(3),
          Duration.ofSeconds(30),
          Duration.ofSeconds(5));
  private static final String A = "pool/default/a";
  private static final String B = "pool/default/b";

  private final Envoy envoy = new Envoy();
  private long now = 1_000_000_000_000L;
  private final GatewayRollout rollout = new GatewayRollout(TIMES, now);
  private @Nullable RoutingConfiguration inForce;
  private String sentVersion = "";

  @Test
  void nothingIsSentBeforeAnythingIsDesired() {
    connectBoth();
    assertThat(rollout.envoyTarget(now)).isNull();
    assertThat(rollout.processorNext(now)).isNull();
  }

  @Test
  void theProcessorLearnsOfAPoolOnceEnvoyHasIt() {
    connectBoth();
    rollout.desire(desired(Map.of("a", List.of("1", "2"))));

    assertThat(target()).containsExactly(A + " 1 2");
    assertThat(rollout.processorNext(now)).isNull();
    envoyTakesTarget();

    assertThat(pools(processorGets())).containsExactly(A + " 1 2");
  }

  @Test
  void aRemovedPoolLeavesTheProcessorFirstAndEnvoyAfterALinger() {
    connectBoth();
    rollout.desire(desired(Map.of("a", List.of("1"), "b", List.of("2"))));
    settle();

    rollout.desire(desired(Map.of("a", List.of("1"))));

    assertThat(target()).containsExactly(A + " 1", B + " 2");
    assertThat(pools(processorGets())).containsExactly(A + " 1");
    assertThat(target()).as("sent, not yet acknowledged").contains(B + " 2");
    processorAcknowledges();
    assertThat(target()).as("lingering").contains(B + " 2");
    passes(TIMES.linger());
    assertThat(target()).containsExactly(A + " 1");
  }

  @Test
  void aRemovedWorkerDrainsInEnvoyUntilNobodyNamesIt() {
    connectBoth();
    rollout.desire(desired(Map.of("a", List.of("1", "2"))));
    settle();

    rollout.desire(desired(Map.of("a", List.of("1"))));

    assertThat(target()).containsExactly(A + " 1 2-draining");
    assertThat(pools(processorGets())).containsExactly(A + " 1");
    processorAcknowledges();
    target();
    passes(TIMES.linger());
    assertThat(target()).containsExactly(A + " 1");
  }

  @Test
  void aDeadProcessorDoesNotBlockRemovalForEver() {
    connectBoth();
    rollout.desire(desired(Map.of("a", List.of("1"), "b", List.of("2"))));
    settle();
    rollout.processorDisconnected(now);

    rollout.desire(desired(Map.of("a", List.of("1"))));

    assertThat(target()).contains(B + " 2");
    passes(TIMES.processorAbsent());
    target();
    passes(TIMES.linger());
    assertThat(target()).containsExactly(A + " 1");
  }

  @Test
  void aHangingProcessorDoesNotBlockRemovalForEver() {
    connectBoth();
    rollout.desire(desired(Map.of("a", List.of("1"), "b", List.of("2"))));
    settle();
    rollout.desire(desired(Map.of("a", List.of("1"))));
    target();
    processorGets();

    passes(TIMES.processorAbsent());
    assertThat(target()).contains(B + " 2");
    passes(TIMES.linger());
    assertThat(target()).containsExactly(A + " 1");
  }

  @Test
  void aRefusedConfigurationKeepsWhatTheProcessorNames() {
    connectBoth();
    rollout.desire(desired(Map.of("a", List.of("1"), "b", List.of("2"))));
    settle();
    rollout.desire(desired(Map.of("a", List.of("1"))));
    target();
    processorGets();

    rollout.processorRefused(sentVersion, "no");

    passes(TIMES.processorAbsent().multipliedBy(3));
    assertThat(target()).contains(B + " 2");
    assertThat(rollout.processorRefusal()).isEqualTo("no");
  }

  @Test
  void withoutAnyEnvoyAFirstConfigurationIsSentAtOnce() {
    rollout.processorConnected("", now);
    rollout.desire(desired(Map.of("a", List.of("1"))));
    target();

    assertThat(pools(processorGets())).containsExactly(A + " 1");
  }

  @Test
  void withoutAnyEnvoyAProcessorThatRoutesIsServedAfterAWhile() {
    rollout.processorConnected("of another control plane", now);
    rollout.desire(desired(Map.of("a", List.of("1"))));
    target();
    assertThat(rollout.processorNext(now)).isNull();
    assertThat(rollout.wakeNanos()).isEqualTo(now + TIMES.envoyAbsent().toNanos());

    passes(TIMES.envoyAbsent());

    target();
    assertThat(pools(processorGets())).containsExactly(A + " 1");
  }

  @Test
  void aPoolThatEnvoyDoesNotTakeKeepsNobodyWaiting() {
    connectBoth();
    rollout.desire(desired(Map.of("a", List.of("1"))));
    settle();
    rollout.desire(desired(Map.of("a", List.of("1", "3"), "b", List.of("2"))));
    target();
    envoy.take(A, "1", "3");

    assertThat(rollout.processorNext(now)).as("waits for b").isNull();
    passes(TIMES.envoyAck());

    target();
    assertThat(pools(processorGets()))
        .as("b is known, so that its models are unavailable and not unknown, but has no workers")
        .containsExactly(A + " 1 3", B);
    processorAcknowledges();
    rollout.desire(desired(Map.of("a", List.of("1"), "b", List.of("2"))));
    target();
    assertThat(pools(processorGets())).as("later changes do not wait").contains(A + " 1");
    processorAcknowledges();
    envoy.take(B, "2");
    target();
    assertThat(pools(processorGets())).contains(B + " 2");
  }

  @Test
  void aPoolThatEnvoyRefusesIsNotWaitedFor() {
    connectBoth();
    rollout.desire(desired(Map.of("a", List.of("1"), "b", List.of("2"))));
    target();
    envoy.take(A, "1");
    envoy.refuses.put(B, "bad");

    assertThat(pools(processorGets())).containsExactly(A + " 1", B);
  }

  @Test
  void anEnvoyThatRestartsDoesNotMakeTheProcessorForget() {
    connectBoth();
    rollout.desire(desired(Map.of("a", List.of("1"))));
    settle();
    rollout.envoyDisconnected(1, now);
    envoy.clusters.clear();
    rollout.envoyConnected(2, envoy);

    target();
    assertThat(rollout.processorNext(now)).isNull();
    passes(TIMES.envoyAck().plusSeconds(1));
    target();
    assertThat(rollout.processorNext(now)).isNull();
  }

  @Test
  void aProcessorThatRestartsEmptyIsSentEverythingAgain() {
    connectBoth();
    rollout.desire(desired(Map.of("a", List.of("1"))));
    settle();
    rollout.processorDisconnected(now);
    rollout.processorConnected("", now);

    target();
    assertThat(pools(processorGets())).containsExactly(A + " 1");
  }

  @Test
  void afterARestartUnknownClustersStayUntilTheProcessorHasAcknowledged() {
    rollout.desire(desired(Map.of("a", List.of("1"))));
    rollout.envoyConnected(1, envoy);
    envoy.take(A, "1");
    rollout.processorConnected("of another control plane", now);

    assertThat(keepsUnknown()).isTrue();
    processorGets();
    assertThat(keepsUnknown()).isTrue();
    processorAcknowledges();
    assertThat(keepsUnknown()).isFalse();
  }

  @Test
  void afterARestartUnknownClustersGoWithoutAProcessorToo() {
    rollout.desire(desired(Map.of("a", List.of("1"))));
    rollout.envoyConnected(1, envoy);

    assertThat(keepsUnknown()).isTrue();
    assertThat(rollout.wakeNanos()).isNotEqualTo(Long.MAX_VALUE);
    passes(TIMES.processorAbsent());
    assertThat(keepsUnknown()).isFalse();
  }

  /**
   * Random changes, acknowledgements, restarts and time. At every moment the processor names only
   * what Envoy has, unless Envoy itself lost it; at the end both have exactly what is desired.
   */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
  void neverNamesWhatIsNotThere(long seed) {
    RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
    connectBoth();
    Map<String, List<String>> wanted = new HashMap<>();
    rollout.desire(desired(wanted));
    for (int step = 0; step < 600; step++) {
      switch (random.nextInt(6)) {
        case 0, 1 -> {
          String pool = "p" + random.nextInt(4);
          if (random.nextInt(3) == 0) {
            wanted.remove(pool);
          } else {
            List<String> workers = new ArrayList<>();
            for (int w = 1; w <= 5; w++) {
              if (random.nextBoolean()) {
                workers.add(Integer.toString(w));
              }
            }
            wanted.put(pool, workers);
          }
          rollout.desire(desired(wanted));
        }
        case 2 -> envoyTakesTarget();
        case 3 -> {
          if (!sentVersion.isEmpty()) {
            processorAcknowledges();
          }
        }
        default -> passes(Duration.ofMillis(random.nextInt(2500)));
      }
      GatewayRollout.Target target = rollout.envoyTarget(now);
      if (target != null && random.nextBoolean()) {
        envoy.dropWhatIsNotIn(target.model());
      }
      RoutingConfiguration next = rollout.processorNext(now);
      if (next != null) {
        send(next);
      }
      assertNamedIsThere("seed " + seed + " step " + step);
    }
    for (int i = 0; i < 5; i++) {
      settle();
      passes(TIMES.linger());
    }
    target();
    Set<String> expected = new TreeSet<>();
    wanted.forEach((pool, workers) -> expected.add(line("pool/default/" + pool, workers)));
    assertThat(new TreeSet<>(target())).isEqualTo(expected);
    assertThat(new TreeSet<>(pools(inForce))).isEqualTo(expected);
  }

  private void assertNamedIsThere(String when) {
    RoutingConfiguration routing = inForce;
    if (routing == null) {
      return;
    }
    Names names = Names.of(routing);
    assertThat(envoy.clusters.keySet()).as(when).containsAll(names.clusters());
    for (Names.EndpointName endpoint : names.endpoints()) {
      assertThat(envoy.clusters.getOrDefault(endpoint.cluster(), Set.of()))
          .as(when)
          .contains(endpoint.hostPort());
    }
  }

  // What the two sides do

  private void connectBoth() {
    rollout.envoyConnected(1, envoy);
    rollout.processorConnected("", now);
  }

  private void settle() {
    envoyTakesTarget();
    RoutingConfiguration next = rollout.processorNext(now);
    if (next != null) {
      send(next);
    }
    if (!sentVersion.isEmpty()) {
      processorAcknowledges();
    }
    envoyTakesTarget();
  }

  private List<String> target() {
    GatewayRollout.Target target = rollout.envoyTarget(now);
    return target == null
        ? List.of()
        : target.model().pools().stream().map(GatewayRolloutTest::line).toList();
  }

  private boolean keepsUnknown() {
    GatewayRollout.Target target = rollout.envoyTarget(now);
    return target != null && target.keepUnknown();
  }

  private void envoyTakesTarget() {
    GatewayRollout.Target target = rollout.envoyTarget(now);
    if (target != null) {
      envoy.take(target.model());
    }
  }

  private @Nullable RoutingConfiguration processorGets() {
    RoutingConfiguration next = rollout.processorNext(now);
    if (next != null) {
      send(next);
    }
    return next;
  }

  private @Nullable RoutingConfiguration sent;

  private void send(RoutingConfiguration routing) {
    sent = routing;
    sentVersion = RoutingConfigurationCodec.version(routing);
    rollout.processorSent(sentVersion, routing, now);
    // A processor may use a configuration before its acknowledgement arrives.
    inForce = routing;
  }

  private void processorAcknowledges() {
    rollout.processorAcknowledged(sentVersion);
    inForce = sent;
  }

  private void passes(Duration time) {
    now += time.toNanos();
  }

  private static final class Envoy implements EnvoyView {
    final Map<String, Set<String>> clusters = new TreeMap<>();
    final Map<String, String> refuses = new HashMap<>();

    void take(String cluster, String... workers) {
      Set<String> hostPorts = new HashSet<>();
      for (String worker : workers) {
        hostPorts.add("10.0.0." + worker + ":8000");
      }
      clusters.put(cluster, hostPorts);
    }

    void take(GatewayModel model) {
      clusters.clear();
      model
          .pools()
          .forEach(pool ->
              clusters.put(
                  pool.name(),
                  new HashSet<>(pool.endpoints().stream().map(Endpoint::hostPort).toList())));
    }

    /** Removals may arrive before additions are acknowledged. */
    void dropWhatIsNotIn(GatewayModel model) {
      Map<String, Set<String>> there = new HashMap<>();
      model
          .pools()
          .forEach(pool ->
              there.put(
                  pool.name(),
                  new HashSet<>(pool.endpoints().stream().map(Endpoint::hostPort).toList())));
      clusters.keySet().retainAll(there.keySet());
      clusters.forEach((name, hosts) -> hosts.retainAll(there.getOrDefault(name, Set.of())));
    }

    @Override
    public boolean hasCluster(String name) {
      return clusters.containsKey(name);
    }

    @Override
    public Set<String> endpoints(String cluster) {
      return clusters.getOrDefault(cluster, Set.of());
    }

    @Override
    public @Nullable String refusal(String cluster) {
      return refuses.get(cluster);
    }
  }

  // Values

  private static Desired desired(Map<String, List<String>> pools) {
    List<PoolCluster> clusters = new ArrayList<>();
    List<RoutingConfiguration.WorkerSet> sets = new ArrayList<>();
    List<RoutingConfiguration.Pool> routed = new ArrayList<>();
    new TreeMap<>(pools)
        .forEach((name, workers) -> {
          String cluster = GatewayNames.poolCluster("default", name);
          RoutingConfiguration.Id id = new RoutingConfiguration.Id("default", name, 1);
          List<Endpoint> endpoints = new ArrayList<>();
          List<Worker> routedWorkers = new ArrayList<>();
          for (String worker : workers) {
            String address = "10.0.0." + worker;
            endpoints.add(new Endpoint(address, 8000, Endpoint.Health.HEALTHY));
            routedWorkers.add(new Worker(worker, address, 8000, "", Worker.State.READY));
          }
          clusters.add(
              new PoolCluster(new Resource.Key(Kind.POOL, "default", name), cluster, endpoints));
          sets.add(
              new RoutingConfiguration.WorkerSet(
                  id,
                  WorkerSetSpec.Engine.vLLM,
                  new WorkerSetSpec.Metrics("/metrics", Duration.ofSeconds(1)),
                  new WorkerSetSpec.KvEvents(WorkerSetSpec.KvEvents.Mode.Off, 5557, null, 1),
                  new WorkerSetSpec.Profile(null, null, null, null),
                  routedWorkers));
          routed.add(
              new RoutingConfiguration.Pool(
                  id,
                  new PoolSpec(
                      "m",
                      List.of(new LocalRef(name)),
                      new PoolSpec.Objective(Duration.ofSeconds(8), 0.9),
                      new PoolSpec.Routing(PoolSpec.Algorithm.PredictedTTFT),
                      new PoolSpec.Limits(64),
                      null),
                  cluster));
        });
    return new Desired(
        new GatewayModel(clusters, List.of(), List.of(), List.of()),
        new RoutingConfiguration(
            sets, routed, List.of(), List.of(), List.of(), List.of(), List.of()));
  }

  private static String line(PoolCluster pool) {
    StringBuilder text = new StringBuilder(pool.name());
    for (Endpoint endpoint : pool.endpoints()) {
      text.append(' ').append(endpoint.address().substring("10.0.0.".length()));
      if (endpoint.health() == Endpoint.Health.DRAINING) {
        text.append("-draining");
      }
    }
    return text.toString();
  }

  private static String line(String cluster, List<String> workers) {
    return workers.isEmpty() ? cluster : cluster + " " + String.join(" ", workers);
  }

  private static List<String> pools(@Nullable RoutingConfiguration routing) {
    assertThat(routing).isNotNull();
    List<String> lines = new ArrayList<>();
    if (routing != null) {
      for (RoutingConfiguration.Pool pool : routing.pools()) {
        List<String> workers = new ArrayList<>();
        for (LocalRef reference : pool.spec().workerSets()) {
          RoutingConfiguration.WorkerSet set = routing.workerSet("default", reference.name());
          if (set != null) {
            set.workers().forEach(worker -> workers.add(worker.name()));
          }
        }
        lines.add(line(pool.clusterName(), workers));
      }
    }
    return lines;
  }
}
