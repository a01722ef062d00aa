package dev.warmpath.extproc.predict;

import org.jspecify.annotations.Nullable;

/**
 * How many tokens the KV cache of one worker holds: all of it for running requests, and what of it
 * is of use for prefixes.
 *
 * <p>Not thread-safe: guarded by the router's lock.
 */
final class CacheSize {
  /** Nothing known at all: one 16k prompt twice over. */
  private static final long DEFAULT_TOKENS = 64_000;

  private final EngineReport report;
  private final CacheGeometry geometry;
  private @Nullable Long profiled;
  private @Nullable Long observed;

  CacheSize(EngineReport report, CacheGeometry geometry, @Nullable Long profiled) {
    this.report = report;
    this.geometry = geometry;
    this.profiled = profiled;
  }

  /** The configuration says that size, or none. */
  void profiled(@Nullable Long tokens) {
    profiled = tokens;
  }

  /** What the cache held when it began to throw out; null where that is not known. */
  void observed(@Nullable Long tokens) {
    observed = tokens;
  }

  /** All of it: as reported, else as configured. */
  double nominalTokens() {
    Long reported = report.kvCacheTokens();
    Long nominal = reported != null ? reported : profiled;
    return nominal != null ? nominal : DEFAULT_TOKENS;
  }

  /** What prefixes have of it: observed, else as learnt. */
  double prefixTokens() {
    Long known = observed;
    return known != null ? known : nominalTokens() * geometry.share();
  }
}
