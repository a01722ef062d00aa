package dev.warmpath.benchmarks.replay;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import org.jspecify.annotations.Nullable;

/**
 * One run of one algorithm on one workload. Field names are a contract of {@code --json}. Times are
 * virtual seconds from arrival; failed requests count as failures of the goodput and are missing
 * from percentiles, so their number stands beside them.
 *
 * @param loadCov coefficient of variation of the work seconds done by each worker
 * @param goodputPerMin requests per minute that met the objective
 * @param sloMet at least 90 % of all requests, failed ones included, met the objective
 * @param predictionMedianApe median of |predicted - actual| / actual; null if the algorithm
 *     predicts nothing
 * @param q90Coverage share of requests whose actual time was at most the predicted 90 % quantile;
 *     null likewise
 * @param ttftSeconds all times to first token, sorted
 */
@SuppressWarnings("ArrayRecordComponent") // read once by the chart; never compared
record Result(
    String workload,
    String mode,
    int concurrency,
    String algorithm,
    int workers,
    long seed,
    int requests,
    int failed,
    @JsonProperty("ttft_p50_s") double ttftP50,
    @JsonProperty("ttft_p90_s") double ttftP90,
    @JsonProperty("ttft_p99_s") double ttftP99,
    @JsonProperty("ttft_mean_s") double ttftMean,
    @JsonProperty("e2e_p50_s") double e2eP50,
    @JsonProperty("itl_p99_s") double itlP99,
    @JsonProperty("cached_ratio") double cachedRatio,
    @JsonProperty("load_cov") double loadCov,
    @JsonProperty("goodput_per_min") double goodputPerMin,
    @JsonProperty("slo_met") boolean sloMet,
    @JsonProperty("prediction_median_ape") @Nullable Double predictionMedianApe,
    @JsonProperty("prediction_p90_ape") @Nullable Double predictionP90Ape,
    @JsonProperty("q90_coverage") @Nullable Double q90Coverage,
    @JsonProperty("wall_s") double wallSeconds,
    @JsonIgnore double[] ttftSeconds) {}
