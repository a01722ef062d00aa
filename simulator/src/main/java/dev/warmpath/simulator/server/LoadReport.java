package dev.warmpath.simulator.server;

import dev.warmpath.simulator.engine.EngineStats;
import java.math.BigDecimal;
import java.util.Locale;

/** The load report that a client may ask for with a non-streaming answer. */
final class LoadReport {
  private LoadReport() {}

  static String of(String form, EngineStats stats) {
    double waiting = stats.shownWaiting();
    String used = BigDecimal.valueOf(stats.shownUsedRatio()).toPlainString();
    return form.toUpperCase(Locale.ROOT).equals("JSON")
        ? "JSON {\"named_metrics\": {\"num_requests_waiting\": "
            + waiting
            + ", \"kv_cache_usage_perc\": "
            + used
            + "}}"
        : "TEXT named_metrics.num_requests_waiting="
            + waiting
            + ", named_metrics.kv_cache_usage_perc="
            + used;
  }
}
