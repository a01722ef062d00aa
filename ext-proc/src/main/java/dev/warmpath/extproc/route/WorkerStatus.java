package dev.warmpath.extproc.route;

import dev.warmpath.extproc.candidate.WorkerId;
import dev.warmpath.extproc.kvcache.CacheKnowledge;

/**
 * A worker as the router sees it now; NaN where nothing is known.
 *
 * @param queuedPrompts sent by this gateway, first token not seen
 * @param decoding requests of this gateway that produce tokens
 * @param speedFactor own time over that of its kind; above 1 is slower
 * @param predictionErrorRatio median of |actual - predicted| / actual
 * @param predictionCoverageRatio share of first tokens within the predicted 90 % quantile
 * @param cacheKnowledge how well the contents of its cache are known
 * @param cacheReason why not better, for people; empty where it is exact
 * @param cacheResidentTokens tokens in its cache by its events; 0 without events
 * @param cacheLedgerBytes memory for what its events told
 */
public record WorkerStatus(
    WorkerId id,
    String endpoint,
    boolean ready,
    int queuedPrompts,
    int decoding,
    double queuedWorkSeconds,
    double cacheTokens,
    double speedFactor,
    double predictionErrorRatio,
    double predictionCoverageRatio,
    CacheKnowledge cacheKnowledge,
    String cacheReason,
    long cacheResidentTokens,
    long cacheLedgerBytes) {}
