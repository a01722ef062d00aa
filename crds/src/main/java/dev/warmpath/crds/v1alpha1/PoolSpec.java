package dev.warmpath.crds.v1alpha1;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One served model on one or more worker sets. */
public record PoolSpec(
    String model,
    List<LocalRef> workerSets,
    Objective objective,
    Routing routing,
    Limits limits,
    @Nullable Tokenizer tokenizer) {

  /** The time to first token that at least {@code quantile} of the requests should meet. */
  public record Objective(Duration ttft, double quantile) {}

  public record Routing(Algorithm algorithm) {}

  /** {@code PredictedTTFT} is the product; the others are honest baselines. */
  public enum Algorithm {
    PredictedTTFT,
    LeastRequest,
    RoundRobin,
    Random,
    PrefixAffinity
  }

  public record Limits(int maxQueuedPromptsPerWorker) {}

  /**
   * Folder with {@code tokenizer.json} and the chat template, for exact cache knowledge from KV
   * events.
   */
  public record Tokenizer(String path) {}
}
