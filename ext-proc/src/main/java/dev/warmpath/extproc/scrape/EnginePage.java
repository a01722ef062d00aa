package dev.warmpath.extproc.scrape;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.List;

/**
 * What one page of metrics says; NaN where it says nothing.
 *
 * @param kvCacheUsedRatio 0 to 1, mean over engines
 * @param prefillTokensTotal counter of prompt tokens that were computed
 * @param promptTokensTotal counter of all prompt tokens
 * @param generatedTokensTotal counter
 * @param processStartSeconds Unix time
 */
record EnginePage(
    double running,
    double waiting,
    double kvCacheUsedRatio,
    double kvCacheTokens,
    double blockTokens,
    double prefillSecondsTotal,
    double prefillTokensTotal,
    double promptTokensTotal,
    double generatedTokensTotal,
    double processStartSeconds) {

  static EnginePage read(byte[] text, EngineNames names, String model) {
    byte[] wantedModel = model.getBytes(UTF_8);
    MetricReading running = new MetricReading(names.running);
    MetricReading waiting = new MetricReading(names.waiting);
    MetricReading used = new MetricReading(names.kvCacheUsed);
    MetricReading cacheTokens = new MetricReading(names.cacheTokens);
    MetricReading prefillSeconds = new MetricReading(names.prefillSeconds);
    MetricReading computed = new MetricReading(names.computedTokens);
    MetricReading prompt = new MetricReading(names.promptTokens);
    MetricReading cached = new MetricReading(names.cachedTokens);
    MetricReading generated = new MetricReading(names.generatedTokens);
    List<MetricReading> readings =
        List.of(
            running,
            waiting,
            used,
            cacheTokens,
            prefillSeconds,
            computed,
            prompt,
            cached,
            generated);
    double configTokens = Double.NaN;
    double blockTokens = Double.NaN;
    double processStart = Double.NaN;

    PrometheusText samples = new PrometheusText(text);
    while (samples.next()) {
      if (samples.nameIs(EngineNames.PROCESS_START)) {
        processStart = samples.value();
      } else if (isOneOf(samples, names.cacheConfig)) {
        // One for each engine of a data-parallel worker, all alike: their caches add up.
        configTokens = Double.isNaN(configTokens) ? 0 : configTokens;
        configTokens += cacheTokensOf(samples);
        blockTokens = blockTokensOf(samples);
      } else {
        offer(readings, samples, wantedModel);
      }
    }
    return new EnginePage(
        running.sum(),
        waiting.sum(),
        used.mean(),
        cacheTokens.present() ? cacheTokens.sum() : configTokens,
        blockTokens,
        prefillSeconds.sum(),
        computed.present() ? computed.sum() : prompt.sum() - cached.sum(),
        prompt.sum(),
        generated.sum(),
        processStart);
  }

  private static void offer(List<MetricReading> readings, PrometheusText sample, byte[] model) {
    for (MetricReading reading : readings) {
      if (reading.offer(sample, model)) {
        return;
      }
    }
  }

  private static boolean isOneOf(PrometheusText sample, List<byte[]> names) {
    for (byte[] name : names) {
      if (sample.nameIs(name)) {
        return true;
      }
    }
    return false;
  }

  /** Newer engines state the size; with older ones it is blocks times block size. */
  private static double cacheTokensOf(PrometheusText sample) {
    double stated = sample.numericLabel(EngineNames.CACHE_TOKENS_LABEL);
    return stated > 0
        ? stated
        : sample.numericLabel(EngineNames.NUM_BLOCKS_LABEL)
            * sample.numericLabel(EngineNames.BLOCK_SIZE_LABEL);
  }

  private static double blockTokensOf(PrometheusText sample) {
    double attention = sample.numericLabel(EngineNames.ATTENTION_BLOCK_SIZE_LABEL);
    return attention > 0 ? attention : sample.numericLabel(EngineNames.BLOCK_SIZE_LABEL);
  }
}
