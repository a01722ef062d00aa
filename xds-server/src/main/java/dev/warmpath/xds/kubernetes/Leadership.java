package dev.warmpath.xds.kubernetes;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderCallbacks;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderElectionConfigBuilder;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.LeaseLock;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether this replica is the one that writes status: who holds a Lease. A replica that cannot
 * renew it gives up before another may take it. Thread-safe.
 */
final class Leadership implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Leadership.class);

  /**
   * How long a Lease lasts without renewal, after what time its holder gives up, and how often
   * everybody tries. In this order each is shorter than the one before.
   */
  record Times(Duration lease, Duration renewal, Duration retry) {
    static Times defaults() {
      return new Times(Duration.ofSeconds(15), Duration.ofSeconds(10), Duration.ofSeconds(2));
    }
  }

  private final KubernetesClient client;
  private final Replica replica;
  private final Times times;
  private final ScheduledExecutorService executor;
  private volatile boolean leading;
  private volatile boolean closed;
  private volatile @Nullable CompletableFuture<?> election;

  /** {@code executor} starts elections; it outlives this object. */
  Leadership(
      KubernetesClient client, Replica replica, Times times, ScheduledExecutorService executor) {
    this.client = client;
    this.replica = replica;
    this.times = times;
    this.executor = executor;
  }

  boolean isLeader() {
    return leading;
  }

  /** Takes part from now on, after each lost term again. */
  void start() {
    if (closed) {
      return;
    }
    CompletableFuture<?> running =
        client
            .leaderElector()
            .withConfig(
                new LeaderElectionConfigBuilder()
                    .withName("status")
                    .withLock(
                        new LeaseLock(replica.namespace(), replica.lease(), replica.identity()))
                    .withLeaseDuration(times.lease())
                    .withRenewDeadline(times.renewal())
                    .withRetryPeriod(times.retry())
                    .withReleaseOnCancel(true)
                    .withLeaderCallbacks(
                        new LeaderCallbacks(
                            () -> lead(true), () -> lead(false), Leadership::announce))
                    .build())
            .build()
            .start();
    election = running;
    var _ =
        running.whenComplete((ended, failure) -> {
          lead(false);
          if (failure != null && !closed && !(failure instanceof CompletionException)) {
            log.warn("the election of the status writer ended; trying again", failure);
          }
          again();
        });
  }

  private static void announce(@Nullable String leader) {
    if (leader != null) {
      log.info("status is written by {}", leader);
    }
  }

  private void lead(boolean now) {
    if (leading != now) {
      leading = now;
      log.info(now ? "this replica writes status" : "this replica no longer writes status");
    }
  }

  private void again() {
    if (closed) {
      return;
    }
    try {
      var _ = executor.schedule(this::start, times.retry().toMillis(), TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      log.debug("the election ended with the process", e);
    }
  }

  /** Gives the Lease back, so that the next replica need not wait for its end. */
  @Override
  public void close() {
    closed = true;
    leading = false;
    CompletableFuture<?> running = election;
    if (running != null) {
      running.cancel(true);
    }
  }
}
