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

  void gone() {
    configured = false;
  }
}
