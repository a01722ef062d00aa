package dev.warmpath.extproc.scrape;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.warmpath.crds.v1alpha1.WorkerSetSpec;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Under which names an engine reports what the gateway wants to know. Names are matched exactly:
 * {@code num_requests_waiting_by_reason} beside {@code num_requests_waiting} would double a queue.
 * Where a metric was renamed between releases, both names are listed, the newest first; the first
 * that is present counts.
 */
final class EngineNames {
  /** Renamed in 0.9.2, the old name gone since 0.12. */
  private static final EngineNames VLLM =
      new EngineNames(
          names("vllm:num_requests_running"),
          names("vllm:num_requests_waiting"),
          names("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"),
          names("vllm:cache_config_info"),
          names(),
          names("vllm:request_prefill_time_seconds_sum"),
          names("vllm:request_prefill_kv_computed_tokens_sum"),
          names("vllm:prompt_tokens_total"),
          names("vllm:prefix_cache_hits_total", "vllm:gpu_prefix_cache_hits_total"),
          names("vllm:generation_tokens_total"));

  private static final EngineNames SGLANG =
      new EngineNames(
          names("sglang:num_running_reqs"),
          names("sglang:num_queue_reqs"),
          names("sglang:token_usage"),
          names(),
          names("sglang:max_total_num_tokens"),
          names(),
          names(),
          names("sglang:prompt_tokens_total"),
          names("sglang:cached_tokens_total"),
          names("sglang:generation_tokens_total"));

  static final byte[] PROCESS_START = ascii("process_start_time_seconds");
  static final byte[] MODEL_LABEL = ascii("model_name");
  static final byte[] NUM_BLOCKS_LABEL = ascii("num_gpu_blocks");
  static final byte[] BLOCK_SIZE_LABEL = ascii("block_size");
  static final byte[] ATTENTION_BLOCK_SIZE_LABEL = ascii("effective_attention_block_size");
  static final byte[] CACHE_TOKENS_LABEL = ascii("kv_cache_size_tokens");

  final List<byte[]> running;
  final List<byte[]> waiting;
  final List<byte[]> kvCacheUsed;
  final List<byte[]> cacheConfig;
  final List<byte[]> cacheTokens;
  final List<byte[]> prefillSeconds;
  final List<byte[]> computedTokens;
  final List<byte[]> promptTokens;
  final List<byte[]> cachedTokens;
  final List<byte[]> generatedTokens;

  private EngineNames(
      List<byte[]> running,
      List<byte[]> waiting,
      List<byte[]> kvCacheUsed,
      List<byte[]> cacheConfig,
      List<byte[]> cacheTokens,
      List<byte[]> prefillSeconds,
      List<byte[]> computedTokens,
      List<byte[]> promptTokens,
      List<byte[]> cachedTokens,
      List<byte[]> generatedTokens) {
    this.running = running;
    this.waiting = waiting;
    this.kvCacheUsed = kvCacheUsed;
    this.cacheConfig = cacheConfig;
    this.cacheTokens = cacheTokens;
    this.prefillSeconds = prefillSeconds;
    this.computedTokens = computedTokens;
    this.promptTokens = promptTokens;
    this.cachedTokens = cachedTokens;
    this.generatedTokens = generatedTokens;
  }

  /** Null for engines that are not known to report anything. */
  static @Nullable EngineNames of(WorkerSetSpec.Engine engine) {
    return switch (engine) {
      case vLLM -> VLLM;
      case SGLang -> SGLANG;
      case OpenAICompatible -> null;
    };
  }

  static byte[] ascii(String text) {
    return text.getBytes(US_ASCII);
  }

  private static List<byte[]> names(String... names) {
    return List.of(names).stream().map(EngineNames::ascii).toList();
  }
}
