package dev.warmpath.extproc.route;

import dev.warmpath.extproc.candidate.ServedWorker;
import dev.warmpath.extproc.predict.WorkerModel;

/** A worker as configured now, and what is known of it. Guarded by the router's lock. */
final class WorkerSlot {
  private ServedWorker served;
  private final WorkerModel model;
  private boolean configured = true;

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
        model.error().coverage());
  }

  void gone() {
    configured = false;
  }
}
