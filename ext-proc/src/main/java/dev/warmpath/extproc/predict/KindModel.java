package dev.warmpath.extproc.predict;

import dev.warmpath.crds.v1alpha1.WorkerSetSpec;

/**
 * What workers of one model on one kind of hardware share: costs, cache geometry, how predictions
 * turn out.
 *
 * <p>Not thread-safe: guarded by the router's lock.
 */
public final class KindModel {
  private final CostModel cost;
  private final CacheGeometry cache = new CacheGeometry();
  private final ResidualQuantiles residuals = new ResidualQuantiles();
  private final PredictionError error = new PredictionError();
  private final Riding riding = new Riding();
  private final DecodeModel decode = new DecodeModel();
  private double meanWorkSeconds = 0.2;
  private long observed;

  public KindModel(WorkerSetSpec.Profile profile) {
    cost = new CostModel(profile);
  }

  public CostModel cost() {
    return cost;
  }

  public CacheGeometry cache() {
    return cache;
  }

  public PredictionError error() {
    return error;
  }

  DecodeModel decode() {
    return decode;
  }

  Riding riding() {
    return riding;
  }

  ResidualQuantiles residuals() {
    return residuals;
  }

  /** What a prompt of unknown size probably costs: the mean of those seen. */
  double meanWorkSeconds() {
    return meanWorkSeconds;
  }

  void observedWork(double seconds) {
    observed++;
    meanWorkSeconds += (seconds - meanWorkSeconds) / Math.min(observed, 100);
  }

  /**
   * A prediction and what came, in seconds.
   *
   * @param early as {@link Forecast#early}
   */
  public void learnResidual(
      double predictedSum,
      double median,
      double high,
      boolean queued,
      boolean early,
      double actual) {
    error.add(median, high, actual);
    residuals.learn(predictedSum, high, queued, early, actual);
  }

  /** What an answer reported as cached, against what was expected. */
  public void learnCached(int expected, int cached) {
    cache.learn(expected, cached);
  }
}
