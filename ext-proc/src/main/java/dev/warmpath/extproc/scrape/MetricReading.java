package dev.warmpath.extproc.scrape;

import java.util.List;

/**
 * One metric while a page is read: summed over engines of a data-parallel worker, for the newest
 * name that is present, and for the wanted model where the worker labels by model.
 */
final class MetricReading {
  private final List<byte[]> names;
  private int bestName = Integer.MAX_VALUE;
  private boolean modelSeen;
  private double sum;
  private int samples;

  MetricReading(List<byte[]> names) {
    this.names = names;
  }

  /** Returns whether the sample is this metric, wanted or not. */
  boolean offer(PrometheusText sample, byte[] model) {
    for (int i = 0; i < names.size(); i++) {
      if (sample.nameIs(names.get(i))) {
        take(i, sample.labelIs(EngineNames.MODEL_LABEL, model), sample.value());
        return true;
      }
    }
    return false;
  }

  boolean present() {
    return samples > 0;
  }

  double sum() {
    return samples == 0 ? Double.NaN : sum;
  }

  double mean() {
    return samples == 0 ? Double.NaN : sum / samples;
  }

  /**
   * A worker may report several models; as soon as the wanted one appears the others are dropped.
   * If it never does (another served name), everything counts.
   */
  private void take(int name, boolean wantedModel, double value) {
    if (name > bestName || (modelSeen && !wantedModel)) {
      return;
    }
    if (name < bestName || (wantedModel && !modelSeen)) {
      sum = 0;
      samples = 0;
    }
    bestName = name;
    modelSeen = wantedModel;
    sum += value;
    samples++;
  }
}
