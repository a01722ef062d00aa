package dev.warmpath.xds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.warmpath.xds.rollout.RolloutTimes;
import dev.warmpath.xds.support.FakeEnvoy;
import dev.warmpath.xds.support.FakeProcessor;
import dev.warmpath.xds.support.Yaml;
import dev.warmpath.xds.translate.XdsType;
import io.envoyproxy.envoy.service.discovery.v3.DeltaDiscoveryRequest;
import io.envoyproxy.envoy.service.discovery.v3.DeltaDiscoveryResponse;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Two thousand resources, a thousand workers, several gateways. Times are logged, not asserted. */
class ScaleIT {
  private static final Logger log = LoggerFactory.getLogger(ScaleIT.class);
  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final int POOLS = 667;

  @TempDir Path folder;

  @Test
  void oneChangedWorkerPutsOneResourceOnTheWire() throws Exception {
    List<String> files = new ArrayList<>();
    for (int i = 0; i < POOLS; i++) {
      files.add(pool(i, 0));
    }
    for (int i = 0; i < POOLS; i++) {
      Files.writeString(folder.resolve("p" + i + ".yaml"), files.get(i));
    }
    long start = System.nanoTime();
    try (XdsServer server = server();
        FakeEnvoy first = new FakeEnvoy(server.port(), "gw-1");
        FakeEnvoy second = new FakeEnvoy(server.port(), "gw-2");
        FakeProcessor processor = new FakeProcessor(server.port(), "gw-1", "")) {
      await()
          .atMost(PATIENCE)
          .untilAsserted(() -> {
            assertThat(first.assignments()).hasSize(POOLS);
            assertThat(second.assignments()).hasSize(POOLS);
            assertThat(processor.last().pools()).hasSize(POOLS);
          });
      log.info("{} resources in {} ms", 3 * POOLS, millisSince(start));
      int before = first.responses().size();
      // A type that nobody serves must not end the stream.
      first.send(DeltaDiscoveryRequest.newBuilder().setTypeUrl("type.googleapis.com/none"));

      start = System.nanoTime();
      long control = cpuMillis("xds-control");
      long source = cpuMillis("directory-source");
      write("p7.yaml", pool(7, 1));
      await().atMost(PATIENCE).until(() -> first.responses().size() > before);
      log.info("one changed worker at Envoy after {} ms", millisSince(start));

      DeltaDiscoveryResponse change = first.responses().get(before);
      assertThat(change.getTypeUrl()).isEqualTo(XdsType.ENDPOINT.url());
      assertThat(change.getResourcesList())
          .singleElement()
          .satisfies(resource -> assertThat(resource.getName()).isEqualTo("pool/default/p7"));
      await()
          .atMost(PATIENCE)
          .untilAsserted(() ->
              assertThat(processor.last().workerSet("default", "p7"))
                  .isNotNull()
                  .satisfies(
                      set -> assertThat(set.workers().getFirst().address()).isEqualTo("10.1.0.7")));
      log.info("and at the processor after {} ms", millisSince(start));
      log.info(
          "CPU of the change: {} ms to read and parse, {} ms to plan and serve",
          cpuMillis("directory-source") - source,
          cpuMillis("xds-control") - control);
      System.gc();
      long heapMegabytes = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() >> 20;
      log.info("heap {} MB", heapMegabytes);
      assertThat(heapMegabytes)
          .as("heap in megabytes, the three clients of this test included")
          .isLessThan(300);
      log.info("problems {}", server.problems().stream().limit(3).toList());
    }
  }

  private static String pool(int i, int change) {
    String address = "10." + change + "." + i / 250 + "." + i % 250;
    return i % 2 == 0
        ? Yaml.served("p" + i, address + ":8000")
        : Yaml.served("p" + i, address + ":8000", address + ":8001");
  }

  private XdsServer server() throws IOException {
    return XdsServer.start(
        XdsServerOptions.standalone(folder, folder.resolve("ads.sock"))
            .withListen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .withTimes(RolloutTimes.defaults()));
  }

  private void write(String file, String text) throws IOException {
    Path temporary = folder.resolve(file + ".new");
    Files.writeString(temporary, text);
    Files.move(
        temporary,
        folder.resolve(file),
        java.nio.file.StandardCopyOption.REPLACE_EXISTING,
        java.nio.file.StandardCopyOption.ATOMIC_MOVE);
  }

  private static long cpuMillis(String threadName) {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long nanos = 0;
    for (ThreadInfo info : threads.getThreadInfo(threads.getAllThreadIds())) {
      if (info != null && info.getThreadName().equals(threadName)) {
        nanos += threads.getThreadCpuTime(info.getThreadId());
      }
    }
    return Duration.ofNanos(nanos).toMillis();
  }

  private static long millisSince(long nanos) {
    return Duration.ofNanos(System.nanoTime() - nanos).toMillis();
  }
}
