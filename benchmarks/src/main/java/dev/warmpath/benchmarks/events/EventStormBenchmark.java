package dev.warmpath.benchmarks.events;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.v1alpha1.LocalRef;
import dev.warmpath.crds.v1alpha1.PoolSpec;
import dev.warmpath.crds.v1alpha1.WorkerSetSpec;
import dev.warmpath.extproc.kvevents.EventCounts;
import dev.warmpath.extproc.kvevents.KvEventSubscriber;
import dev.warmpath.extproc.route.CacheEvents;
import dev.warmpath.extproc.route.PoolRouter;
import dev.warmpath.simulator.Simulator;
import dev.warmpath.simulator.SimulatorOptions;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * A simulated worker tells of its cache a hundred times as fast as one L40S fills it, in both
 * encodings, with gaps, duplicates and unknown things; the subscriber's thread is measured. What
 * the ZeroMQ threads use is not in it: they serve the publisher in the same process, too.
 */
@Command(
    name = "events",
    mixinStandardHelpOptions = true,
    description = "CPU of the subscriber for each 1,000 blocks in a storm of cache events.")
public final class EventStormBenchmark implements Callable<Integer> {
  private static final int BLOCKS_PER_BATCH = 64;

  /** 2,600 prompt tokens a second in blocks of 16, a hundred times. */
  private static final int BATCHES_PER_SECOND = 250;

  private static final long LONGEST_NANOS = Duration.ofMinutes(2).toNanos();
  private static final long POLL_NANOS = Duration.ofMillis(50).toNanos();

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--batches",
      defaultValue = "2500",
      description = "Batches of 64 blocks. Default ${DEFAULT-VALUE}.")
  private int batches;

  @Override
  public Integer call() throws InterruptedException, IOException {
    PoolRouter router =
        new PoolRouter(
            16L << 20, System::nanoTime, InstantSource.system(), new SplittableRandom(1));
    EventCounts counts = new EventCounts();
    try (Simulator engine =
            Simulator.start(
                SimulatorOptions.defaults()
                    .withProfile("tiny")
                    .withServedModelNames("tiny")
                    .withKvEvents(SimulatorOptions.KvEventOptions.defaults()));
        KvEventSubscriber subscriber =
            new KvEventSubscriber(new CacheEvents(router), counts, System::nanoTime)) {
      RoutingConfiguration configuration = configuration(engine.uri());
      router.apply(configuration, "1");
      subscriber.configure(configuration);
      storm(engine.uri(), batches / 5);
      await(counts, batches / 5);
      long blocks = counts.of(EventCounts.Event.STORED);
      long applied = counts.of(EventCounts.Event.APPLIED);
      long cpu = cpuNanos();
      storm(engine.uri(), batches);
      boolean whole = await(counts, applied + batches);
      print(router, counts, counts.of(EventCounts.Event.STORED) - blocks, cpuNanos() - cpu);
      return whole && counts.of(EventCounts.Event.UNDECODABLE) == 0 ? 0 : 1;
    }
  }

  private void print(PoolRouter router, EventCounts counts, long blocks, long cpuNanos) {
    PrintWriter out = spec.commandLine().getOut();
    out.printf(
        "CPU for 1,000 blocks %.3f ms over %d blocks; ledger %.1f MB%n",
        cpuNanos * 1e-6 / (blocks * 1e-3),
        blocks,
        router.workers().getFirst().cacheLedgerBytes() / 1048576.0);
    for (EventCounts.Event event : EventCounts.Event.values()) {
      if (counts.of(event) > 0) {
        out.printf("  %-14s %d%n", event.label(), counts.of(event));
      }
    }
    out.flush();
  }

  private static boolean await(EventCounts counts, long applied) {
    long start = System.nanoTime();
    while (counts.of(EventCounts.Event.APPLIED) < applied) {
      if (System.nanoTime() - start > LONGEST_NANOS) {
        return false;
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
    return true;
  }

  private static long cpuNanos() {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    for (ThreadInfo thread : threads.getThreadInfo(threads.getAllThreadIds())) {
      if (thread != null && thread.getThreadName().equals("kv-events w0")) {
        return threads.getThreadCpuTime(thread.getThreadId());
      }
    }
    throw new IllegalStateException("the subscriber has no thread");
  }

  private static void storm(URI engine, int batches) throws IOException, InterruptedException {
    String plan =
        "{\"kind\":\"event_storm\",\"gap_every\":50,\"duplicate_every\":20,\"unknown\":true,"
            + "\"both_encodings\":true,\"blocks_per_batch\":"
            + BLOCKS_PER_BATCH
            + ",\"batches_per_second\":"
            + BATCHES_PER_SECOND
            + ",\"batches\":"
            + batches
            + "}";
    try (HttpClient http = HttpClient.newHttpClient()) {
      HttpResponse<String> response =
          http.send(
              HttpRequest.newBuilder(engine.resolve("/_sim/fault"))
                  .header("content-type", "application/json")
                  .POST(HttpRequest.BodyPublishers.ofString(plan))
                  .build(),
              HttpResponse.BodyHandlers.ofString());
      if (response.statusCode() != 200) {
        throw new IOException("the simulator answered " + response.body());
      }
    }
  }

  private static RoutingConfiguration configuration(URI engine) {
    return new RoutingConfiguration(
        List.of(
            new RoutingConfiguration.WorkerSet(
                new RoutingConfiguration.Id("bench", "set", 1),
                WorkerSetSpec.Engine.vLLM,
                new WorkerSetSpec.Metrics("/metrics", Duration.ofSeconds(1)),
                new WorkerSetSpec.KvEvents(WorkerSetSpec.KvEvents.Mode.ZMQ, 5557, null, 1),
                new WorkerSetSpec.Profile(null, null, null, null),
                List.of(
                    new RoutingConfiguration.Worker(
                        "w0",
                        engine.getHost(),
                        engine.getPort(),
                        "",
                        RoutingConfiguration.Worker.State.READY)))),
        List.of(
            new RoutingConfiguration.Pool(
                new RoutingConfiguration.Id("bench", "pool", 1),
                new PoolSpec(
                    "tiny",
                    List.of(new LocalRef("set")),
                    new PoolSpec.Objective(Duration.ofSeconds(8), 0.9),
                    new PoolSpec.Routing(PoolSpec.Algorithm.PredictedTTFT),
                    new PoolSpec.Limits(64),
                    null),
                "pool/bench/pool")),
        List.of(),
        List.of(),
        List.of(),
        List.of(),
        List.of());
  }
}
