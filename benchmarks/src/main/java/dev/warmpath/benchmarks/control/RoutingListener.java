package dev.warmpath.benchmarks.control;

import dev.warmpath.extproc.config.ConfigurationState;
import dev.warmpath.extproc.config.LastGoodFile;
import dev.warmpath.extproc.config.RoutingConfigClient;
import dev.warmpath.extproc.serve.UnixChannels;
import dev.warmpath.extproc.telemetry.GatewayMetrics;
import io.netty.channel.EventLoopGroup;
import java.nio.file.Path;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * The processor's own client of the routing configuration, which takes everything and routes
 * nothing: a whole processor would ask a thousand workers for their metrics.
 */
final class RoutingListener implements AutoCloseable {
  private static final int MAX_BYTES = 64 << 20;

  private final EventLoopGroup loops = UnixChannels.clientLoops();
  private final ScheduledExecutorService scheduler =
      Executors.newSingleThreadScheduledExecutor(Thread.ofPlatform().daemon().factory());
  private final RoutingConfigClient client;
  private int received;

  RoutingListener(Path socket, String nodeId, Path folder) {
    GatewayMetrics metrics = new GatewayMetrics();
    client =
        new RoutingConfigClient(
            UnixChannels.open(socket, loops, MAX_BYTES),
            nodeId,
            nodeId,
            new ConfigurationState(
                (configuration, version) -> count(),
                new LastGoodFile(folder.resolve("routing-configuration.json")),
                metrics),
            scheduler,
            new SplittableRandom(),
            metrics);
    client.start();
  }

  private synchronized void count() {
    received++;
    notifyAll();
  }

  synchronized int received() {
    return received;
  }

  synchronized void awaitMoreThan(int before, Duration patience) throws InterruptedException {
    long deadline = System.nanoTime() + patience.toNanos();
    while (received <= before) {
      long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
      if (left <= 0) {
        throw new IllegalStateException("no configuration within " + patience);
      }
      wait(left);
    }
  }

  @Override
  public void close() {
    client.close();
    scheduler.shutdown();
    loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(2, TimeUnit.SECONDS);
  }
}
