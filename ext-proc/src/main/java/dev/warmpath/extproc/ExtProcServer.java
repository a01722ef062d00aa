package dev.warmpath.extproc;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.extproc.ExtProcOptions.ControlPlane;
import dev.warmpath.extproc.accesslog.AccessLogService;
import dev.warmpath.extproc.admin.AdminServer;
import dev.warmpath.extproc.admin.Readiness;
import dev.warmpath.extproc.candidate.WorkerGauges;
import dev.warmpath.extproc.candidate.WorkerId;
import dev.warmpath.extproc.config.ConfigurationState;
import dev.warmpath.extproc.config.LastGoodFile;
import dev.warmpath.extproc.config.RoutingConfigClient;
import dev.warmpath.extproc.inflight.InFlightRequest;
import dev.warmpath.extproc.kvevents.EventCounts;
import dev.warmpath.extproc.kvevents.KvEventSubscriber;
import dev.warmpath.extproc.label.Classifiers;
import dev.warmpath.extproc.label.WebhookClassifier;
import dev.warmpath.extproc.prompt.Tokenizers;
import dev.warmpath.extproc.queue.WaitingRoom;
import dev.warmpath.extproc.route.CacheEvents;
import dev.warmpath.extproc.route.DecisionLog;
import dev.warmpath.extproc.route.Holding;
import dev.warmpath.extproc.route.PoolRouter;
import dev.warmpath.extproc.route.RoutingPipeline;
import dev.warmpath.extproc.route.WorkerStatus;
import dev.warmpath.extproc.scrape.GaugeSink;
import dev.warmpath.extproc.scrape.Scraper;
import dev.warmpath.extproc.serve.ControlPlaneChannels;
import dev.warmpath.extproc.serve.GrpcListeners;
import dev.warmpath.extproc.serve.UnixChannels;
import dev.warmpath.extproc.stream.BufferBudget;
import dev.warmpath.extproc.stream.DecisionIds;
import dev.warmpath.extproc.stream.DecisionPool;
import dev.warmpath.extproc.stream.ExtProcService;
import dev.warmpath.extproc.stream.StreamContext;
import dev.warmpath.extproc.telemetry.GatewayMetrics;
import dev.warmpath.extproc.telemetry.MetricNames;
import dev.warmpath.extproc.tenant.TenantLimits;
import dev.warmpath.extproc.warmup.WarmUpServer;
import io.grpc.ManagedChannel;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.protobuf.services.HealthStatusManager;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The external processor as one running thing: wiring, top to bottom, closed in reverse. Sockets
 * open at once; {@link #ready} tells when requests may come.
 */
public final class ExtProcServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ExtProcServer.class);

  private static final int DECISION_QUEUE_CAPACITY = 4_096;
  private static final int DECISIONS_REMEMBERED = 2_048;

  /** Share of the heap for the prefix index. */
  private static final int INDEX_HEAP_DIVISOR = 8;

  private static final long MAX_INDEX_BYTES = 512L << 20;

  /** Requests that wait by policy; their bodies count against the buffer budget as well. */
  private static final WaitingRoom.Limits WAITING_LIMITS = new WaitingRoom.Limits(4096, 256L << 20);

  private static final int MAX_CONFIGURATION_BYTES = 64 << 20;
  private static final String LAST_GOOD_NAME = "routing-configuration.json";
  private static final String WARM_UP_SOCKET = "warm-up.sock";

  private final Deque<AutoCloseable> parts = new ArrayDeque<>();
  private final LongSupplier nanoClock = System::nanoTime;
  private final GatewayMetrics metrics = new GatewayMetrics();
  private final Readiness readiness = new Readiness();
  private final HealthStatusManager health = new HealthStatusManager();
  private final PoolRouter router;
  private final Scraper scraper;
  private final KvEventSubscriber events;
  private final Tokenizers tokenizers;
  private final GrpcListeners listeners;
  private final AdminServer admin;

  private ExtProcServer(ExtProcOptions options) throws IOException {
    try {
      router =
          new PoolRouter(
              Math.min(MAX_INDEX_BYTES, Runtime.getRuntime().maxMemory() / INDEX_HEAP_DIVISOR),
              nanoClock,
              InstantSource.system(),
              new SplittableRandom());
      TenantLimits limits = new TenantLimits(nanoClock);
      router.observe(summary -> {
        metrics.ended(summary);
        limits.ended(summary.decisionId(), generated(summary.usage()));
      });
      DecisionLog decisions = new DecisionLog(DECISIONS_REMEMBERED);
      Classifiers classifiers =
          Classifiers.builtInAnd(
              WebhookClassifier.of(options.labelWebhooks(), nanoClock), nanoClock);
      WaitingRoom waitingRoom = new WaitingRoom(WAITING_LIMITS, nanoClock);
      Holding holding = new Holding(waitingRoom, scheduler("waiting-room"), nanoClock);
      RoutingPipeline pipeline =
          new RoutingPipeline(
              router,
              (body, head, tenant) ->
                  classifiers.of(body, head.headers(), head.routeLabels(), tenant),
              decisions,
              InstantSource.system(),
              holding,
              metrics,
              limits);
      tokenizers = new Tokenizers(scheduler("tokenizers"));
      pipeline.tokenizers(tokenizers);
      tokenizers.onChange(router::tokenizersChanged);
      router.tokenizers(tokenizers::problem);
      metrics.gauge(MetricNames.WAITING_REQUESTS, waitingRoom::size);
      metrics.gauge(MetricNames.WAITING_BYTES, waitingRoom::bytes);

      DecisionPool pool =
          closing(new DecisionPool(options.decisionThreads(), DECISION_QUEUE_CAPACITY));
      BufferBudget budget = new BufferBudget(options.maxBufferedBytes());
      ExtProcService extProc =
          new ExtProcService(
              new StreamContext(
                  pipeline,
                  pool,
                  budget,
                  options.maxBodyBytes(),
                  new DecisionIds(new SecureRandom()),
                  nanoClock,
                  metrics));
      AccessLogService accessLog =
          new AccessLogService(pipeline::inFlight, nanoClock, ExtProcServer::wallMicros, metrics);

      EventCounts eventCounts = new EventCounts();
      for (EventCounts.Event event : EventCounts.Event.values()) {
        metrics.counter(MetricNames.KV_EVENTS, "kind", event.label(), () -> eventCounts.of(event));
      }
      events = closing(new KvEventSubscriber(new CacheEvents(router), eventCounts, nanoClock));
      scraper =
          closing(
              new Scraper(
                  scheduler("scrape"),
                  new RouterGauges(router, events),
                  nanoClock,
                  new SplittableRandom(),
                  metrics));
      observe(pool, budget);
      admin =
          closing(
              AdminServer.start(
                  options.adminAddress(), decisions, router::workers, metrics::scrape, readiness));
      health.setStatus("", ServingStatus.NOT_SERVING);
      listeners =
          closing(
              GrpcListeners.start(
                  options.socket(),
                  options.tcpAddress(),
                  options.ioThreads(),
                  options.maxBodyBytes(),
                  List.of(
                      extProc.bind(),
                      accessLog.bindService(),
                      health.getHealthService().bindService())));
      closing(health::enterTerminalState);

      EventLoopGroup clientLoops = UnixChannels.clientLoops();
      closing(() -> clientLoops.shutdownGracefully(0, 1, TimeUnit.SECONDS).await(2_000));
      if (options.controlPlane() != null) {
        subscribe(options, options.controlPlane(), clientLoops);
      }
      warmUp(options, clientLoops);
    } catch (IOException | RuntimeException e) {
      close();
      throw e;
    }
  }

  /** Opens the sockets; returns before the first configuration and the end of the warm-up. */
  public static ExtProcServer start(ExtProcOptions options) throws IOException {
    return new ExtProcServer(options);
  }

  /** Takes a configuration into force, for a processor without a control plane. */
  public void apply(RoutingConfiguration configuration, String version) {
    router.apply(configuration, version);
    tokenizers.configure(configuration);
    router.tokenizersChanged();
    for (RoutingConfiguration.Tenant tenant : configuration.tenants()) {
      if (tenant.spec().budget() != null) {
        LOG.warn(
            "tenant {}/{} has a budget, which is not enforced yet",
            tenant.id().namespace(),
            tenant.id().name());
      }
    }
    scraper.configure(configuration);
    events.configure(configuration);
    readiness.configured();
    announce();
  }

  /** A configuration is in force and the code is warm. */
  public boolean ready() {
    return readiness.ready();
  }

  public InetSocketAddress adminAddress() {
    return admin.address();
  }

  /** Port of the TCP listener, or -1 without one. */
  public int tcpPort() {
    return listeners.tcpPort();
  }

  /** Stops taking requests, lets running decisions end, and stops everything. */
  @Override
  public void close() {
    while (!parts.isEmpty()) {
      try {
        parts.pop().close();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } catch (Exception e) {
        LOG.warn("not closed cleanly", e);
      }
    }
  }

  private void subscribe(ExtProcOptions options, ControlPlane address, EventLoopGroup clientLoops)
      throws IOException {
    ConfigurationState state =
        new ConfigurationState(
            this::apply,
            new LastGoodFile(options.stateDirectory().resolve(LAST_GOOD_NAME)),
            metrics);
    state.restore();
    ManagedChannel channel =
        switch (address) {
          case ControlPlane.UnixSocket unix ->
              UnixChannels.open(unix.path(), clientLoops, MAX_CONFIGURATION_BYTES);
          case ControlPlane.Tcp tcp ->
              ControlPlaneChannels.open(
                  tcp.host(), tcp.port(), tcp.security(), clientLoops, MAX_CONFIGURATION_BYTES);
        };
    RoutingConfigClient client =
        closing(
            new RoutingConfigClient(
                channel,
                options.nodeId(),
                options.nodeCluster(),
                state,
                scheduler("config"),
                new SplittableRandom(),
                metrics));
    client.start();
  }

  private void warmUp(ExtProcOptions options, EventLoopGroup clientLoops) {
    Thread thread =
        new Thread(
            () -> {
              try {
                WarmUpServer.run(
                    options.socket().resolveSibling(WARM_UP_SOCKET), clientLoops, nanoClock);
              } catch (InterruptedException e) {
                return; // closing
              }
              readiness.warm();
              announce();
            },
            "warm-up");
    thread.setDaemon(true);
    closing(() -> {
      thread.interrupt();
      thread.join(2_000);
    });
    thread.start();
  }

  private void announce() {
    if (readiness.ready()) {
      health.setStatus("", ServingStatus.SERVING);
    }
  }

  private void observe(DecisionPool pool, BufferBudget budget) {
    metrics.gauge(MetricNames.READY, () -> readiness.ready() ? 1 : 0);
    metrics.gauge(MetricNames.DECISIONS_QUEUED, pool::queuedDecisions);
    metrics.gauge(MetricNames.BUFFERED_BYTES, budget::usedBytes);
    metrics.gauge(MetricNames.BUFFERED_LIMIT_BYTES, budget::capacityBytes);
    metrics.gauge(MetricNames.LEASES, router::activeLeases);
    metrics.gauge(MetricNames.IN_FLIGHT_PROMPT_TOKENS, router.ledger()::promptTokens);
    metrics.gauge(MetricNames.INDEX_BYTES, router::indexBytes);
    metrics.counter(MetricNames.LEASES_MOVED, router.ledger()::moved);
    metrics.counter(MetricNames.PROMPTS_IN_TOKENS, "exact", "true", () -> router.prompts(true));
    metrics.counter(MetricNames.PROMPTS_IN_TOKENS, "exact", "false", () -> router.prompts(false));
    metrics.counter(MetricNames.LEASES_LEAKED, router.ledger()::leaked);
    metrics.workers(() -> router.workers().stream().map(ExtProcServer::row).toList());
    closing(metrics.observeGarbageCollection());
  }

  private static long generated(InFlightRequest.@Nullable Usage usage) {
    Integer tokens = usage == null ? null : usage.completionTokens();
    return tokens == null ? 0 : tokens;
  }

  private static GatewayMetrics.WorkerRow row(WorkerStatus worker) {
    return new GatewayMetrics.WorkerRow(
        worker.id().toString(),
        worker.queuedPrompts(),
        worker.decoding(),
        worker.queuedWorkSeconds(),
        worker.cacheTokens(),
        worker.speedFactor(),
        worker.predictionErrorRatio(),
        worker.predictionCoverageRatio(),
        worker.cacheKnowledge().level(),
        worker.cacheResidentTokens(),
        worker.cacheLedgerBytes());
  }

  private ScheduledExecutorService scheduler(String name) {
    ScheduledExecutorService scheduler =
        Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name(name).factory());
    closing(scheduler::shutdownNow);
    return scheduler;
  }

  private <T extends AutoCloseable> T closing(T part) {
    parts.push(part);
    return part;
  }

  private static long wallMicros() {
    return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
  }

  /** What scrapes bring, for the router. */
  private record RouterGauges(PoolRouter router, KvEventSubscriber events) implements GaugeSink {
    @Override
    public void scraped(WorkerId worker, WorkerGauges gauges) {
      router.scraped(worker, gauges);
    }

    @Override
    public void unreachable(WorkerId worker) {
      // The last gauges know their age, and are never taken for zero or for full.
    }

    @Override
    public void refused(WorkerId worker) {
      router.refused(worker);
    }

    @Override
    public void restarted(WorkerId worker) {
      LOG.info("worker {} was restarted", worker);
      router.restarted(worker);
      events.doubt(worker);
    }
  }
}
