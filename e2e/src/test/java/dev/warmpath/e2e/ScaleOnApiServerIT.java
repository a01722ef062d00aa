package dev.warmpath.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.warmpath.benchmarks.control.Fleet;
import dev.warmpath.e2e.support.KubeApi;
import dev.warmpath.e2e.support.WireClient;
import dev.warmpath.envoy.Address;
import dev.warmpath.envoy.BootstrapOptions;
import dev.warmpath.envoy.EnvoyBinary;
import dev.warmpath.envoy.EnvoyProcess;
import dev.warmpath.xds.XdsServer;
import dev.warmpath.xds.XdsServerOptions;
import dev.warmpath.xds.kubernetes.KubernetesSource;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Two thousand custom resources and a thousand workers on a real API server, with a real Envoy.
 * Counts and the heap are asserted; times are logged.
 */
class ScaleOnApiServerIT {
  private static final Logger log = LoggerFactory.getLogger(ScaleOnApiServerIT.class);
  private static final Duration PATIENCE = Duration.ofMinutes(4);
  private static final Fleet FLEET = Fleet.ofTwoThousand();

  /** Requests under way to the API server; it takes no more of one client by default. */
  private static final int WRITERS = 16;

  @Test
  void one_more_worker_is_one_resource_on_the_wire() throws Exception {
    KubeApi api = KubeApi.withCrds();
    String namespace = api.newNamespace();
    create(api.admin(), namespace);
    Path run = Files.createTempDirectory("wp");
    Path socket = run.resolve(BootstrapOptions.XDS_SOCKET);
    long start = System.nanoTime();
    try (XdsServer server =
        XdsServer.start(
            XdsServerOptions.standalone(run, socket),
            new KubernetesSource(api.newAdmin(), namespace))) {
      assertThat(server.awaitReady(PATIENCE)).isTrue();
      log.info("{} resources ready after {} ms", FLEET.resources(), millisSince(start));
      assertThat(server.resources()).hasSize(FLEET.resources());
      assertThat(server.problems()).isEmpty();
      BootstrapOptions bootstrap =
          BootstrapOptions.local("scale", new Address.Tcp("127.0.0.1", 0), run);
      long attached = System.nanoTime();
      try (EnvoyProcess envoy =
          EnvoyProcess.start(
              new EnvoyProcess.Options(EnvoyBinary.find(), bootstrap, run, 1, "error"), PATIENCE)) {
        await("Envoy has all endpoints")
            .atMost(PATIENCE)
            .until(() -> counter(server, "acks", "ENDPOINT") > 0 && isQuiet(server));
        log.info("all of it at Envoy after {} ms", millisSince(attached));
        assertThat(counter(server, "resources", "ENDPOINT")).isEqualTo(FLEET.pools());
        assertThat(counter(server, "resources", "CLUSTER")).isEqualTo(FLEET.pools());

        for (int pool = 7; pool < 12; pool++) {
          double before = resources(server);
          long written = System.nanoTime();
          api.admin().resource(FLEET.workerSet(pool, 1)).inNamespace(namespace).update();
          await("the change is at Envoy")
              .atMost(PATIENCE)
              .pollInterval(Duration.ofMillis(5))
              .until(() -> resources(server) > before && isQuiet(server));
          log.info("one more worker at Envoy after {} ms", millisSince(written));
          assertThat(resources(server) - before).as("resources on the wire").isEqualTo(1);
        }
        assertThat(envoy.isAlive()).isTrue();
      }
      System.gc();
      long heapMegabytes = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() >> 20;
      log.info("heap {} MB", heapMegabytes);
      assertThat(heapMegabytes).as("heap in megabytes, this test included").isLessThan(300);
    }
  }

  private static void create(KubernetesClient admin, String namespace) throws Exception {
    List<String> objects = new ArrayList<>();
    for (int i = 0; i < FLEET.pools(); i++) {
      objects.addAll(List.of(FLEET.workerSet(i, 0), FLEET.pool(i), FLEET.backend(i)));
    }
    try (ExecutorService writers = Executors.newFixedThreadPool(WRITERS)) {
      List<Future<?>> written = new ArrayList<>();
      for (String object : objects) {
        written.add(writers.submit(() -> admin.resource(object).inNamespace(namespace).create()));
      }
      for (Future<?> one : written) {
        one.get();
      }
    }
  }

  private static double resources(XdsServer server) throws Exception {
    return counter(server, "resources", "ENDPOINT") + counter(server, "resources", "CLUSTER");
  }

  private static boolean isQuiet(XdsServer server) throws Exception {
    return counter(server, "responses", "ENDPOINT") == counter(server, "acks", "ENDPOINT")
        && counter(server, "responses", "CLUSTER") == counter(server, "acks", "CLUSTER");
  }

  private static double counter(XdsServer server, String name, String type) throws Exception {
    String line = "warmpath_xds_" + name + "_total{type=\"" + type + "\"} ";
    return WireClient.get(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), server.adminPort()), "/metrics")
        .text()
        .lines()
        .filter(text -> text.startsWith(line))
        .mapToDouble(text -> Double.parseDouble(text.substring(line.length())))
        .findFirst()
        .orElse(0);
  }

  private static long millisSince(long nanos) {
    return Duration.ofNanos(System.nanoTime() - nanos).toMillis();
  }
}
