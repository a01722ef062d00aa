package dev.warmpath.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.warmpath.e2e.support.KubeNamespace;
import dev.warmpath.e2e.support.ManagedProcess;
import dev.warmpath.e2e.support.Metrics;
import dev.warmpath.e2e.support.Ports;
import dev.warmpath.e2e.support.ScriptedWorker;
import dev.warmpath.e2e.support.SlowStream;
import dev.warmpath.e2e.support.Stack;
import dev.warmpath.e2e.support.StreamLoad;
import dev.warmpath.e2e.support.TcpSwitch;
import dev.warmpath.e2e.support.WireClient;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two replicas of the control plane: both serve gateways, one writes status, either may die. */
class KubernetesReplicasE2E {

  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int STREAMS = 20;
  private static final String MANAGER = "warmpath-xds-server";

  private static KubeNamespace namespace;
  private static ScriptedWorker worker;
  private static ScriptedWorker late;
  private static TcpSwitch service;
  private static Stack stack;
  private static final List<Replica> replicas = new ArrayList<>();

  /** One replica at its addresses; the process is another one after a restart. */
  private static final class Replica {
    private final String name;
    private final InetSocketAddress xds = loopback();
    private final InetSocketAddress admin = loopback();
    private ManagedProcess process;

    Replica(String name) throws IOException {
      this.name = name;
      process = startProcess();
    }

    void start() throws IOException {
      process = startProcess();
    }

    private ManagedProcess startProcess() throws IOException {
      ManagedProcess started = stack.startReplica(name, xds, admin);
      await(name + " is ready")
          .atMost(PATIENCE)
          .ignoreExceptions()
          .until(() -> WireClient.get(admin, "/readyz").status() == 200);
      return started;
    }

    boolean isLeader() throws IOException {
      return process.isAlive() && metric("warmpath_xds_leader") == 1;
    }

    double gateways() throws IOException {
      return metric("warmpath_xds_gateways");
    }

    double writes() throws IOException {
      return Metrics.scrape(admin).sum("warmpath_xds_status_writes_total").orElse(0);
    }

    private double metric(String metric) throws IOException {
      return Metrics.scrape(admin).sum(metric).orElseThrow();
    }

    private static InetSocketAddress loopback() {
      return new InetSocketAddress(InetAddress.getLoopbackAddress(), Ports.free());
    }
  }

  @BeforeAll
  static void start(@TempDir Path folder) throws IOException, InterruptedException {
    namespace = KubeNamespace.create();
    worker = ScriptedWorker.start("tiny", KubeNamespace.address(), SlowStream.brief());
    late = ScriptedWorker.start("tiny", KubeNamespace.address(), SlowStream.brief());
    namespace.endpoint("tiny", "first", worker);
    namespace.served("tiny", "tiny");
    service = new TcpSwitch();
    Path account = namespace.controlPlaneAccount(folder, namespace.api().address());
    stack = Stack.behind(service, folder, namespace.name(), account);
    for (String name : List.of("xds-a", "xds-b")) {
      Replica replica = new Replica(name);
      replicas.add(replica);
    }
    await("a leader").atMost(PATIENCE).until(() -> leaders().size() == 1);
    service.targets(replicas.get(0).xds, replicas.get(1).xds);
    stack.startGateway();
  }

  @AfterAll
  static void stop() throws IOException {
    stack.close();
    service.close();
    worker.close();
    late.close();
    replicas.clear();
  }

  private static List<Replica> leaders() throws IOException {
    List<Replica> leaders = new ArrayList<>();
    for (Replica replica : replicas) {
      if (replica.isLeader()) {
        leaders.add(replica);
      }
    }
    return leaders;
  }

  private static Replica leader() throws IOException {
    return leaders().getFirst();
  }

  private static Replica follower() throws IOException {
    Replica leader = leader();
    return replicas.stream().filter(replica -> replica != leader).findFirst().orElseThrow();
  }

  private static String extra() {
    return namespace.condition("GatewayBackend", "extra", "Programmed");
  }

  private static void edit(String model) {
    namespace.apply(
        """
        apiVersion: inference.warmpath.dev/v1alpha1
        kind: GatewayBackend
        metadata: {name: extra}
        spec:
          models: [%s]
          pool: {name: tiny}
        """
            .formatted(model));
  }

  private static boolean serves(String model) throws IOException {
    return WireClient.get(stack.gateway(), "/v1/models").text().contains("\"" + model + "\"");
  }

  @Test
  void the_leader_writes_status_for_the_gateway_of_the_other_and_its_death_costs_nothing()
      throws Exception {
    // The gateway goes to the replica that does not write status.
    Replica follower = follower();
    service.targets(follower.xds, leader().xds);
    service.breakOff();
    await("the gateway is with the follower")
        .atMost(PATIENCE)
        .until(() -> follower.gateways() == 1 && leader().gateways() == 0);
    double before = follower.writes();
    double written = leader().writes();
    edit("extra-0");
    await("the leader knows the other's gateway")
        .atMost(PATIENCE)
        .until(() -> extra().endsWith(": 1 of 1 gateways") && extra().startsWith("True"));
    assertThat(leader().writes()).isGreaterThan(written);
    assertThat(follower.writes()).as("writes by who is not the leader").isEqualTo(before);

    Replica dead = leader();
    try (StreamLoad load = StreamLoad.start(stack.gateway(), STREAMS, StreamLoad::body)) {
      dead.process.kill();
      Replica other = replicas.stream().filter(r -> r != dead).findFirst().orElseThrow();
      edit("extra-1");
      await("the survivor serves changes").atMost(PATIENCE).until(() -> serves("extra-1"));
      await("and is the leader").atMost(PATIENCE).until(other::isLeader);
      await("and writes status")
          .atMost(PATIENCE)
          .until(() -> extra().startsWith("True Programmed: generation 2:"));
      dead.start();
      await("one leader").atMost(PATIENCE).until(() -> leaders().equals(List.of(other)));

      // Now the one that serves the gateway, and writes status besides.
      other.process.kill();
      await("the gateway goes to the other one")
          .atMost(PATIENCE)
          .ignoreExceptions()
          .until(() -> dead.gateways() == 1);
      edit("extra-2");
      await("which serves changes").atMost(PATIENCE).until(() -> serves("extra-2"));
      await("and writes status").atMost(PATIENCE).until(dead::isLeader);
      other.start();
      awaitMoreTraffic(load);
      load.finish();
      assertThat(load.failures().stream().limit(5)).isEmpty();
    }
    assertThat(
            namespace.get("InferencePool", "tiny").getMetadata().getManagedFields().stream()
                .filter(entry -> "status".equals(entry.getSubresource()))
                .map(entry -> entry.getManager()))
        .containsExactly(MANAGER);
  }

  @Test
  void with_all_replicas_away_nothing_is_deleted_and_after_their_return_nothing_is_left_over()
      throws Exception {
    namespace.served("other", "other");
    namespace.endpoint("other", "other", worker);
    await("the other pool serves").atMost(PATIENCE).until(() -> serves("other"));
    try (StreamLoad load = StreamLoad.start(stack.gateway(), STREAMS, StreamLoad::body)) {
      for (Replica replica : replicas) {
        replica.process.kill();
      }
      for (String kind : List.of("GatewayBackend", "InferencePool", "InferenceWorkerSet")) {
        namespace.delete(kind, "other");
      }
      namespace.endpoint("tiny", "late", late);
      awaitMoreTraffic(load);
      assertThat(serves("other")).as("fail static").isTrue();
      assertThat(late.received()).isEmpty();

      for (Replica replica : replicas) {
        replica.start();
      }

      await("what was deleted is gone").atMost(PATIENCE).until(() -> !serves("other"));
      await("no zombie cluster")
          .atMost(PATIENCE)
          .until(() -> !stack.envoyClusters().contains("/other::"));
      await("what came is used").atMost(PATIENCE).until(() -> !late.received().isEmpty());
      assertThat(stack.envoyClusters()).contains("pool/" + namespace.name() + "/tiny::");
      await("one leader").atMost(PATIENCE).until(() -> leaders().size() == 1);
      load.finish();
      assertThat(load.failures().stream().limit(5)).isEmpty();
    } finally {
      namespace.removeEndpoint("late");
    }
  }

  private static void awaitMoreTraffic(StreamLoad load) {
    int before = load.completed();
    await("traffic goes on").atMost(PATIENCE).until(() -> load.completed() > before + STREAMS);
  }
}
