package dev.warmpath.extproc.telemetry;

import dev.warmpath.extproc.inflight.InFlightRequest.Outcome;
import dev.warmpath.extproc.inflight.InFlightRequest.Usage;
import dev.warmpath.extproc.inflight.RequestObserver;
import dev.warmpath.extproc.policy.PolicyObserver;
import dev.warmpath.extproc.policy.PolicyTrace;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.config.NamingConvention;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.DoubleSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Meters of the whole processor. Meters of the request path are created once and looked up without
 * building names. Thread-safe.
 */
public final class GatewayMetrics
    implements StreamMetrics,
        AccessLogMetrics,
        ConfigMetrics,
        ScrapeMetrics,
        RequestObserver,
        PolicyObserver {
  /** Values that webhooks make up are counted as one beyond this number. */
  private static final int MAX_LABEL_SERIES = 200;

  /** Bounds of GenAI's time to first token. */
  private static final double[] TTFT_BUCKETS_SECONDS = {
    0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 15, 20,
    30, 45, 60
  };

  private static final double[] REQUEST_BUCKETS_SECONDS = {
    0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92
  };
  private static final double[] DECISION_BUCKETS_SECONDS = {
    0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5
  };
  private static final double[] RATIO_BUCKETS = {0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1, 2, 5};

  /** One row of a gauge with a label for each worker. */
  public record WorkerRow(
      String worker,
      double queuedPrompts,
      double decoding,
      double queuedWorkSeconds,
      double cacheTokens,
      double speedRatio,
      double errorRatio,
      double coverageRatio,
      double cacheKnowledge,
      double cacheResidentTokens,
      double cacheLedgerBytes) {}

  private record ModelMeters(
      DistributionSummary ttft,
      DistributionSummary duration,
      DistributionSummary predictionError,
      Counter input,
      Counter cached,
      Counter output) {}

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final Map<String, Counter> decisions = new ConcurrentHashMap<>();
  private final Map<Outcome, Counter> outcomes = new EnumMap<>(Outcome.class);
  private final Map<String, ModelMeters> models = new ConcurrentHashMap<>();
  private final Map<String, Counter> policies = new ConcurrentHashMap<>();
  private final Map<String, Counter> labels = new ConcurrentHashMap<>();
  private final Timer decisionTime;
  private final Counter deferred;
  private final Counter failed;
  private final Counter bufferFull;
  private final Counter overloaded;
  private final Counter matched;
  private final Counter unmatched;
  private final Counter replied;
  private final Counter configApplied;
  private final Counter configRefused;
  private final Counter configNotSaved;
  private final AtomicInteger configConnected = new AtomicInteger();
  private final Counter scrapesRead;
  private final Counter scrapesFailed;
  private final Timer scrapeTime;
  private final Counter workerRestarts;
  private final List<MultiGauge> workerGauges = new ArrayList<>();
  private volatile Supplier<List<WorkerRow>> workers = List::of;

  public GatewayMetrics() {
    // Names are written as Prometheus has them; Micrometer must not rewrite them.
    registry.config().namingConvention(NamingConvention.identity);
    for (Outcome outcome : Outcome.values()) {
      outcomes.put(outcome, requests(outcome.name().toLowerCase(Locale.ROOT)));
    }
    replied = requests("replied");
    decisionTime =
        Timer.builder(MetricNames.DECISION_SECONDS)
            .serviceLevelObjectives(durations(DECISION_BUCKETS_SECONDS))
            .register(registry);
    deferred = registry.counter(MetricNames.DECISIONS_DEFERRED);
    failed = registry.counter(MetricNames.DECISIONS_FAILED);
    bufferFull = registry.counter(MetricNames.REQUESTS_SHED, "reason", "buffer_full");
    overloaded = registry.counter(MetricNames.REQUESTS_SHED, "reason", "gateway_overloaded");
    matched = registry.counter(MetricNames.ACCESS_LOG_ENTRIES, "matched", "true");
    unmatched = registry.counter(MetricNames.ACCESS_LOG_ENTRIES, "matched", "false");
    configApplied = registry.counter(MetricNames.CONFIG_UPDATES, "result", "applied");
    configRefused = registry.counter(MetricNames.CONFIG_UPDATES, "result", "refused");
    configNotSaved = registry.counter(MetricNames.CONFIG_NOT_SAVED);
    gauge(MetricNames.CONFIG_CONNECTED, configConnected::get);
    scrapesRead = registry.counter(MetricNames.SCRAPES, "result", "read");
    scrapesFailed = registry.counter(MetricNames.SCRAPES, "result", "failed");
    scrapeTime = Timer.builder(MetricNames.SCRAPE_SECONDS).register(registry);
    workerRestarts = registry.counter(MetricNames.WORKER_RESTARTS);
    for (String name :
        List.of(
            MetricNames.WORKER_QUEUED,
            MetricNames.WORKER_DECODING,
            MetricNames.WORKER_QUEUED_SECONDS,
            MetricNames.WORKER_CACHE_TOKENS,
            MetricNames.WORKER_SPEED_RATIO,
            MetricNames.WORKER_ERROR_RATIO,
            MetricNames.WORKER_COVERAGE_RATIO,
            MetricNames.WORKER_CACHE_KNOWLEDGE,
            MetricNames.WORKER_CACHE_RESIDENT,
            MetricNames.WORKER_CACHE_LEDGER_BYTES)) {
      workerGauges.add(MultiGauge.builder(name).register(registry));
    }
    new JvmMemoryMetrics().bindTo(registry);
    new JvmThreadMetrics().bindTo(registry);
    new ProcessorMetrics().bindTo(registry);
  }

  /** Garbage collection is observed by a listener, which must be closed. */
  public AutoCloseable observeGarbageCollection() {
    JvmGcMetrics collections = new JvmGcMetrics();
    collections.bindTo(registry);
    return collections;
  }

  /** Shows a value that lives elsewhere. */
  public void gauge(String name, DoubleSupplier value) {
    Gauge.builder(name, value::getAsDouble).strongReference(true).register(registry);
  }

  /** Shows a count that lives elsewhere and only grows. */
  public void counter(String name, DoubleSupplier count) {
    io.micrometer.core.instrument.FunctionCounter.builder(name, count, DoubleSupplier::getAsDouble)
        .register(registry);
  }

  /** Shows a count that lives elsewhere and only grows, with one label. */
  public void counter(String name, String label, String value, DoubleSupplier count) {
    io.micrometer.core.instrument.FunctionCounter.builder(name, count, DoubleSupplier::getAsDouble)
        .tag(label, value)
        .register(registry);
  }

  /** Shows gauges for each worker, read when somebody asks. */
  public void workers(Supplier<List<WorkerRow>> rows) {
    workers = rows;
  }

  /** The page in the Prometheus text format. */
  public String scrape() {
    List<WorkerRow> rows = workers.get();
    register(0, rows, WorkerRow::queuedPrompts);
    register(1, rows, WorkerRow::decoding);
    register(2, rows, WorkerRow::queuedWorkSeconds);
    register(3, rows, WorkerRow::cacheTokens);
    register(4, rows, WorkerRow::speedRatio);
    register(5, rows, WorkerRow::errorRatio);
    register(6, rows, WorkerRow::coverageRatio);
    register(7, rows, WorkerRow::cacheKnowledge);
    register(8, rows, WorkerRow::cacheResidentTokens);
    register(9, rows, WorkerRow::cacheLedgerBytes);
    return registry.scrape();
  }

  private void register(
      int gauge, List<WorkerRow> rows, java.util.function.ToDoubleFunction<WorkerRow> value) {
    workerGauges
        .get(gauge)
        .register(
            rows.stream()
                .map(row ->
                    MultiGauge.Row.of(Tags.of("worker", row.worker()), value.applyAsDouble(row)))
                .toList(),
            true);
  }

  @Override
  public void decided(String kind, long elapsedNanos) {
    decisions
        .computeIfAbsent(kind, any -> registry.counter(MetricNames.DECISIONS, "kind", any))
        .increment();
    decisionTime.record(elapsedNanos, TimeUnit.NANOSECONDS);
  }

  /** Allocates nothing where no label was asked for, nothing failed and nothing is in shadow. */
  @Override
  public void planned(PolicyTrace trace) {
    for (PolicyTrace.Failure failure : trace.failures()) {
      String policy = failure.policy().namespace() + "/" + failure.policy().name();
      policies
          .computeIfAbsent(
              policy + '\n' + failure.site(),
              any ->
                  registry.counter(
                      MetricNames.POLICY_FAILURES, "policy", policy, "site", failure.site()))
          .increment();
    }
    for (PolicyTrace.Shadow shadow : trace.shadows()) {
      String policy = shadow.policy().namespace() + "/" + shadow.policy().name();
      policies
          .computeIfAbsent(
              policy + '\n' + shadow.changed(),
              any ->
                  registry.counter(
                      MetricNames.POLICY_SHADOW,
                      "policy",
                      policy,
                      "changed",
                      Boolean.toString(shadow.changed())))
          .increment();
    }
    trace.labels().forEach((key, label) -> label(key, label.value()));
  }

  private void label(String key, String value) {
    String series = labels.size() < MAX_LABEL_SERIES ? key + '\n' + value : key + "\nother";
    labels
        .computeIfAbsent(
            series,
            any ->
                registry.counter(
                    MetricNames.LABELS,
                    "label",
                    key,
                    "value",
                    series.substring(series.indexOf('\n') + 1)))
        .increment();
  }

  @Override
  public void deferred() {
    deferred.increment();
  }

  @Override
  public void bufferFull() {
    bufferFull.increment();
  }

  @Override
  public void overloaded() {
    overloaded.increment();
  }

  @Override
  public void failed() {
    failed.increment();
  }

  @Override
  public void entry(@Nullable Outcome outcome, boolean inFlight) {
    (inFlight ? matched : unmatched).increment();
    Counter counter = outcome == null ? replied : outcomes.get(outcome);
    if (counter != null) {
      counter.increment();
    }
  }

  @Override
  public void applied() {
    configApplied.increment();
  }

  @Override
  public void refused() {
    configRefused.increment();
  }

  @Override
  public void notSaved() {
    configNotSaved.increment();
  }

  @Override
  public void connected(boolean connected) {
    configConnected.set(connected ? 1 : 0);
  }

  @Override
  public void scraped(boolean read, long elapsedNanos) {
    (read ? scrapesRead : scrapesFailed).increment();
    scrapeTime.record(elapsedNanos, TimeUnit.NANOSECONDS);
  }

  @Override
  public void restarted() {
    workerRestarts.increment();
  }

  @Override
  public void ended(Summary summary) {
    ModelMeters meters =
        models.computeIfAbsent(
            summary.cluster() + '\n' + summary.upstreamModel(), key -> modelMeters(summary));
    meters.duration().record(summary.totalSeconds());
    if (!Double.isNaN(summary.ttftSeconds())) {
      meters.ttft().record(summary.ttftSeconds());
      if (summary.ttftSeconds() > 0 && !Double.isNaN(summary.predictedSeconds())) {
        meters
            .predictionError()
            .record(
                Math.abs(summary.ttftSeconds() - summary.predictedSeconds())
                    / summary.ttftSeconds());
      }
    }
    Usage usage = summary.usage();
    if (usage != null) {
      add(meters.input(), usage.promptTokens());
      add(meters.cached(), usage.cachedTokens());
      add(meters.output(), usage.completionTokens());
    }
  }

  private ModelMeters modelMeters(Summary summary) {
    Tags tags =
        Tags.of(
            "gen_ai_provider_name",
            summary.external() ? summary.cluster() : "vllm",
            "gen_ai_request_model",
            summary.upstreamModel(),
            "cluster",
            summary.cluster());
    return new ModelMeters(
        histogram(MetricNames.TTFT_SECONDS, tags, TTFT_BUCKETS_SECONDS),
        histogram(MetricNames.REQUEST_SECONDS, tags, REQUEST_BUCKETS_SECONDS),
        histogram(MetricNames.PREDICTION_ERROR_RATIO, tags, RATIO_BUCKETS),
        registry.counter(MetricNames.INPUT_TOKENS, tags),
        registry.counter(MetricNames.CACHED_TOKENS, tags),
        registry.counter(MetricNames.OUTPUT_TOKENS, tags));
  }

  private DistributionSummary histogram(String name, Tags tags, double[] bounds) {
    return DistributionSummary.builder(name)
        .tags(tags)
        .serviceLevelObjectives(bounds)
        .register(registry);
  }

  private Counter requests(String outcome) {
    return registry.counter(MetricNames.REQUESTS, "outcome", outcome);
  }

  private static void add(Counter counter, @Nullable Integer tokens) {
    if (tokens != null && tokens > 0) {
      counter.increment(tokens);
    }
  }

  private static java.time.Duration[] durations(double[] seconds) {
    java.time.Duration[] bounds = new java.time.Duration[seconds.length];
    for (int i = 0; i < seconds.length; i++) {
      bounds[i] = java.time.Duration.ofNanos((long) (seconds[i] * 1e9));
    }
    return bounds;
  }
}
