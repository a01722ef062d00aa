package dev.warmpath.extproc.route;

import dev.warmpath.extproc.candidate.ServedWorker;
import dev.warmpath.extproc.kvcache.CacheKnowledge;
import dev.warmpath.extproc.kvcache.WorkerCache;
import dev.warmpath.extproc.predict.WorkerModel;
import dev.warmpath.extproc.prompt.TokenPrompt;
import org.jspecify.annotations.Nullable;

/** A worker as configured now, and what is known of it. Guarded by the router's lock. */
final class WorkerSlot {
  private static final String NO_TOKENIZER = "the pool has no tokenizer";

  private ServedWorker served;
  private final WorkerModel model;
  private final WorkerCache cache = new WorkerCache();
  private boolean configured = true;
  private String tokenizerProblem = NO_TOKENIZER;
  private double indexBlockTokens;

  WorkerSlot(ServedWorker served, WorkerModel model) {
    this.served = served;
    this.model = model;
  }

  ServedWorker served() {
    return served;
  }

  /** Whether that is the worker in this slot, as it is configured now or was before. */
  @SuppressWarnings(
      "ReferenceEquality") // nearly always the same instance, and asked once a candidate
  boolean serves(ServedWorker worker) {
    return worker == served || worker.id().equals(served.id());
  }

  WorkerModel model() {
    return model;
  }

  /** What its events tell of its cache. */
  WorkerCache cache() {
    return cache;
  }

  CacheKnowledge knowledge() {
    return cache.knowledge(tokenizerProblem.isEmpty(), model.reportedCacheTokens());
  }

  /** Why prompts for it cannot be told in tokens; empty where they can. */
  void tokenizer(String problem) {
    tokenizerProblem = problem;
  }

  /** Tokens of that prompt that will hit here, or -1 where that is not known exactly. */
  int exactlyCached(TokenPrompt prompt, String upstreamModel, long nowNanos) {
    long[] chain = exactChain(prompt, upstreamModel);
    if (chain == null) {
      return -1;
    }
    cache.expire(nowNanos);
    int block = blockTokens();
    // The last token is always computed, and with it its block.
    int most = (prompt.length() - 1) / block;
    return block * Math.min(most, cache.match(chain));
  }

  /** How well it is known what of that prompt is here; null stands for one not told in tokens. */
  CacheKnowledge knowledge(@Nullable TokenPrompt prompt, String upstreamModel) {
    CacheKnowledge here = knowledge();
    boolean inferred =
        here == CacheKnowledge.EXACT
            && (prompt == null || exactChain(prompt, upstreamModel) == null);
    return inferred ? CacheKnowledge.ASSISTED : here;
  }

  /** Tokens of one block, as its events tell or, before the first, as it reports; 0 unknown. */
  private int blockTokens() {
    int told = cache.blockTokens();
    Integer reported = model.reportedBlockTokens();
    return told != 0 || reported == null ? told : reported;
  }

  /** The blocks of that prompt as its cache has them, or null where that is not known exactly. */
  long @Nullable [] exactChain(TokenPrompt prompt, String upstreamModel) {
    boolean known =
        knowledge() == CacheKnowledge.EXACT && (!prompt.salted() || cache.tellsExtras());
    if (!known) {
      return null;
    }
    int block = blockTokens();
    return block == 0 ? null : prompt.chain(block, cache.adapter(upstreamModel));
  }

  /** Tokens of one block of the index in the last prompt that came here; 0 before the first. */
  double indexBlockTokens() {
    return indexBlockTokens;
  }

  void indexBlockTokens(double tokens) {
    indexBlockTokens = tokens;
  }

  boolean configured() {
    return configured;
  }

  void configured(ServedWorker fresh) {
    served = fresh;
    configured = true;
    model.profile(fresh.profile().kvCacheTokens());
  }

  WorkerStatus status() {
    return new WorkerStatus(
        served.id(),
        served.endpoint(),
        served.ready() && !model.down(),
        model.load().queued(),
        model.load().decoding(),
        model.load().queuedWorkSeconds(),
        model.cacheTokens(),
        model.speedFactor(),
        model.error().medianAbsoluteRatio(),
        model.error().coverage(),
        knowledge(),
        cache.reason(tokenizerProblem, model.reportedCacheTokens()),
        cache.residentTokens(),
        cache.bytes());
  }

  void gone() {
    configured = false;
  }
}
