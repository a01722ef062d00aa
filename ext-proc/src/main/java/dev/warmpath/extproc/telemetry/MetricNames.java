package dev.warmpath.extproc.telemetry;

import java.util.List;

/**
 * Every metric of the processor, under the name that Prometheus sees. {@code docs/metrics.md} says
 * the same; a test compares. Labels have few values: never an id, a tenant's key or a session.
 */
public final class MetricNames {
  // Requests
  public static final String REQUESTS = "warmpath_requests_total";
  public static final String DECISIONS = "warmpath_decisions_total";
  public static final String DECISION_SECONDS = "warmpath_decision_seconds";
  public static final String DECISIONS_DEFERRED = "warmpath_decisions_deferred_total";
  public static final String DECISIONS_FAILED = "warmpath_decisions_failed_total";
  public static final String DECISIONS_QUEUED = "warmpath_decisions_queued";
  public static final String REQUESTS_SHED = "warmpath_requests_shed_total";
  public static final String BUFFERED_BYTES = "warmpath_buffered_body_bytes";
  public static final String BUFFERED_LIMIT_BYTES = "warmpath_buffered_body_limit_bytes";
  public static final String ACCESS_LOG_ENTRIES = "warmpath_access_log_entries_total";

  // Policies
  public static final String POLICY_FAILURES = "warmpath_policy_failures_total";
  public static final String POLICY_SHADOW = "warmpath_policy_shadow_total";
  public static final String LABELS = "warmpath_labels_total";
  public static final String WAITING_REQUESTS = "warmpath_waiting_requests";
  public static final String WAITING_BYTES = "warmpath_waiting_bytes";

  // What was served: names of the OpenTelemetry GenAI conventions
  public static final String TTFT_SECONDS = "gen_ai_server_time_to_first_token_seconds";
  public static final String REQUEST_SECONDS = "gen_ai_server_request_duration_seconds";
  public static final String INPUT_TOKENS = "gen_ai_client_inference_usage_input_tokens_total";
  public static final String CACHED_TOKENS =
      "gen_ai_client_inference_usage_cache_read_input_tokens_total";
  public static final String OUTPUT_TOKENS = "gen_ai_client_inference_usage_output_tokens_total";

  // Routing
  public static final String LEASES = "warmpath_leases";
  public static final String IN_FLIGHT_PROMPT_TOKENS = "warmpath_inflight_prompt_tokens";
  public static final String LEASES_MOVED = "warmpath_leases_moved_total";
  public static final String LEASES_LEAKED = "warmpath_leases_leaked_total";
  public static final String INDEX_BYTES = "warmpath_prefix_index_bytes";
  public static final String PREDICTION_ERROR_RATIO = "warmpath_prediction_error_ratio";
  public static final String WORKER_QUEUED = "warmpath_worker_queued_prompts";
  public static final String WORKER_DECODING = "warmpath_worker_decoding_requests";
  public static final String WORKER_QUEUED_SECONDS = "warmpath_worker_queued_work_seconds";
  public static final String WORKER_CACHE_TOKENS = "warmpath_worker_cache_tokens";
  public static final String WORKER_SPEED_RATIO = "warmpath_worker_speed_ratio";
  public static final String WORKER_ERROR_RATIO = "warmpath_worker_prediction_error_ratio";
  public static final String WORKER_COVERAGE_RATIO = "warmpath_worker_prediction_coverage_ratio";

  // Workers' metrics
  public static final String SCRAPES = "warmpath_scrapes_total";
  public static final String SCRAPE_SECONDS = "warmpath_scrape_seconds";
  public static final String WORKER_RESTARTS = "warmpath_worker_restarts_total";

  // Cache events
  public static final String WORKER_CACHE_KNOWLEDGE = "warmpath_worker_cache_knowledge";
  public static final String WORKER_CACHE_RESIDENT = "warmpath_worker_cache_resident_tokens";
  public static final String WORKER_CACHE_LEDGER_BYTES = "warmpath_worker_cache_ledger_bytes";
  public static final String PROMPTS_IN_TOKENS = "warmpath_prompts_in_tokens_total";
  public static final String KV_EVENTS = "warmpath_kv_events_total";

  // Configuration
  public static final String CONFIG_UPDATES = "warmpath_config_updates_total";
  public static final String CONFIG_CONNECTED = "warmpath_config_connected";
  public static final String CONFIG_NOT_SAVED = "warmpath_config_not_saved_total";
  public static final String READY = "warmpath_ready";

  /** All of them. */
  public static final List<String> ALL =
      List.of(
          REQUESTS,
          DECISIONS,
          DECISION_SECONDS,
          DECISIONS_DEFERRED,
          DECISIONS_FAILED,
          DECISIONS_QUEUED,
          REQUESTS_SHED,
          BUFFERED_BYTES,
          BUFFERED_LIMIT_BYTES,
          ACCESS_LOG_ENTRIES,
          POLICY_FAILURES,
          POLICY_SHADOW,
          LABELS,
          WAITING_REQUESTS,
          WAITING_BYTES,
          TTFT_SECONDS,
          REQUEST_SECONDS,
          INPUT_TOKENS,
          CACHED_TOKENS,
          OUTPUT_TOKENS,
          LEASES,
          IN_FLIGHT_PROMPT_TOKENS,
          LEASES_MOVED,
          LEASES_LEAKED,
          INDEX_BYTES,
          PREDICTION_ERROR_RATIO,
          WORKER_QUEUED,
          WORKER_DECODING,
          WORKER_QUEUED_SECONDS,
          WORKER_CACHE_TOKENS,
          WORKER_SPEED_RATIO,
          WORKER_ERROR_RATIO,
          WORKER_COVERAGE_RATIO,
          SCRAPES,
          SCRAPE_SECONDS,
          WORKER_RESTARTS,
          WORKER_CACHE_KNOWLEDGE,
          WORKER_CACHE_RESIDENT,
          WORKER_CACHE_LEDGER_BYTES,
          PROMPTS_IN_TOKENS,
          KV_EVENTS,
          CONFIG_UPDATES,
          CONFIG_CONNECTED,
          CONFIG_NOT_SAVED,
          READY);

  private MetricNames() {}
}
