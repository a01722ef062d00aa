package dev.warmpath.extproc.route;

import dev.warmpath.crds.v1alpha1.PolicySpec;
import dev.warmpath.crds.v1alpha1.PoolSpec;
import dev.warmpath.extproc.candidate.ServedPool;
import dev.warmpath.extproc.inflight.InFlightRequest;
import dev.warmpath.extproc.prompt.TokenPrompt;
import dev.warmpath.extproc.request.PromptFingerprint;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Outcome of placing a prompt. */
public sealed interface Placement {

  /**
   * What is to be placed; needs no body, so that a replay can drive the choice.
   *
   * @param decisionId unique
   * @param streaming the first token will be seen
   * @param tiers targets in order of preference; the first tier with a free endpoint decides, the
   *     others are what retries fall back to
   * @param tokens the prompt in tokens, by the folder of the tokenizer, as far as it can be told
   */
  record Prompt(
      String decisionId,
      PromptFingerprint fingerprint,
      boolean streaming,
      List<List<Target>> tiers,
      PolicySpec.Choose choose,
      long ttftSlackNanos,
      Map<String, TokenPrompt> tokens) {
    public Prompt {
      tiers = List.copyOf(tiers);
    }

    /** A prompt whose tokens are not known. */
    public Prompt(
        String decisionId,
        PromptFingerprint fingerprint,
        boolean streaming,
        List<List<Target>> tiers,
        PolicySpec.Choose choose,
        long ttftSlackNanos) {
      this(decisionId, fingerprint, streaming, tiers, choose, ttftSlackNanos, Map.of());
    }

    /** In tokens of that pool's model, or null. */
    @Nullable TokenPrompt tokens(@Nullable ServedPool pool) {
      PoolSpec.Tokenizer tokenizer = pool == null ? null : pool.spec().tokenizer();
      return tokenizer == null ? null : tokens.get(tokenizer.path());
    }
  }

  /**
   * A lease is held.
   *
   * @param destinations "ip:port" of workers, best first
   * @param clusters one per attempt, or a single one for all
   * @param targets the targets behind {@code clusters}
   * @param medianSeconds predicted time to first token at the first destination
   * @param highSeconds not exceeded in nine of ten cases
   * @param waitNanos how long to wait before it is sent, so that the engine gets it behind the
   *     prompt that computes its beginning; 0 for most
   */
  record Placed(
      InFlightRequest request,
      List<String> destinations,
      List<String> clusters,
      List<Target> targets,
      double medianSeconds,
      double highSeconds,
      long waitNanos)
      implements Placement {}

  /** Every endpoint has its limit of queued prompts. */
  record Saturated(int retryAfterSeconds) implements Placement {}

  /** No endpoint is ready. */
  record Nowhere() implements Placement {}
}
