package dev.warmpath.extproc.scrape;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.extproc.candidate.WorkerGauges;
import dev.warmpath.extproc.candidate.WorkerId;
import dev.warmpath.extproc.telemetry.ScrapeMetrics;
import java.net.ConnectException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Reads the metrics pages of all configured workers, each on its own jittered beat. All state is
 * confined to the scheduler's one thread; pages are fetched without blocking it.
 *
 * <p>An engine renders its page on the event loop that also writes tokens, so the beat is slow, and
 * slower for a worker that has nothing to do.
 */
public final class Scraper implements AutoCloseable {
  private static final double JITTER = 0.1;
  private static final int IDLE_FACTOR = 3;
  private static final int UNREACHABLE_FACTOR = 2;
  private static final long SLOWEST_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** A page that takes longer says nothing about now. */
  private static final Duration TIMEOUT = Duration.ofSeconds(3);

  private final HttpClient http;
  private final ScheduledExecutorService scheduler;
  private final GaugeSink sink;
  private final LongSupplier nanoClock;
  private final RandomGenerator random;
  private final ScrapeMetrics metrics;
  private final Map<WorkerId, Beat> beats = new HashMap<>();

  /**
   * Wires the scraper.
   *
   * @param scheduler single-threaded; owned by the caller
   */
  public Scraper(
      ScheduledExecutorService scheduler,
      GaugeSink sink,
      LongSupplier nanoClock,
      RandomGenerator random,
      ScrapeMetrics metrics) {
    this.http =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(1))
            .executor(scheduler)
            .build();
    this.scheduler = scheduler;
    this.sink = sink;
    this.nanoClock = nanoClock;
    this.random = random;
    this.metrics = metrics;
  }

  /** Scrapes the workers of that configuration from now on. */
  public void configure(RoutingConfiguration configuration) {
    List<ScrapeTarget> targets = ScrapeTarget.of(configuration);
    scheduler.execute(() -> replace(targets));
  }

  private void replace(List<ScrapeTarget> targets) {
    Map<WorkerId, Beat> kept = new HashMap<>();
    for (ScrapeTarget target : targets) {
      Beat beat = beats.remove(target.worker());
      if (beat == null || !beat.target.page().equals(target.page())) {
        if (beat != null) {
          beat.stop();
        }
        beat = new Beat(target);
        beat.schedule((long) (target.intervalNanos() * JITTER * random.nextDouble()));
      } else {
        beat.target = target;
      }
      kept.put(target.worker(), beat);
    }
    beats.values().forEach(Beat::stop);
    beats.clear();
    beats.putAll(kept);
  }

  @Override
  public void close() {
    scheduler.execute(() -> {
      beats.values().forEach(Beat::stop);
      beats.clear();
    });
    http.shutdownNow();
  }

  /** One worker's repeated scrape. */
  private final class Beat {
    private final WorkerHistory history = new WorkerHistory();
    private ScrapeTarget target;
    private @Nullable ScheduledFuture<?> next;
    private boolean stopped;

    Beat(ScrapeTarget target) {
      this.target = target;
    }

    private void schedule(long delayNanos) {
      try {
        next = scheduler.schedule(this::scrape, delayNanos, TimeUnit.NANOSECONDS);
      } catch (RejectedExecutionException e) {
        stopped = true;
      }
    }

    private void stop() {
      stopped = true;
      if (next != null) {
        next.cancel(false);
      }
    }

    private void scrape() {
      HttpRequest request = HttpRequest.newBuilder(target.page()).timeout(TIMEOUT).GET().build();
      long startNanos = nanoClock.getAsLong();
      var _ =
          http.sendAsync(request, HttpResponse.BodyHandlers.ofByteArray())
              .whenCompleteAsync(
                  (response, failure) -> finished(response, failure, startNanos), scheduler);
    }

    private void finished(
        @Nullable HttpResponse<byte[]> response, @Nullable Throwable failure, long startNanos) {
      if (stopped) {
        return;
      }
      long now = nanoClock.getAsLong();
      boolean read = failure == null && response != null && response.statusCode() == 200;
      if (read && response != null) {
        accept(response.body(), now);
      } else if (isRefused(failure)) {
        sink.refused(target.worker());
      } else {
        sink.unreachable(target.worker());
      }
      metrics.scraped(read, now - startNanos);
      schedule(pauseNanos(read, isRefused(failure)));
    }

    private void accept(byte[] text, long now) {
      EngineNames names = EngineNames.of(target.engine());
      if (names == null) {
        return;
      }
      EnginePage page = EnginePage.read(text, names, target.model());
      if (history.restarted(page)) {
        metrics.restarted();
        sink.restarted(target.worker());
      }
      WorkerGauges gauges = history.accept(page, now);
      sink.scraped(target.worker(), gauges);
    }

    /** Nothing listens: a fact, where a slow or broken page says little of the engine. */
    private static boolean isRefused(@Nullable Throwable failure) {
      for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
        if (cause instanceof ConnectException) {
          return true;
        }
      }
      return false;
    }

    private long pauseNanos(boolean read, boolean refused) {
      long interval = target.intervalNanos();
      if (!read) {
        // To be refused costs nothing, and a return should be noticed soon.
        interval *= refused ? 1 : UNREACHABLE_FACTOR;
      } else if (history.idle()) {
        interval *= IDLE_FACTOR;
      }
      interval = Math.max(target.intervalNanos(), Math.min(interval, SLOWEST_NANOS));
      return (long) (interval * (1 - JITTER + 2 * JITTER * random.nextDouble()));
    }
  }
}
