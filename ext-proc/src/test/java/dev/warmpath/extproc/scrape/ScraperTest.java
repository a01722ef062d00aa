package dev.warmpath.extproc.scrape;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.v1alpha1.WorkerSetSpec;
import dev.warmpath.extproc.candidate.WorkerGauges;
import dev.warmpath.extproc.candidate.WorkerId;
import dev.warmpath.extproc.telemetry.GatewayMetrics;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The scraper against a worker on a real socket. */
class ScraperTest {
  private static final WorkerId WORKER = new WorkerId("default", "set", "w0", "");

  private final Queue<WorkerGauges> gauges = new ConcurrentLinkedQueue<>();
  private final Queue<String> events = new ConcurrentLinkedQueue<>();
  private final ScheduledExecutorService scheduler = Executors.newSingleThreadScheduledExecutor();
  private final Scraper scraper =
      new Scraper(
          scheduler,
          new Recorder(),
          System::nanoTime,
          new SplittableRandom(1),
          new GatewayMetrics());
  private volatile String page = page(3, 1_000);
  private volatile int status = 200;
  private HttpServer worker;

  @BeforeEach
  void start() throws IOException {
    worker = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    worker.createContext(
        "/metrics",
        exchange -> {
          try (exchange) {
            byte[] body = page.getBytes(UTF_8);
            exchange.sendResponseHeaders(status, body.length);
            exchange.getResponseBody().write(body);
          }
        });
    worker.start();
  }

  @AfterEach
  void stop() {
    scraper.close();
    worker.stop(0);
    scheduler.shutdownNow();
  }

  @Test
  void gaugesArriveAgainAndAgain() {
    scraper.configure(configuration(WorkerSetSpec.Engine.vLLM));

    await().untilAsserted(() -> assertThat(gauges).hasSizeGreaterThan(2));

    assertThat(gauges.element().running()).isEqualTo(3);
    assertThat(gauges.element().waiting()).isNull();
  }

  @Test
  void newProcessAndFailuresAreTold() {
    scraper.configure(configuration(WorkerSetSpec.Engine.vLLM));
    await().untilAsserted(() -> assertThat(gauges).isNotEmpty());

    page = page(0, 2_000);
    await().untilAsserted(() -> assertThat(events).contains("restarted"));
    status = 500;
    await().untilAsserted(() -> assertThat(events).contains("unreachable"));
    assertThat(events).doesNotContain("refused");
    worker.stop(0);
    await().untilAsserted(() -> assertThat(events).contains("refused"));
  }

  @Test
  void workerThatIsConfiguredNoMoreIsLeftAlone() throws Exception {
    scraper.configure(configuration(WorkerSetSpec.Engine.vLLM));
    await().untilAsserted(() -> assertThat(gauges).isNotEmpty());

    scraper.configure(RoutingConfiguration.empty());
    scheduler.submit(() -> {}).get(); // behind the reconfiguration
    gauges.clear();

    // Everything that was scheduled has run when a later scraper has seen three pages.
    Queue<WorkerGauges> later = new ConcurrentLinkedQueue<>();
    try (Scraper other =
        new Scraper(
            scheduler,
            new Recorder() {
              @Override
              public void scraped(WorkerId id, WorkerGauges fresh) {
                later.add(fresh);
              }
            },
            System::nanoTime,
            new SplittableRandom(1),
            new GatewayMetrics())) {
      other.configure(configuration(WorkerSetSpec.Engine.vLLM));
      await().untilAsserted(() -> assertThat(later).hasSizeGreaterThan(2));
    }
    assertThat(gauges).isEmpty();
  }

  @Test
  void engineWithoutMetricsIsNotAsked() {
    assertThat(ScrapeTarget.of(configuration(WorkerSetSpec.Engine.OpenAICompatible))).isEmpty();
  }

  private static String page(int running, int processStart) {
    return "vllm:num_requests_running{model_name=\"m\"} %d\nprocess_start_time_seconds %d\n"
        .formatted(running, processStart);
  }

  private RoutingConfiguration configuration(WorkerSetSpec.Engine engine) {
    RoutingConfiguration.Worker address =
        new RoutingConfiguration.Worker(
            "w0",
            "127.0.0.1",
            worker.getAddress().getPort(),
            "",
            RoutingConfiguration.Worker.State.READY);
    return new RoutingConfiguration(
        List.of(
            new RoutingConfiguration.WorkerSet(
                new RoutingConfiguration.Id("default", "set", 1),
                engine,
                new WorkerSetSpec.Metrics("/metrics", Duration.ofMillis(20)),
                new WorkerSetSpec.KvEvents(WorkerSetSpec.KvEvents.Mode.Off, 1, null, 1),
                new WorkerSetSpec.Profile(null, null, null, null),
                List.of(address))),
        List.of(),
        List.of(),
        List.of(),
        List.of(),
        List.of(),
        List.of());
  }

  private class Recorder implements GaugeSink {
    @Override
    public void scraped(WorkerId id, WorkerGauges fresh) {
      assertThat(id).isEqualTo(WORKER);
      gauges.add(fresh);
    }

    @Override
    public void unreachable(WorkerId id) {
      events.add("unreachable");
    }

    @Override
    public void refused(WorkerId id) {
      events.add("refused");
    }

    @Override
    public void restarted(WorkerId id) {
      events.add("restarted");
    }
  }
}
