package dev.warmpath.extproc.warmup;

import dev.warmpath.extproc.accesslog.AccessLogService;
import dev.warmpath.extproc.label.LabelSource;
import dev.warmpath.extproc.route.DecisionLog;
import dev.warmpath.extproc.route.PoolRouter;
import dev.warmpath.extproc.route.RoutingPipeline;
import dev.warmpath.extproc.serve.GrpcListeners;
import dev.warmpath.extproc.serve.UnixChannels;
import dev.warmpath.extproc.stream.BufferBudget;
import dev.warmpath.extproc.stream.DecisionIds;
import dev.warmpath.extproc.stream.DecisionPool;
import dev.warmpath.extproc.stream.ExtProcService;
import dev.warmpath.extproc.stream.StreamContext;
import dev.warmpath.extproc.telemetry.GatewayMetrics;
import io.grpc.ManagedChannel;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A second processor beside the real one for the time of the warm-up: the same code behind a socket
 * of its own, with state of its own, so that synthetic requests leave no trace in decisions,
 * predictions or metrics.
 */
public final class WarmUpServer {
  private static final Logger LOG = LoggerFactory.getLogger(WarmUpServer.class);

  private static final int LEAST_REQUESTS = 100;
  private static final int MOST_REQUESTS = 1_000;
  private static final long ENOUGH_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final long LONGEST_NANOS = TimeUnit.SECONDS.toNanos(8);
  private static final long INDEX_BYTES = 4L << 20;
  private static final int MAX_BODY_BYTES = 1 << 20;
  private static final long BUDGET_BYTES = 32L << 20;

  private WarmUpServer() {}

  /** Blocks until the code is warm; a failure is logged, as a cold start is better than none. */
  public static void run(Path socket, EventLoopGroup clientLoops, LongSupplier nanoClock)
      throws InterruptedException {
    PoolRouter router =
        new PoolRouter(INDEX_BYTES, nanoClock, InstantSource.system(), new SplittableRandom(1));
    router.apply(SyntheticConfiguration.create(), "warm-up");
    RoutingPipeline pipeline =
        new RoutingPipeline(
            router,
            (request, head, tenant) -> LabelSource.NONE,
            new DecisionLog(64),
            InstantSource.system());
    GatewayMetrics metrics = new GatewayMetrics();
    router.observe(metrics);
    try (DecisionPool pool = new DecisionPool(2, 64);
        GrpcListeners _ =
            GrpcListeners.start(
                socket,
                null,
                1,
                MAX_BODY_BYTES,
                List.of(
                    new ExtProcService(
                            new StreamContext(
                                pipeline,
                                pool,
                                new BufferBudget(BUDGET_BYTES),
                                MAX_BODY_BYTES,
                                new DecisionIds(new SecureRandom()),
                                nanoClock,
                                metrics))
                        .bind(),
                    new AccessLogService(pipeline::inFlight, nanoClock, () -> 0, metrics)
                        .bindService()))) {
      ManagedChannel channel = UnixChannels.open(socket, clientLoops, MAX_BODY_BYTES);
      try {
        long start = nanoClock.getAsLong();
        int done =
            new WarmUp(channel, nanoClock)
                .run(LEAST_REQUESTS, MOST_REQUESTS, ENOUGH_NANOS, LONGEST_NANOS);
        LOG.info(
            "warm after {} synthetic requests in {} ms",
            done,
            TimeUnit.NANOSECONDS.toMillis(nanoClock.getAsLong() - start));
      } finally {
        channel.shutdownNow();
      }
    } catch (IOException | RuntimeException e) {
      LOG.warn("warm-up failed; the first requests will be slow", e);
    }
  }
}
