package dev.warmpath.extproc;

import dev.warmpath.extproc.accesslog.AccessLogService;
import dev.warmpath.extproc.route.RequestRouter;
import dev.warmpath.extproc.serve.GrpcListeners;
import dev.warmpath.extproc.stream.BufferBudget;
import dev.warmpath.extproc.stream.DecisionIds;
import dev.warmpath.extproc.stream.DecisionPool;
import dev.warmpath.extproc.stream.ExtProcService;
import dev.warmpath.extproc.stream.StreamContext;
import dev.warmpath.extproc.telemetry.GatewayMetrics;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.protobuf.services.HealthStatusManager;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.function.LongSupplier;

/** The external processor as one running thing: wiring, top to bottom, closed in reverse. */
public final class ExtProcServer implements AutoCloseable {
  private static final int DECISION_QUEUE_CAPACITY = 4_096;

  private final HealthStatusManager health;
  private final GrpcListeners listeners;
  private final DecisionPool pool;

  private ExtProcServer(HealthStatusManager health, GrpcListeners listeners, DecisionPool pool) {
    this.health = health;
    this.listeners = listeners;
    this.pool = pool;
  }

  /** Starts the protocol around a router that is given. */
  public static ExtProcServer start(ExtProcOptions options, RequestRouter router)
      throws IOException {
    LongSupplier nanoClock = System::nanoTime;
    GatewayMetrics metrics = new GatewayMetrics();
    DecisionPool pool = new DecisionPool(options.decisionThreads(), DECISION_QUEUE_CAPACITY);
    BufferBudget budget = new BufferBudget(options.maxBufferedBytes());
    StreamContext context =
        new StreamContext(
            router,
            pool,
            budget,
            options.maxBodyBytes(),
            new DecisionIds(new SecureRandom()),
            nanoClock,
            metrics);
    AccessLogService accessLog =
        new AccessLogService(router::inFlight, nanoClock, ExtProcServer::wallMicros, metrics);
    HealthStatusManager health = new HealthStatusManager();
    GrpcListeners listeners =
        GrpcListeners.start(
            options.socket(),
            options.tcpAddress(),
            options.ioThreads(),
            options.maxBodyBytes(),
            List.of(
                new ExtProcService(context).bind(),
                accessLog.bindService(),
                health.getHealthService().bindService()));
    health.setStatus("", ServingStatus.SERVING);
    return new ExtProcServer(health, listeners, pool);
  }

  /** Port of the TCP listener, or -1 without one. */
  public int tcpPort() {
    return listeners.tcpPort();
  }

  @Override
  public void close() {
    health.enterTerminalState();
    listeners.close();
    pool.close();
  }

  private static long wallMicros() {
    return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
  }
}
