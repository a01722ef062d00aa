package dev.warmpath.extproc.candidate;

import org.jspecify.annotations.Nullable;

/**
 * What one scrape of a worker said; null where the worker does not report it, which means unknown
 * and never zero.
 *
 * @param running requests in the engine's batch, those in prefill included
 * @param waiting requests that the engine has queued
 * @param kvCacheUsedRatio share of KV blocks that running requests hold, 0 to 1
 * @param kvCacheTokens size of the KV cache in tokens (blocks x block size)
 * @param blockTokens tokens of one cache block
 * @param prefillSecondsTotal counter: seconds spent in prefill by all requests
 * @param prefillTokensTotal counter: prompt tokens that were computed, cached ones excluded
 * @param atNanos when the answer was complete, on the injected nanosecond clock
 */
public record WorkerGauges(
    @Nullable Integer running,
    @Nullable Integer waiting,
    @Nullable Double kvCacheUsedRatio,
    @Nullable Long kvCacheTokens,
    @Nullable Integer blockTokens,
    @Nullable Double prefillSecondsTotal,
    @Nullable Double prefillTokensTotal,
    long atNanos) {}
