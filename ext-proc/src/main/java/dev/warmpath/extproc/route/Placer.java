package dev.warmpath.extproc.route;

import dev.warmpath.crds.v1alpha1.PoolSpec;
import dev.warmpath.extproc.candidate.ServedPool;
import dev.warmpath.extproc.candidate.ServedProvider;
import dev.warmpath.extproc.kvcache.CacheKnowledge;
import dev.warmpath.extproc.lease.WorkerLoad;
import dev.warmpath.extproc.pick.CandidateTable;
import dev.warmpath.extproc.pick.Picker;
import dev.warmpath.extproc.predict.Forecast;
import dev.warmpath.extproc.predict.ProviderModel;
import dev.warmpath.extproc.prompt.TokenPrompt;
import dev.warmpath.extproc.request.PromptFingerprint;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * The choice itself: predicts every endpoint of the first tier that has a usable one, narrows by
 * the policy's way of choosing, picks, and reserves.
 *
 * <p>Not thread-safe: all of it is one critical section under the router's lock.
 */
final class Placer {
  private static final int MAX_RETRY_AFTER_SECONDS = 5;

  /** The first try and the retries that the bootstrap's routes allow. */
  private static final int MAX_ATTEMPTS = 4;

  /** Blocks by which {@code PrefixAffinity} tells prompts apart: the first kilobyte. */
  private static final int AFFINITY_BLOCKS = 4;

  private final RoutingState state;
  private final Picker picker;
  private final CandidateTable table = new CandidateTable();

  /** Read from a row of the table, or of a provider, for which most terms are zero. */
  private final Forecast row = new Forecast();

  /**
   * @param random breaks ties
   */
  Placer(RoutingState state, RandomGenerator random) {
    this.state = state;
    this.picker = new Picker(random);
  }

  /** Picks an endpoint and reserves it. */
  Placement place(Placement.Prompt prompt, DecisionTrace trace) {
    long now = state.nanoClock.getAsLong();
    boolean saturated = false;
    for (int tier = 0; tier < prompt.tiers().size(); tier++) {
      List<Target> targets = prompt.tiers().get(tier);
      saturated |= predict(prompt, targets, now, tier == 0);
      if (table.size() > 0) {
        return reserve(prompt, tier, now, trace);
      }
    }
    return saturated ? new Placement.Saturated(retryAfterSeconds()) : new Placement.Nowhere();
  }

  /** Fills the table with every usable endpoint. Returns whether one was left out for its queue. */
  private boolean predict(Placement.Prompt prompt, List<Target> targets, long now, boolean first) {
    table.clear();
    boolean saturated = false;
    for (int t = 0; t < targets.size(); t++) {
      Target target = targets.get(t);
      ServedPool pool = target.pool();
      saturated |=
          pool == null
              ? predictProvider(target, t, now)
              : predictPool(prompt, target, pool, t, now, first);
    }
    return saturated;
  }

  private boolean predictPool(
      Placement.Prompt prompt,
      Target target,
      ServedPool pool,
      int backend,
      long now,
      boolean first) {
    PromptFingerprint print = prompt.fingerprint();
    LearntModel model = state.model(target.upstreamModel());
    if (first) {
      model.arrivals().arrived(now);
    }
    double reuseProbability = model.reuse().probability();
    double perByte = model.tokensPerByte();
    int workers = pool.workers().size();
    int bestMatch = 0;
    TokenPrompt tokens = prompt.tokens(pool);
    int limit = pool.spec().limits().maxQueuedPromptsPerWorker();
    boolean saturated = false;
    for (int i = 0; i < workers; i++) {
      WorkerSlot slot = target.usable().test(i) ? state.workers.slot(pool.workers().get(i)) : null;
      if (slot == null) {
        continue;
      }
      if (limit > 0 && slot.model().queuedPrompts() >= limit) {
        saturated = true;
        continue;
      }
      Forecast forecast = state.forecast(slot, model, print, tokens, now);
      bestMatch = Math.max(bestMatch, forecast.matchedBlocks);
      slot.model()
          .othersForecast(print, perByte, model.arrivals(), workers, reuseProbability, forecast);
      table.add(slot.served().ordinal(), backend, slot.model().load().inFlight(), forecast);
    }
    if (first) {
      model
          .reuse()
          .asked(
              model.hash(), print.chain(), print.blocks(), bestMatch, print.blockTokens(perByte));
    }
    return saturated;
  }

  private boolean predictProvider(Target target, int backend, long now) {
    ServedProvider provider = target.provider();
    if (provider == null) {
      return false;
    }
    ProviderModel model = state.providers.model(target, provider);
    int limit = provider.spec().limits().concurrency();
    if (limit > 0 && model.inFlight() >= limit) {
      return true;
    }
    clear(row);
    row.ttftSeconds = model.medianSeconds(now);
    row.medianSeconds = row.ttftSeconds;
    row.highSeconds = model.highSeconds(now);
    table.add(-1, backend, model.inFlight(), row);
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
    TrackedRequest request = new TrackedRequest(state, prompt, routes, trace, now);
    request.reserveOn(routes.getFirst(), now, true);
    state.inFlight.put(prompt.decisionId(), request);
    return placed(request, routes);
  }

  private static Placement placed(TrackedRequest request, List<Route> routes) {
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

  private Route route(List<Target> targets, int candidate) {
    Target target = targets.get(table.backend(candidate));
    int ordinal = table.target(candidate);
    return new Route(target, ordinal < 0 ? null : state.workers.slot(ordinal));
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
      Placement.Prompt prompt, List<Target> targets, int candidate, int rank) {
    table.read(candidate, row);
    Route route = route(targets, candidate);
    WorkerSlot slot = route.slot();
    return new DecisionRecord.Candidate(
        slot == null ? route.target().clusterName() : slot.served().id().name(),
        slot == null ? "" : slot.served().endpoint(),
        route.target().backend(),
        route.target().clusterName(),
        rank,
        table.inFlight(candidate),
        row.cachedTokens,
        slot == null
            ? CacheKnowledge.APPROXIMATE
            : slot.knowledge(prompt.tokens(route.target().pool()), route.target().upstreamModel()),
        row.queueSeconds,
        row.workSeconds,
        row.frontEndSeconds,
        row.stepSeconds,
        row.memorySeconds,
        row.foreignSeconds,
        row.othersSeconds,
        row.faultSeconds,
        row.ttftSeconds,
        row.medianSeconds,
        row.highSeconds);
  }

  /** When the first of the queued prompts should be through; clients sleep as long as told. */
  private int retryAfterSeconds() {
    double least = MAX_RETRY_AFTER_SECONDS;
    for (int i = 0; i < state.workers.size(); i++) {
      WorkerSlot slot = state.workers.slot(i);
      if (slot != null && slot.model().load().head() != null) {
        WorkerLoad load = slot.model().load();
        double perPrompt = load.queuedWorkSeconds() / load.queued() * slot.model().speedFactor();
        least = Math.min(least, perPrompt);
      }
    }
    return Math.clamp((int) Math.ceil(least), 1, MAX_RETRY_AFTER_SECONDS);
  }
}
