package dev.warmpath.extproc.route;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.v1alpha1.PoolSpec;
import dev.warmpath.extproc.candidate.ServedPool;
import dev.warmpath.extproc.candidate.ServedProvider;
import dev.warmpath.extproc.candidate.ServedWorker;
import dev.warmpath.extproc.candidate.WorkerGauges;
import dev.warmpath.extproc.candidate.WorkerId;
import dev.warmpath.extproc.index.PrefixIndex;
import dev.warmpath.extproc.inflight.InFlightRequest;
import dev.warmpath.extproc.inflight.RequestObserver;
import dev.warmpath.extproc.kvcache.CacheKnowledge;
import dev.warmpath.extproc.lease.LeaseLedger;
import dev.warmpath.extproc.pick.CandidateTable;
import dev.warmpath.extproc.pick.Picker;
import dev.warmpath.extproc.predict.ArrivalRate;
import dev.warmpath.extproc.predict.Forecast;
import dev.warmpath.extproc.predict.KindModel;
import dev.warmpath.extproc.predict.ProviderModel;
import dev.warmpath.extproc.predict.ReuseModel;
import dev.warmpath.extproc.predict.TokenRatio;
import dev.warmpath.extproc.predict.WorkerModel;
import dev.warmpath.extproc.prompt.TokenPrompt;
import dev.warmpath.extproc.request.PromptFingerprint;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;
import net.openhft.hashing.LongHashFunction;
import org.jspecify.annotations.Nullable;

/**
 * Places prompts on workers: predicts every candidate, picks, and reserves in one critical section.
 * Owns what is learnt of workers and the prefix index.
 *
 * <p>One lock guards all of it. It is held for a few microseconds for a handful of workers, never
 * over I/O, and makes pick and reserve one step: of a burst, each request sees the load of those
 * before it. Several locks would not help much, because pools share workers and policies compare
 * pools.
 *
 * <p>Thread-safe.
 */
public final class PoolRouter {
  private static final int MAX_RETRY_AFTER_SECONDS = 5;

  /** The first try and the retries that the bootstrap's routes allow. */
  private static final int MAX_ATTEMPTS = 4;

  /** Vendor SDKs give up after ten minutes; agents and batches may run longer. */
  private static final long LONGEST_STREAM_NANOS = 3_600_000_000_000L;

  /** Blocks by which {@code PrefixAffinity} tells prompts apart: the first kilobyte. */
  private static final int AFFINITY_BLOCKS = 4;

  final ReentrantLock lock = new ReentrantLock();
  final LongSupplier nanoClock;
  final PrefixIndex index;
  final LeaseLedger ledger = new LeaseLedger();
  final ConcurrentHashMap<String, TrackedRequest> inFlight = new ConcurrentHashMap<>();
  private final InstantSource wallClock;
  private final Picker picker;
  private final CandidateTable table = new CandidateTable();
  private final Forecast forecast = new Forecast();
  private final Map<WorkerId, Integer> ordinals = new HashMap<>();
  private final List<@Nullable WorkerSlot> slots = new ArrayList<>();
  private final Map<String, KindModel> kinds = new HashMap<>();
  private final Map<String, TokenRatio> ratios = new ConcurrentHashMap<>();
  private final Map<String, ReuseModel> reuses = new HashMap<>();
  private final Map<String, ArrivalRate> rates = new HashMap<>();
  private final Map<String, ProviderModel> providers = new HashMap<>();
  private final Map<String, Long> modelHashes = new ConcurrentHashMap<>();
  private volatile RoutingSnapshot snapshot;
  private final LongAdder promptsInTokens = new LongAdder();
  private final LongAdder promptsNotInTokens = new LongAdder();
  private volatile UnaryOperator<String> tokenizerProblem = path -> "the processor reads none";
  private volatile RequestObserver observer = summary -> {};

  /**
   * @param indexBytes budget of the prefix index
   * @param nanoClock intervals only; any origin
   * @param wallClock what policies see as now
   * @param random breaks ties
   */
  public PoolRouter(
      long indexBytes, LongSupplier nanoClock, InstantSource wallClock, RandomGenerator random) {
    this.wallClock = wallClock;
    this.index = new PrefixIndex(indexBytes);
    this.nanoClock = nanoClock;
    this.picker = new Picker(random);
    this.snapshot =
        RoutingSnapshot.compile(
            RoutingConfiguration.empty(),
            "",
            wallClock,
            id -> {
              throw new IllegalStateException("an empty configuration has no worker " + id);
            });
  }

  /** The configuration in force. */
  public RoutingSnapshot snapshot() {
    return snapshot;
  }

  /**
   * Routes by another configuration from now on. Workers that are in both keep what is known of
   * them and their leases.
   */
  public RoutingSnapshot apply(RoutingConfiguration configuration, String version) {
    lock.lock();
    try {
      RoutingSnapshot fresh =
          RoutingSnapshot.compile(
              configuration,
              version,
              wallClock,
              id -> ordinals.computeIfAbsent(id, any -> freeOrdinal()));
      Map<WorkerId, String> modelOf = new HashMap<>();
      for (ServedPool pool : fresh.pools().values()) {
        pool.workers().forEach(worker -> modelOf.putIfAbsent(worker.id(), pool.model()));
      }
      Set<WorkerId> configured = new HashSet<>();
      for (ServedWorker worker : fresh.workers()) {
        configured.add(worker.id());
        WorkerSlot slot = slots.get(worker.ordinal());
        if (slot == null) {
          slots.set(
              worker.ordinal(),
              new WorkerSlot(worker, newModel(worker, modelOf.getOrDefault(worker.id(), ""))));
        } else {
          slot.configured(worker);
        }
      }
      ordinals.entrySet().removeIf(entry -> retire(entry.getValue(), configured));
      snapshot = fresh;
      tokenizersChanged();
      return fresh;
    } finally {
      lock.unlock();
    }
  }

  private int freeOrdinal() {
    for (int i = 0; i < slots.size(); i++) {
      if (slots.get(i) == null && !ordinals.containsValue(i)) {
        return i;
      }
    }
    slots.add(null);
    return slots.size() - 1;
  }

  private WorkerModel newModel(ServedWorker worker, String model) {
    KindModel kind =
        kinds.computeIfAbsent(
            model + '\n' + worker.hardware(), key -> new KindModel(worker.profile()));
    return new WorkerModel(kind, index.newHolder(1), worker.profile().kvCacheTokens());
  }

  /** Forgets a worker that is not configured any more; its running requests end on their own. */
  private boolean retire(int ordinal, Set<WorkerId> configured) {
    WorkerSlot slot = slots.get(ordinal);
    if (slot == null || configured.contains(slot.served().id())) {
      return false;
    }
    slot.gone();
    index.forget(slot.model().holder());
    slots.set(ordinal, null);
    return true;
  }

  /** What a scrape of that worker said; ignored for a worker that isn't configured. */
  public void scraped(WorkerId worker, WorkerGauges gauges) {
    withWorker(
        worker,
        model -> {
          model.scraped(gauges);
          reconcile(model);
        });
  }

  /**
   * Ends requests that are older than any stream may be and that their worker does not know any
   * more: their end got lost on the way (restart of Envoy). Age alone ends nothing.
   */
  private void reconcile(WorkerModel model) {
    Integer reported = model.reportedRequests();
    int excess = reported == null ? 0 : model.load().inFlight() - reported;
    if (excess <= 0 || !model.load().hasOlderThan(nanoClock.getAsLong() - LONGEST_STREAM_NANOS)) {
      return;
    }
    long now = nanoClock.getAsLong();
    for (TrackedRequest request : inFlight.values()) {
      if (excess > 0 && request.holds(model) && now - request.startNanos() > LONGEST_STREAM_NANOS) {
        request.leaked(now);
        excess--;
      }
    }
  }

  /** A scrape of that worker failed. */
  public void unreachable(WorkerId worker) {
    withWorker(worker, WorkerModel::unreachable);
  }

  /** Nobody listens at that worker's address. */
  public void refused(WorkerId worker) {
    withWorker(worker, WorkerModel::refused);
  }

  /** That worker's process was restarted under the same identity: its cache is empty. */
  public void restarted(WorkerId worker) {
    withWorker(
        worker,
        model -> {
          index.forget(model.holder());
          model.restarted();
        });
  }

  private void withWorker(WorkerId id, java.util.function.Consumer<WorkerModel> action) {
    withSlot(id, slot -> action.accept(slot.model()));
  }

  /** Under the lock; nothing where that worker is not configured. */
  void withSlot(WorkerId id, java.util.function.Consumer<WorkerSlot> action) {
    lock.lock();
    try {
      Integer ordinal = ordinals.get(id);
      WorkerSlot slot = ordinal == null ? null : slots.get(ordinal);
      if (slot != null) {
        action.accept(slot);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Tokens of a prompt, as far as can be told; the name may be one that nobody serves. */
  public int promptTokens(PromptFingerprint prompt, String model) {
    TokenRatio known = ratios.get(model);
    return prompt.tokens(known == null ? TokenRatio.START : known.tokensPerByte());
  }

  TokenRatio ratio(String upstreamModel) {
    return ratios.computeIfAbsent(upstreamModel, model -> new TokenRatio());
  }

  ReuseModel reuse(String upstreamModel) {
    return reuses.computeIfAbsent(upstreamModel, model -> new ReuseModel(index));
  }

  ArrivalRate rate(String upstreamModel) {
    return rates.computeIfAbsent(upstreamModel, model -> new ArrivalRate());
  }

  long modelHash(String upstreamModel) {
    return modelHashes.computeIfAbsent(
        upstreamModel,
        model -> LongHashFunction.xx3().hashBytes(model.getBytes(StandardCharsets.UTF_8)));
  }

  /** What a prediction needs of a model, looked up once for all workers that serve it. */
  record ModelFacts(String name, long hash, double tokensPerByte) {}

  ModelFacts facts(String upstreamModel) {
    return new ModelFacts(
        upstreamModel, modelHash(upstreamModel), ratio(upstreamModel).tokensPerByte());
  }

  /** The request in flight with that id, or null. */
  public @Nullable InFlightRequest inFlight(String decisionId) {
    return inFlight.get(decisionId);
  }

  /** Picks an endpoint and reserves it. */
  public Placement place(Placement.Prompt prompt) {
    return place(prompt, new DecisionTrace());
  }

  Placement place(Placement.Prompt prompt, DecisionTrace trace) {
    lock.lock();
    try {
      long now = nanoClock.getAsLong();
      boolean saturated = false;
      for (int tier = 0; tier < prompt.tiers().size(); tier++) {
        List<Target> targets = prompt.tiers().get(tier);
        saturated |= predict(prompt, targets, now, tier == 0);
        if (table.size() > 0) {
          return reserve(prompt, tier, now, trace);
        }
      }
      return saturated ? new Placement.Saturated(retryAfterSeconds()) : new Placement.Nowhere();
    } finally {
      lock.unlock();
    }
  }

  /** Fills the table with every usable endpoint. Returns whether one was left out for its queue. */
  private boolean predict(Placement.Prompt prompt, List<Target> targets, long now, boolean first) {
    table.clear();
    boolean saturated = false;
    for (int t = 0; t < targets.size(); t++) {
      Target target = targets.get(t);
      ServedPool pool = target.pool();
      if (pool == null) {
        saturated |= predictProvider(target, t, now);
        continue;
      }
      String model = target.upstreamModel();
      ReuseModel reuse = reuse(model);
      double reuseProbability = reuse.probability();
      ArrivalRate rate = rate(model);
      int workers = pool.workers().size();
      ModelFacts facts = facts(model);
      double perByte = facts.tokensPerByte();
      int bestMatch = 0;
      TokenPrompt tokens = prompt.tokens(pool);
      int limit = pool.spec().limits().maxQueuedPromptsPerWorker();
      for (int i = 0; i < pool.workers().size(); i++) {
        WorkerSlot slot = target.usable().test(i) ? slot(pool.workers().get(i)) : null;
        if (slot == null) {
          continue;
        }
        if (limit > 0 && slot.model().queuedPrompts() >= limit) {
          saturated = true;
          continue;
        }
        forecast(slot, facts, prompt.fingerprint(), tokens, now);
        bestMatch = Math.max(bestMatch, forecast.matchedBlocks);
        slot.model()
            .othersForecast(
                prompt.fingerprint(), perByte, rate, workers, reuseProbability, forecast);
        table.add(slot.served().ordinal(), t, slot.model().load().inFlight(), forecast);
      }
      if (first) {
        PromptFingerprint print = prompt.fingerprint();
        reuse.asked(
            facts.hash(), print.chain(), print.blocks(), bestMatch, print.blockTokens(perByte));
        rate.arrived(now);
      }
    }
    return saturated;
  }

  /** Null where the worker is not the one any more that the snapshot meant. */
  @Nullable WorkerSlot slot(ServedWorker worker) {
    WorkerSlot slot = worker.ordinal() < slots.size() ? slots.get(worker.ordinal()) : null;
    return slot != null && slot.serves(worker) ? slot : null;
  }

  /** Predicts one worker for one prompt; the caller holds the lock and reads it before the next. */
  Forecast forecast(
      WorkerSlot slot,
      ModelFacts model,
      PromptFingerprint prompt,
      @Nullable TokenPrompt tokens,
      long now) {
    WorkerModel worker = slot.model();
    int matched = index.match(worker.holder(), model.hash(), prompt.chain(), prompt.blocks());
    int cached = tokens == null ? -1 : slot.exactlyCached(tokens, model.name(), now);
    if (tokens == null || cached < 0) {
      worker.forecast(prompt, matched, model.tokensPerByte(), now, forecast);
    } else {
      worker.forecast(prompt, matched, tokens.length(), cached, now, forecast);
    }
    return forecast;
  }

  private boolean predictProvider(Target target, int backend, long now) {
    ServedProvider provider = target.provider();
    if (provider == null) {
      return false;
    }
    ProviderModel model = providerModel(target, provider);
    int limit = provider.spec().limits().concurrency();
    if (limit > 0 && model.inFlight() >= limit) {
      return true;
    }
    clear(forecast);
    forecast.ttftSeconds = model.medianSeconds(now);
    forecast.medianSeconds = forecast.ttftSeconds;
    forecast.highSeconds = model.highSeconds(now);
    table.add(-1, backend, model.inFlight(), forecast);
    return false;
  }

  private static void clear(Forecast forecast) {
    forecast.cachedTokens = 0;
    forecast.waitNanos = 0;
    forecast.frontEndSeconds = 0;
    forecast.queueSeconds = 0;
    forecast.workSeconds = 0;
    forecast.stepSeconds = 0;
    forecast.memorySeconds = 0;
    forecast.foreignSeconds = 0;
    forecast.faultSeconds = 0;
    forecast.baseWorkSeconds = 0;
    forecast.queued = false;
    forecast.othersSeconds = 0;
    forecast.matchedBlocks = 0;
  }

  ProviderModel providerModel(Target target, ServedProvider provider) {
    return providers.computeIfAbsent(
        target.clusterName() + '\n' + target.upstreamModel(),
        key -> new ProviderModel(provider.spec().expectedTtft().toNanos() * 1e-9));
  }

  /** Requests in flight at a provider, whatever the model. */
  int providerInFlight(String clusterName) {
    lock.lock();
    try {
      int sum = 0;
      for (Map.Entry<String, ProviderModel> entry : providers.entrySet()) {
        if (entry.getKey().startsWith(clusterName + '\n')) {
          sum += entry.getValue().inFlight();
        }
      }
      return sum;
    } finally {
      lock.unlock();
    }
  }

  /** One of the provider's models, or null before the first request. */
  @Nullable ProviderModel anyProviderModel(String clusterName) {
    lock.lock();
    try {
      for (Map.Entry<String, ProviderModel> entry : providers.entrySet()) {
        if (entry.getKey().startsWith(clusterName + '\n')) {
          return entry.getValue();
        }
      }
      return null;
    } finally {
      lock.unlock();
    }
  }

  private Placement reserve(Placement.Prompt prompt, int tier, long now, DecisionTrace trace) {
    List<Target> targets = prompt.tiers().get(tier);
    narrow(prompt, targets);
    PoolSpec.Algorithm algorithm = algorithm(targets);
    int count = picker.order(table, algorithm, affinity(prompt.fingerprint()));
    List<Route> routes = new ArrayList<>(MAX_ATTEMPTS);
    int later = prompt.tiers().size() - tier - 1;
    for (int rank = 0; rank < count && routes.size() < room(later); rank++) {
      routes.add(route(targets, picker.ordered(rank)));
    }
    trace.candidates(algorithm, candidateRecords(prompt, targets, count), table.size());
    // A later tier is a fallback: it is reached only if every attempt before it has failed.
    for (int next = tier + 1; next < prompt.tiers().size(); next++) {
      later--;
      predict(prompt, prompt.tiers().get(next), now, false);
      int more = picker.order(table, PoolSpec.Algorithm.PredictedTTFT, 0);
      for (int rank = 0; rank < more && routes.size() < room(later); rank++) {
        routes.add(route(prompt.tiers().get(next), picker.ordered(rank)));
      }
    }
    TrackedRequest request = new TrackedRequest(this, prompt, routes, trace, now);
    request.reserveOn(routes.getFirst(), now, true);
    inFlight.put(prompt.decisionId(), request);
    List<String> destinations = new ArrayList<>();
    List<String> clusters = new ArrayList<>();
    List<Target> chosen = new ArrayList<>();
    boolean mixed = false;
    for (Route route : routes) {
      if (route.slot() != null) {
        destinations.add(route.slot().served().endpoint());
      }
      clusters.add(route.target().clusterName());
      chosen.add(route.target());
      mixed |= !route.target().clusterName().equals(clusters.getFirst());
    }
    return new Placement.Placed(
        request,
        destinations,
        mixed ? clusters : List.of(clusters.getFirst()),
        mixed ? chosen : List.of(chosen.getFirst()),
        request.predictedMedianSeconds(),
        request.predictedHighSeconds(),
        request.waitNanos());
  }

  /** Attempts up to and with this tier, so that each tier after it has one of its own. */
  private static int room(int laterTiers) {
    return Math.max(1, MAX_ATTEMPTS - laterTiers);
  }

  /** Where an attempt goes: a worker of a pool, or a provider. */
  record Route(Target target, @Nullable WorkerSlot slot) {}

  private Route route(List<Target> targets, int row) {
    Target target = targets.get(table.backend(row));
    int ordinal = table.target(row);
    return new Route(target, ordinal < 0 ? null : slots.get(ordinal));
  }

  /** Applies a policy's way of choosing by leaving in the table only what it accepts. */
  private void narrow(Placement.Prompt prompt, List<Target> targets) {
    switch (prompt.choose()) {
      case PredictedTTFT -> {}
      case Order -> table.keepFirstBackend();
      case Cheapest -> {
        double limit = table.bestTtftSeconds() + prompt.ttftSlackNanos() * 1e-9;
        double cheapest = Double.POSITIVE_INFINITY;
        for (int i = 0; i < table.size(); i++) {
          double price = targets.get(table.backend(i)).inputPricePerMillion();
          if (table.ttftSeconds(i) <= limit && price < cheapest) {
            cheapest = price;
          }
        }
        if (cheapest < Double.POSITIVE_INFINITY) {
          double most = cheapest;
          table.keep(i ->
              table.ttftSeconds(i) <= limit
                  && targets.get(table.backend(i)).inputPricePerMillion() <= most);
        }
      }
    }
  }

  /** A baseline applies where it alone decides; a comparison between pools is by prediction. */
  private static PoolSpec.Algorithm algorithm(List<Target> targets) {
    ServedPool pool = targets.getFirst().pool();
    return targets.size() == 1 && pool != null
        ? pool.spec().routing().algorithm()
        : PoolSpec.Algorithm.PredictedTTFT;
  }

  private static long affinity(PromptFingerprint prompt) {
    int at = Math.min(AFFINITY_BLOCKS, prompt.blocks());
    return at == 0 ? prompt.size() : prompt.chain()[at - 1];
  }

  private List<DecisionRecord.Candidate> candidateRecords(
      Placement.Prompt prompt, List<Target> targets, int count) {
    int shown = Math.min(DecisionRecord.MAX_CANDIDATES, table.size());
    List<DecisionRecord.Candidate> records = new ArrayList<>(shown);
    for (int rank = 0; rank < count; rank++) {
      records.add(candidateRecord(prompt, targets, picker.ordered(rank), rank + 1));
    }
    for (int i = 0; i < table.size() && records.size() < shown; i++) {
      boolean ordered = false;
      for (int rank = 0; rank < count; rank++) {
        ordered |= picker.ordered(rank) == i;
      }
      if (!ordered) {
        records.add(candidateRecord(prompt, targets, i, 0));
      }
    }
    return records;
  }

  private DecisionRecord.Candidate candidateRecord(
      Placement.Prompt prompt, List<Target> targets, int row, int rank) {
    table.read(row, forecast);
    Route route = route(targets, row);
    WorkerSlot slot = route.slot();
    return new DecisionRecord.Candidate(
        slot == null ? route.target().clusterName() : slot.served().id().name(),
        slot == null ? "" : slot.served().endpoint(),
        route.target().backend(),
        route.target().clusterName(),
        rank,
        table.inFlight(row),
        forecast.cachedTokens,
        slot == null
            ? CacheKnowledge.APPROXIMATE
            : slot.knowledge(prompt.tokens(route.target().pool()), route.target().upstreamModel()),
        forecast.queueSeconds,
        forecast.workSeconds,
        forecast.frontEndSeconds,
        forecast.stepSeconds,
        forecast.memorySeconds,
        forecast.foreignSeconds,
        forecast.othersSeconds,
        forecast.faultSeconds,
        forecast.ttftSeconds,
        forecast.medianSeconds,
        forecast.highSeconds);
  }

  /** When the first of the queued prompts should be through; clients sleep as long as told. */
  private int retryAfterSeconds() {
    double least = MAX_RETRY_AFTER_SECONDS;
    for (WorkerSlot slot : slots) {
      if (slot != null && slot.model().load().head() != null) {
        double perPrompt =
            slot.model().load().queuedWorkSeconds()
                / slot.model().load().queued()
                * slot.model().speedFactor();
        least = Math.min(least, perPrompt);
      }
    }
    return Math.clamp((int) Math.ceil(least), 1, MAX_RETRY_AFTER_SECONDS);
  }

  /** Tells {@code observer} about every request that ends from now on. */
  public void observe(RequestObserver observer) {
    this.observer = observer;
  }

  /** The caller does not hold the lock. */
  void ended(RequestObserver.Summary summary) {
    observer.ended(summary);
  }

  /** Whether what some worker of that pool has in its cache is known exactly. */
  boolean knowsExactly(ServedPool pool) {
    lock.lock();
    try {
      for (ServedWorker worker : pool.workers()) {
        WorkerSlot slot = slot(worker);
        if (slot != null && slot.knowledge() == CacheKnowledge.EXACT) {
          return true;
        }
      }
      return false;
    } finally {
      lock.unlock();
    }
  }

  void tokenised(boolean exactly) {
    (exactly ? promptsInTokens : promptsNotInTokens).increment();
  }

  /** Prompts that were told in tokens exactly, or that could not be. */
  public long prompts(boolean exactly) {
    return (exactly ? promptsInTokens : promptsNotInTokens).sum();
  }

  /**
   * What is known of the pools' tokenizers: why there is none, by its folder; empty where there is.
   * Asked for every worker at every configuration and whenever {@link #tokenizersChanged} says so.
   */
  public void tokenizers(UnaryOperator<String> problem) {
    tokenizerProblem = problem;
    tokenizersChanged();
  }

  /** Some tokenizer has been read. */
  public void tokenizersChanged() {
    lock.lock();
    try {
      for (ServedPool pool : snapshot.pools().values()) {
        PoolSpec.Tokenizer tokenizer = pool.spec().tokenizer();
        for (ServedWorker worker : pool.workers()) {
          WorkerSlot slot = slot(worker);
          if (slot != null && tokenizer != null) {
            slot.tokenizer(tokenizerProblem.apply(tokenizer.path()));
          }
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** Every configured worker, in no order. */
  public List<WorkerStatus> workers() {
    lock.lock();
    try {
      List<WorkerStatus> all = new ArrayList<>(slots.size());
      for (WorkerSlot slot : slots) {
        if (slot != null) {
          all.add(slot.status());
        }
      }
      return all;
    } finally {
      lock.unlock();
    }
  }

  /** Leases that are held now; back to zero when traffic stops. */
  public long activeLeases() {
    return ledger.active();
  }

  public LeaseLedger ledger() {
    return ledger;
  }

  /** Bytes of the prefix index. */
  public long indexBytes() {
    lock.lock();
    try {
      return index.bytes();
    } finally {
      lock.unlock();
    }
  }
}
