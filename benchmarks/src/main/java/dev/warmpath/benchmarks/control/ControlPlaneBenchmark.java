package dev.warmpath.benchmarks.control;

import dev.warmpath.envoy.Address;
import dev.warmpath.envoy.BootstrapOptions;
import dev.warmpath.envoy.EnvoyBinary;
import dev.warmpath.envoy.EnvoyProcess;
import dev.warmpath.xds.XdsServer;
import dev.warmpath.xds.XdsServerOptions;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.json.JsonMapper;

/**
 * {@code warmpath bench control-plane}: a folder of many resources, the control plane, a
 * processor's routing stream and a real Envoy. One worker's address is changed again and again;
 * beside it, as what a protocol without deltas would do at each change, all of them at once.
 */
@Command(
    name = "control-plane",
    mixinStandardHelpOptions = true,
    description =
        "How long the control plane takes to start, and one changed worker to reach Envoy.",
    footerHeading = "%nExample:%n",
    footer = "  warmpath bench control-plane --json")
public final class ControlPlaneBenchmark implements Callable<Integer> {
  private static final Duration PATIENCE = Duration.ofMinutes(5);
  private static final String NODE = "bench";

  @Option(
      names = "--pools",
      description = "Pools, each with a worker set and a backend (default: ${DEFAULT-VALUE}).")
  private int pools = Fleet.ofTwoThousand().pools();

  @Option(
      names = "--changes",
      description = "Changes of one worker each (default: ${DEFAULT-VALUE}).")
  private int changes = 50;

  @Option(names = "--json", description = "Print JSON.")
  private boolean json;

  /**
   * What it took to bring something to Envoy.
   *
   * @param resources on the wire
   * @param kilobytes on the wire
   * @param envoyMs until Envoy has acknowledged the last of them
   */
  private record Push(double resources, double kilobytes, double envoyMs, double processorMs) {}

  @Override
  public Integer call() throws Exception {
    Path folder = Files.createTempDirectory("warmpath-bench-");
    try {
      print(measure(folder));
    } finally {
      try (Stream<Path> all = Files.walk(folder)) {
        for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
          Files.deleteIfExists(path);
        }
      }
    }
    return 0;
  }

  private Map<String, Object> measure(Path folder) throws Exception {
    Fleet fleet = new Fleet(pools);
    Path config = Files.createDirectory(folder.resolve("config"));
    for (int i = 0; i < pools; i++) {
      Files.writeString(config.resolve(Fleet.name(i) + ".yaml"), fleet.file(i, 0));
    }
    Path socket = folder.resolve(BootstrapOptions.XDS_SOCKET);
    Map<String, Object> report = new LinkedHashMap<>();
    report.put("resources", fleet.resources());
    report.put("workers", fleet.workers());
    long start = System.nanoTime();
    try (XdsServer server = XdsServer.start(XdsServerOptions.standalone(config, socket))) {
      if (!server.awaitReady(PATIENCE)) {
        throw new IllegalStateException("not ready within " + PATIENCE);
      }
      report.put("readyMs", millisSince(start));
      Wire wire = new Wire(server.adminPort());
      long attached = System.nanoTime();
      try (RoutingListener processor = new RoutingListener(socket, NODE, folder);
          EnvoyProcess envoy = envoy(folder)) {
        wire.await(w -> w.acknowledged() >= 2.0 * pools, PATIENCE);
        report.put("attachedMs", millisSince(attached));
        Wire.Counts all = wire.read();
        report.put("startResources", all.resources());
        report.put("startKilobytes", all.kilobytes());
        List<Push> single = new ArrayList<>();
        for (int i = 1; i <= changes; i++) {
          int pool = i * 7 % pools;
          String text = fleet.file(pool, 1);
          single.add(push(wire, processor, 1, () -> write(config, pool, text)));
        }
        report.put("oneWorker", summary(single));
        Push full =
            push(
                wire,
                processor,
                pools,
                () -> {
                  for (int i = 0; i < pools; i++) {
                    write(config, i, fleet.file(i, 2));
                  }
                });
        report.put("allWorkers", summary(List.of(full)));
        report.put("envoyAlive", envoy.isAlive());
      }
      System.gc();
      report.put(
          "heapMegabytes",
          ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() >> 20);
    }
    return report;
  }

  private static EnvoyProcess envoy(Path folder) throws IOException, InterruptedException {
    BootstrapOptions bootstrap =
        BootstrapOptions.local(NODE, new Address.Tcp("127.0.0.1", 0), folder);
    return EnvoyProcess.start(
        new EnvoyProcess.Options(EnvoyBinary.find(), bootstrap, folder, 1, "error"), PATIENCE);
  }

  private interface Change {
    void make() throws IOException;
  }

  private static Push push(Wire wire, RoutingListener processor, int resources, Change change)
      throws Exception {
    Wire.Counts before = wire.read();
    int configurations = processor.received();
    long start = System.nanoTime();
    change.make();
    wire.await(w -> w.resources() - before.resources() >= resources && w.isQuiet(), PATIENCE);
    double envoyMs = millisSince(start);
    processor.awaitMoreThan(configurations, PATIENCE);
    double processorMs = millisSince(start);
    Wire.Counts after = wire.read();
    return new Push(
        after.resources() - before.resources(),
        after.kilobytes() - before.kilobytes(),
        envoyMs,
        processorMs);
  }

  private static Map<String, Object> summary(List<Push> pushes) {
    Map<String, Object> summary = new LinkedHashMap<>();
    summary.put("pushes", pushes.size());
    summary.put("resourcesMax", pushes.stream().mapToDouble(Push::resources).max().orElseThrow());
    summary.put("kilobytesMax", pushes.stream().mapToDouble(Push::kilobytes).max().orElseThrow());
    summary.put("envoyFirstMs", pushes.getFirst().envoyMs());
    double[] envoy = pushes.stream().mapToDouble(Push::envoyMs).sorted().toArray();
    summary.put("envoyMedianMs", envoy[envoy.length / 2]);
    summary.put("envoyP90Ms", envoy[envoy.length * 9 / 10]);
    summary.put("envoyMaxMs", envoy[envoy.length - 1]);
    double[] processor = pushes.stream().mapToDouble(Push::processorMs).sorted().toArray();
    summary.put("processorMedianMs", processor[processor.length / 2]);
    return summary;
  }

  private static void write(Path config, int pool, String text) throws IOException {
    Path draft = config.resolveSibling("draft");
    Files.writeString(draft, text);
    Files.move(
        draft,
        config.resolve(Fleet.name(pool) + ".yaml"),
        StandardCopyOption.ATOMIC_MOVE,
        StandardCopyOption.REPLACE_EXISTING);
  }

  private void print(Map<String, Object> report) {
    if (json) {
      System.out.println(JsonMapper.builder().build().writeValueAsString(report));
      return;
    }
    report.forEach((name, value) -> {
      if (value instanceof Map<?, ?> map) {
        System.out.println(name);
        map.forEach((key, item) -> System.out.println("  " + key + ": " + text(item)));
      } else {
        System.out.println(name + ": " + text(value));
      }
    });
  }

  private static String text(Object value) {
    return value instanceof Double number
        ? String.format(Locale.ROOT, "%.1f", number)
        : value.toString();
  }

  private static double millisSince(long nanos) {
    return (System.nanoTime() - nanos) / 1e6;
  }
}
