package dev.warmpath.extproc.scrape;

import dev.warmpath.extproc.candidate.WorkerGauges;
import org.jspecify.annotations.Nullable;

/**
 * What a worker's pages say together: whether its process was replaced, and whether its gauges have
 * stopped moving. Not thread-safe: one scrape of a worker at a time.
 */
final class WorkerHistory {
  /** Clocks are adjusted; a restart takes longer than this. */
  private static final double START_TOLERANCE_SECONDS = 1.5;

  /**
   * Engines update gauges after a step only. The longest step that is no standstill is a long
   * prompt without any other work: some seconds.
   */
  private static final long STANDSTILL_NANOS = 15_000_000_000L;

  /** From then on what the gauges claim is believed half as much with each such time. */
  private static final double HALF_LIFE_NANOS = 5e9;

  private @Nullable EnginePage last;
  private long movedNanos;

  /** Whether {@code page} comes from another process than the pages before. */
  boolean restarted(EnginePage page) {
    EnginePage before = last;
    return before != null
        && (page.processStartSeconds() - before.processStartSeconds() > START_TOLERANCE_SECONDS
            || wentBack(before.promptTokensTotal(), page.promptTokensTotal())
            || wentBack(before.generatedTokensTotal(), page.generatedTokensTotal()));
  }

  /** Remembers the page and gives what is to be believed of it. */
  WorkerGauges accept(EnginePage page, long nowNanos) {
    EnginePage before = last;
    if (before == null || moved(before, page) || idle(page)) {
      movedNanos = nowNanos;
    }
    last = page;
    double belief = belief(nowNanos - movedNanos);
    return new WorkerGauges(
        count(page.running() * belief),
        count(page.waiting() * belief),
        ratio(page.kvCacheUsedRatio() * belief),
        positive(page.kvCacheTokens()),
        blockTokens(page.blockTokens()),
        known(page.prefillSecondsTotal()),
        known(page.prefillTokensTotal()),
        nowNanos);
  }

  /** Whether the worker had nothing to do when it was last seen. */
  boolean idle() {
    EnginePage page = last;
    return page != null && idle(page);
  }

  private static boolean idle(EnginePage page) {
    return page.running() == 0 && page.waiting() == 0;
  }

  private static boolean moved(EnginePage before, EnginePage now) {
    return differ(before.promptTokensTotal(), now.promptTokensTotal())
        || differ(before.generatedTokensTotal(), now.generatedTokensTotal())
        || differ(before.running(), now.running())
        || differ(before.waiting(), now.waiting());
  }

  /** Two unknowns do not differ. */
  private static boolean differ(double before, double now) {
    return Double.compare(before, now) != 0;
  }

  private static double belief(long standingNanos) {
    return standingNanos <= STANDSTILL_NANOS
        ? 1
        : Math.pow(0.5, (standingNanos - STANDSTILL_NANOS) / HALF_LIFE_NANOS);
  }

  /** Comparisons with NaN are false: an unknown counter proves nothing. */
  private static boolean wentBack(double before, double now) {
    return now < before;
  }

  private static @Nullable Integer count(double value) {
    return value >= 0 && value < Integer.MAX_VALUE ? (int) Math.round(value) : null;
  }

  private static @Nullable Integer blockTokens(double value) {
    return value > 0 && value < Integer.MAX_VALUE ? (int) value : null;
  }

  private static @Nullable Double ratio(double value) {
    return value >= 0 && value <= 1 ? value : null;
  }

  private static @Nullable Long positive(double value) {
    return value > 0 && value < Long.MAX_VALUE ? (long) value : null;
  }

  private static @Nullable Double known(double value) {
    return value >= 0 ? value : null;
  }
}
