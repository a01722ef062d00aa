package dev.warmpath.simulator.metrics;

import dev.warmpath.simulator.engine.EngineProfile;
import dev.warmpath.simulator.engine.EngineRequest;
import dev.warmpath.simulator.engine.EngineStats;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Everything the metrics page shows. A page that is frozen repeats what it showed last. Not
 * thread-safe.
 */
public final class EngineMetrics {
  private static final List<String> FINISHED_REASONS =
      List.of("stop", "length", "abort", "error", "repetition");

  private final EngineProfile profile;
  private final String model;
  private final String labels;
  private final double createdUnixSeconds;
  private final long[] finished = new long[FINISHED_REASONS.size()];
  private final Map<String, long[]> http = new LinkedHashMap<>();

  private final Histogram promptTokens = new Histogram(Histogram.TOKENS);
  private final Histogram generationTokens = new Histogram(Histogram.TOKENS);
  private final Histogram iterationTokens = new Histogram(Histogram.ITERATION_TOKENS);
  private final Histogram mostGenerationTokens = new Histogram(Histogram.TOKENS);
  private final Histogram choices = new Histogram(Histogram.CHOICES);
  private final Histogram limits = new Histogram(Histogram.TOKENS);
  private final Histogram firstToken = new Histogram(Histogram.FIRST_TOKEN_SECONDS);
  private final Histogram gap = new Histogram(Histogram.GAP_SECONDS);
  private final Histogram meanGap = new Histogram(Histogram.GAP_SECONDS);
  private final Histogram whole = new Histogram(Histogram.REQUEST_SECONDS);
  private final Histogram queue = new Histogram(Histogram.REQUEST_SECONDS);
  private final Histogram inference = new Histogram(Histogram.REQUEST_SECONDS);
  private final Histogram prefill = new Histogram(Histogram.REQUEST_SECONDS);
  private final Histogram decode = new Histogram(Histogram.REQUEST_SECONDS);
  private final Histogram preemptions = new Histogram(Histogram.PREEMPTIONS);
  private final Histogram computedTokens = new Histogram(Histogram.TOKENS);

  public EngineMetrics(EngineProfile profile, String model, double createdUnixSeconds) {
    this.profile = profile;
    this.model = model;
    this.createdUnixSeconds = createdUnixSeconds;
    labels = "engine=\"0\",model_name=\"" + model + "\"";
  }

  /** A request got its first token. */
  public void firstToken(EngineRequest request) {
    firstToken.record(seconds(request.firstTokenNanos() - request.arrivalNanos()));
  }

  /** A batch ran. */
  public void step(int decoders, long prefillTokens, long gapNanos, long steps) {
    iterationTokens.record((double) (decoders + prefillTokens), steps);
    if (decoders > 0) {
      gap.record(seconds(gapNanos), steps * decoders);
    }
  }

  /** A request got its last token. */
  public void finished(EngineRequest request, boolean byLimit, int choicesOfRequest) {
    finished[byLimit ? 1 : 0]++;
    promptTokens.record(request.promptTokens());
    generationTokens.record(request.generatedTokens());
    mostGenerationTokens.record(request.outputTokens());
    limits.record(request.outputTokens());
    choices.record(choicesOfRequest);
    preemptions.record(request.preemptions());
    computedTokens.record(request.promptTokens() - request.cachedTokens());
    long decodeNanos = request.finishNanos() - request.firstTokenNanos();
    whole.record(seconds(request.finishNanos() - request.arrivalNanos()));
    queue.record(seconds(request.scheduledNanos() - request.readyNanos()));
    inference.record(seconds(request.finishNanos() - request.scheduledNanos()));
    prefill.record(seconds(request.firstTokenNanos() - request.scheduledNanos()));
    decode.record(seconds(decodeNanos));
    meanGap.record(seconds(decodeNanos) / Math.max(1, request.generatedTokens() - 1));
  }

  /** An HTTP response was sent. */
  public void http(String handler, String method, int status) {
    String key =
        "handler=\"" + handler + "\",method=\"" + method + "\",status=\"" + status / 100 + "xx\"";
    http.computeIfAbsent(key, ignored -> new long[1])[0]++;
  }

  /** The page. */
  public String page(EngineStats stats) {
    MetricsText out = new MetricsText();
    counter(
        out,
        "estimated_flops_per_gpu",
        "Estimated number of floating point operations per GPU (for Model Flops Utilization calculations).",
        0);
    counter(
        out,
        "estimated_read_bytes_per_gpu",
        "Estimated number of bytes read from memory per GPU (for Model Flops Utilization calculations).",
        0);
    counter(
        out,
        "estimated_write_bytes_per_gpu",
        "Estimated number of bytes written to memory per GPU (for Model Flops Utilization calculations).",
        0);
    gauge(
        out,
        "num_requests_running",
        "Number of requests in model execution batches.",
        stats.shownRunning());
    gauge(
        out,
        "num_requests_waiting",
        "Number of requests waiting to be processed.",
        stats.shownWaiting());
    labelled(
        out,
        "num_requests_waiting_by_reason",
        "gauge",
        "Number of waiting requests by reason.",
        "reason",
        List.of("capacity", "deferred"),
        new double[] {stats.shownWaiting(), 0});
    labelled(
        out,
        "engine_sleep_state",
        "gauge",
        "Engine sleep state.",
        "sleep_state",
        List.of("awake", "weights_offloaded", "discard_all"),
        new double[] {1, 0, 0});
    gauge(
        out,
        "kv_cache_usage_perc",
        "KV-cache usage. 1 means 100 percent usage.",
        stats.shownUsedRatio());
    counter(
        out,
        "prefix_cache_queries",
        "Prefix cache queries, in terms of number of queried tokens.",
        stats.promptTokens());
    counter(
        out,
        "prefix_cache_hits",
        "Prefix cache hits, in terms of number of cached tokens.",
        stats.cachedTokens());
    counter(
        out,
        "external_prefix_cache_queries",
        "External prefix cache queries, in terms of number of queried tokens.",
        0);
    counter(
        out,
        "external_prefix_cache_hits",
        "External prefix cache hits, in terms of number of cached tokens.",
        0);
    counter(
        out,
        "mm_cache_queries",
        "Multi-modal cache queries, in terms of number of queried items.",
        0);
    counter(out, "mm_cache_hits", "Multi-modal cache hits, in terms of number of cached items.", 0);
    counter(
        out,
        "num_preemptions",
        "Cumulative number of preemption from the engine.",
        stats.preemptions());
    counter(out, "prompt_tokens", "Number of prefill tokens processed.", stats.promptTokens());
    labelledCounter(
        out,
        "prompt_tokens_by_source",
        "Number of prompt tokens by source.",
        "source",
        List.of("local_compute", "local_cache_hit", "external_kv_transfer"),
        new double[] {
          (stats.promptTokens() - (double) stats.cachedTokens()), (double) stats.cachedTokens(), 0
        },
        true);
    counter(
        out,
        "prompt_tokens_cached",
        "Number of cached prompt tokens (local + external).",
        stats.cachedTokens());
    labelledCounter(
        out,
        "prompt_tokens_cached_by_source",
        "Prefix-cache hit tokens by the cache tier that supplied them.",
        "source",
        List.of("device", "host", "p2p", "disk", "external_unspecified"),
        new double[] {(double) stats.cachedTokens(), 0, 0, 0, 0},
        true);
    counter(
        out,
        "generation_tokens",
        "Number of generation tokens processed.",
        stats.generatedTokens());
    requestSuccess(out);
    labelledCounter(
        out,
        "admission_rejections",
        "Number of admission attempts rejected by a queue limit, by reason.",
        "reason",
        List.of("max_num_queued_reqs", "max_num_queued_tokens"),
        new double[] {(double) stats.rejected(), 0},
        false);
    histogram(out, "request_prompt_tokens", "Number of prefill tokens processed.", promptTokens);
    histogram(
        out,
        "request_generation_tokens",
        "Number of generation tokens processed.",
        generationTokens);
    histogram(
        out,
        "iteration_tokens_total",
        "Histogram of number of tokens per engine_step.",
        iterationTokens);
    histogram(
        out,
        "request_max_num_generation_tokens",
        "Histogram of maximum number of requested generation tokens.",
        mostGenerationTokens);
    histogram(out, "request_params_n", "Histogram of the n request parameter.", choices);
    histogram(
        out, "request_params_max_tokens", "Histogram of the max_tokens request parameter.", limits);
    histogram(
        out,
        "time_to_first_token_seconds",
        "Histogram of time to first token in seconds.",
        firstToken);
    histogram(
        out, "inter_token_latency_seconds", "Histogram of inter-token latency in seconds.", gap);
    histogram(
        out,
        "request_time_per_output_token_seconds",
        "Histogram of time_per_output_token_seconds per request.",
        meanGap);
    histogram(
        out, "e2e_request_latency_seconds", "Histogram of e2e request latency in seconds.", whole);
    histogram(
        out,
        "request_queue_time_seconds",
        "Histogram of time spent in WAITING phase for request.",
        queue);
    histogram(
        out,
        "request_inference_time_seconds",
        "Histogram of time spent in RUNNING phase for request.",
        inference);
    histogram(
        out,
        "request_prefill_time_seconds",
        "Histogram of time spent in PREFILL phase for request.",
        prefill);
    histogram(
        out,
        "request_decode_time_seconds",
        "Histogram of time spent in DECODE phase for request.",
        decode);
    histogram(
        out,
        "request_num_preemptions",
        "Histogram of the number of times a request was preempted.",
        preemptions);
    histogram(
        out,
        "request_prefill_kv_computed_tokens",
        "Histogram of new KV tokens computed during prefill (excluding cached tokens).",
        computedTokens);
    cacheConfig(out);
    httpRequests(out);
    return out.toString();
  }

  private void requestSuccess(MetricsText out) {
    String name = "vllm:request_success";
    String help = "Count of successfully processed requests.";
    out.family(name + "_total", "counter", help);
    for (int i = 0; i < finished.length; i++) {
      out.sample(name + "_total", reason(i), finished[i]);
    }
    out.family(name + "_created", "gauge", help);
    for (int i = 0; i < finished.length; i++) {
      out.sample(name + "_created", reason(i), createdUnixSeconds);
    }
  }

  private String reason(int index) {
    return "engine=\"0\",finished_reason=\""
        + FINISHED_REASONS.get(index)
        + "\",model_name=\""
        + model
        + "\"";
  }

  private void cacheConfig(MetricsText out) {
    int block = profile.cache().blockTokens();
    int blocks = profile.cache().blocks();
    long capacity = profile.cache().capacityTokens();
    boolean hybrid = profile.cache().alignChunks();
    out.family("vllm:cache_config_info", "gauge", "Information of the LLMEngine CacheConfig");
    out.sample(
        "vllm:cache_config_info",
        "_block_size_resolved=\"True\",block_size=\""
            + block
            + "\",cache_dtype=\"auto\",cache_hit_alignment_tokens=\"None\",effective_attention_block_size=\""
            + block
            + "\",enable_mamba_shared_prefix_checkpoint=\""
            + (profile.cache().stateBlocks() > 0 ? "True" : "False")
            + "\",enable_prefix_caching=\""
            + (profile.cache().enabled() ? "True" : "False")
            + "\",engine=\"0\",gpu_memory_utilization=\"0.92\",hash_block_size=\"None\",is_attention_free=\"False\",kv_cache_dtype_skip_layers=\"[]\",kv_cache_layout=\"None\",kv_cache_max_concurrency=\""
            + (double) capacity / profile.maxModelTokens()
            + "\",kv_cache_memory_bytes=\"None\",kv_cache_size_tokens=\""
            + capacity
            + "\",kv_offloading_backend=\"native\",kv_offloading_size=\"None\",kv_sharing_fast_prefill=\"False\",mamba_block_size=\""
            + (hybrid ? String.valueOf(block) : "None")
            + "\",mamba_cache_dtype=\"auto\",mamba_cache_mode=\""
            + (hybrid ? "align" : "none")
            + "\",mamba_page_size_padded=\"None\",mamba_ssm_cache_dtype=\"auto\",num_cpu_blocks=\"None\",num_gpu_blocks=\""
            + blocks
            + "\",num_gpu_blocks_override=\"None\",prefix_cache_retention_interval=\"0\",prefix_caching_hash_algo=\"sha256\",prefix_match_unit=\"None\",replayssm_buffer_len=\"16\",skip_page_size_padded=\"None\",sliding_window=\"None\",swa_bounded_replay=\"True\",use_kda_recoverssm=\"False\",use_replayssm=\"False\",user_specified_block_size=\"False\"",
        1);
  }

  private void httpRequests(MetricsText out) {
    out.family(
        "http_requests_total",
        "counter",
        "Total number of requests by method, status and handler.");
    http.forEach((key, count) -> out.sample("http_requests_total", key, count[0]));
    out.family(
        "http_requests_created",
        "gauge",
        "Total number of requests by method, status and handler.");
    http.forEach((key, count) -> out.sample("http_requests_created", key, createdUnixSeconds));
  }

  private void counter(MetricsText out, String name, String help, double value) {
    out.family("vllm:" + name + "_total", "counter", help);
    out.sample("vllm:" + name + "_total", labels, value);
    out.family("vllm:" + name + "_created", "gauge", help);
    out.sample("vllm:" + name + "_created", labels, createdUnixSeconds);
  }

  private void counter(MetricsText out, String name, String help, long value) {
    counter(out, name, help, (double) value);
  }

  private void gauge(MetricsText out, String name, String help, double value) {
    out.family("vllm:" + name, "gauge", help);
    out.sample("vllm:" + name, labels, value);
  }

  private void histogram(MetricsText out, String name, String help, Histogram histogram) {
    out.family("vllm:" + name, "histogram", help);
    histogram.write(out, "vllm:" + name, labels);
    out.family("vllm:" + name + "_created", "gauge", help);
    out.sample("vllm:" + name + "_created", labels, createdUnixSeconds);
  }

  private void labelledCounter(
      MetricsText out,
      String name,
      String help,
      String label,
      List<String> values,
      double[] counts,
      boolean perEngine) {
    String base = perEngine ? labels : "model_name=\"" + model + "\"";
    out.family("vllm:" + name + "_total", "counter", help);
    for (int i = 0; i < counts.length; i++) {
      out.sample(
          "vllm:" + name + "_total", base + "," + label + "=\"" + values.get(i) + "\"", counts[i]);
    }
    out.family("vllm:" + name + "_created", "gauge", help);
    for (int i = 0; i < counts.length; i++) {
      out.sample(
          "vllm:" + name + "_created",
          base + "," + label + "=\"" + values.get(i) + "\"",
          createdUnixSeconds);
    }
  }

  private void labelled(
      MetricsText out,
      String name,
      String type,
      String help,
      String label,
      List<String> values,
      double[] counts) {
    out.family("vllm:" + name, type, help);
    for (int i = 0; i < counts.length; i++) {
      out.sample("vllm:" + name, labels + "," + label + "=\"" + values.get(i) + "\"", counts[i]);
    }
  }

  private static double seconds(long nanos) {
    return nanos / 1e9;
  }
}
