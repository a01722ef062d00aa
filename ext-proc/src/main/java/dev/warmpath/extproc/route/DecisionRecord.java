package dev.warmpath.extproc.route;

import dev.warmpath.extproc.inflight.InFlightRequest;
import dev.warmpath.extproc.kvcache.CacheKnowledge;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Why a request went where it went, and what came of it. Holds names and numbers, never prompt text
 * or keys. A value of its own: the request may go on while it is read.
 *
 * @param at when the decision was made, ISO 8601
 * @param configVersion version of the routing configuration
 * @param upstreamModel null where nothing was chosen
 * @param promptBlocks blocks of the fingerprint
 * @param candidates best first; at most {@link #MAX_CANDIDATES} of {@code candidateCount}
 * @param removed what was cut before the choice, and why
 * @param algorithm how the pick was made
 * @param refusal null where the request was sent on
 * @param decisionMicros time that the decision took
 * @param outcome null while the request runs
 * @param actualTtftSeconds null before the first token, and where it can't be seen
 * @param errorRatio (actual - predicted) / actual of the last attempt
 */
public record DecisionRecord(
    String id,
    String requestId,
    String at,
    String configVersion,
    String operation,
    String tenant,
    String model,
    @Nullable String upstreamModel,
    boolean stream,
    int promptTokens,
    int promptBlocks,
    List<Candidate> candidates,
    int candidateCount,
    List<Removed> removed,
    String algorithm,
    Policy policy,
    List<Attempt> attempts,
    @Nullable Refusal refusal,
    double decisionMicros,
    InFlightRequest.@Nullable Outcome outcome,
    @Nullable Double predictedTtftSeconds,
    @Nullable Double predictedHighSeconds,
    @Nullable Double actualTtftSeconds,
    @Nullable Double errorRatio,
    @Nullable Double totalSeconds,
    InFlightRequest.@Nullable Usage usage) {
  /** More than a reader looks at. */
  public static final int MAX_CANDIDATES = 8;

  public DecisionRecord {
    candidates = List.copyOf(candidates);
    removed = List.copyOf(removed);
    attempts = List.copyOf(attempts);
  }

  /**
   * One endpoint that could have been chosen, all terms in seconds.
   *
   * @param worker name, or the provider's
   * @param rank 1 is the pick, 2 and 3 are what a retry tries, 0 the rest
   * @param othersSeconds what choosing it costs later prompts
   * @param cacheKnowledge how well the contents of its cache were known
   * @param predictedSeconds the sum of the terms without {@code othersSeconds}; the choice goes by
   *     both
   * @param medianSeconds the sum, corrected by how such sums turn out
   * @param highSeconds not exceeded in nine of ten cases
   */
  public record Candidate(
      String worker,
      String endpoint,
      String backend,
      String cluster,
      int rank,
      int inFlight,
      int cachedTokens,
      CacheKnowledge cacheKnowledge,
      double queueSeconds,
      double workSeconds,
      double frontEndSeconds,
      double stepSeconds,
      double memorySeconds,
      double foreignSeconds,
      double othersSeconds,
      double faultSeconds,
      double predictedSeconds,
      double medianSeconds,
      double highSeconds) {}

  /** A backend that was no candidate. */
  public record Removed(String backend, int tier, String cause, String by, String detail) {}

  /**
   * What policies did.
   *
   * @param decidedBy the policy whose route was taken; null for the default
   */
  public record Policy(
      @Nullable String decidedBy,
      List<String> matched,
      Map<String, String> labels,
      List<String> failures,
      List<String> shadows) {}

  /** One try, in order. */
  public record Attempt(String worker, String endpoint, double afterSeconds) {}

  /** The error that the client got. */
  public record Refusal(int status, String code, String message) {}
}
