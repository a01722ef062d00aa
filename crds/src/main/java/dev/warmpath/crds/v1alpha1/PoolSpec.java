package dev.warmpath.crds.v1alpha1;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.crd.generator.annotation.SchemaFrom;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One served model on one or more worker sets. */
public record PoolSpec(
    @Required
        @Size(min = 1, max = 253)
        @JsonPropertyDescription(
            "Name under which the workers serve the model; requests are rewritten to it.")
        String model,
    @Required
        @Size(min = 1, max = 64)
        @JsonPropertyDescription("Worker sets that serve the model. Mixed hardware is fine.")
        List<LocalRef> workerSets,
    @Default("{}") @JsonPropertyDescription("The service level that reports and admission aim at.")
        Objective objective,
    @Default("{}") @JsonPropertyDescription("How a worker is chosen.") Routing routing,
    @Default("{}") @JsonPropertyDescription("When the pool counts as full.") Limits limits,
    @JsonPropertyDescription(
            "The model's tokenizer, needed to match KV cache events. Absent: prompt sizes are"
                + " estimated from bytes.")
        @Nullable Tokenizer tokenizer) {

  /** The time to first token that at least {@code quantile} of the requests should meet. */
  @ValidationRule(
      value = "!has(self.ttft) || duration(self.ttft) > duration('0s')",
      message = "ttft must be longer than 0s",
      fieldPath = ".ttft")
  public record Objective(
      @Default("8s")
          @SchemaFrom(type = String.class)
          @Pattern(Durations.PATTERN)
          @JsonPropertyDescription("Time to first token to aim at. Duration. Default 8s.")
          Duration ttft,
      @Default("0.9")
          @Min(value = 0, inclusive = false)
          @Max(value = 1, inclusive = false)
          @JsonPropertyDescription(
              "Share of requests that should meet it, between 0 and 1. Default 0.9.")
          double quantile) {}

  public record Routing(
      @Default("PredictedTTFT")
          @JsonPropertyDescription(
              "PredictedTTFT: the worker with the earliest predicted first token. The others are"
                  + " baselines to compare with. Default PredictedTTFT.")
          Algorithm algorithm) {}

  /** {@code PredictedTTFT} is the product; the others are honest baselines. */
  public enum Algorithm {
    PredictedTTFT,
    LeastRequest,
    RoundRobin,
    Random,
    PrefixAffinity
  }

  public record Limits(
      @Default("64")
          @Min(1)
          @JsonPropertyDescription(
              "Prompts that may wait on one worker. When every worker is above it, the answer is 429"
                  + " with Retry-After. Default 64.")
          int maxQueuedPromptsPerWorker) {}

  /**
   * Folder with {@code tokenizer.json} and the chat template, for exact cache knowledge from KV
   * events.
   */
  public record Tokenizer(
      @Required
          @Size(min = 1, max = 1024)
          @JsonPropertyDescription(
              "Folder with tokenizer.json and the chat template, as the processor sees it.")
          String path) {}
}
