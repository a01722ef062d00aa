package dev.warmpath.extproc.route;

import dev.warmpath.extproc.candidate.ServedWorker;
import dev.warmpath.extproc.kvcache.CacheKnowledge;
import dev.warmpath.extproc.kvcache.WorkerCache;
import dev.warmpath.extproc.predict.WorkerModel;

/** A worker as configured now, and what is known of it. Guarded by the router's lock. */
final class WorkerSlot {
  private ServedWorker served;
  private final WorkerModel model;
  private final WorkerCache cache = new WorkerCache();
  private boolean configured = true;
  private boolean tokenizer;
  private double indexBlockTokens;

  WorkerSlot(ServedWorker served, WorkerModel model) {
    this.served = served;
    this.model = model;
  }

  ServedWorker served() {
    return served;
  }

  WorkerModel model() {
    return model;
  }

  /** What its events tell of its cache. */
  WorkerCache cache() {
    return cache;
  }

  CacheKnowledge knowledge() {
    return cache.knowledge(tokenizer, model.reportedCacheTokens());
  }

  /** Whether prompts for it can be told in tokens. */
  void tokenizer(boolean there) {
    tokenizer = there;
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
        served.ready(),
        model.load().queued(),
        model.load().decoding(),
        model.load().queuedWorkSeconds(),
        model.cacheTokens(),
        model.speedFactor(),
        model.error().medianAbsoluteRatio(),
        model.error().coverage(),
        knowledge(),
        cache.reason(tokenizer, model.reportedCacheTokens()),
        cache.residentTokens(),
        cache.bytes());
  }

  void gone() {
    configured = false;
  }
}
