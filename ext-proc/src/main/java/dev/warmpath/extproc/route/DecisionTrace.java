package dev.warmpath.extproc.route;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.v1alpha1.PoolSpec;
import dev.warmpath.extproc.inflight.InFlightRequest;
import dev.warmpath.extproc.policy.PolicyTrace;
import dev.warmpath.extproc.request.InferenceRequest;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What a decision record says of the decision itself, noted while it is made. Written by one thread
 * before the record can be read.
 */
final class DecisionTrace {
  private String id = "";
  private String requestId = "";
  private Instant at = Instant.EPOCH;
  private String configVersion = "";
  private String tenant = "";
  private String operation = "";
  private String model = "";
  private boolean stream;
  private int promptBlocks;
  private String upstreamModel = "";
  private int promptTokens;
  private PolicyTrace policy = PolicyTrace.EMPTY;
  private PoolSpec.Algorithm algorithm = PoolSpec.Algorithm.PredictedTTFT;
  private List<DecisionRecord.Candidate> candidates = List.of();
  private int candidateCount;
  private DecisionRecord.@Nullable Refusal refusal;
  private boolean clientGone;
  private long tookNanos;
  private @Nullable TrackedRequest tracked;

  void head(RequestHead head, Instant now, String version) {
    id = head.decisionId();
    requestId = head.requestId();
    at = now;
    configVersion = version;
  }

  /** What its path asks for, known before its body is read. */
  void operation(String path) {
    operation = path;
  }

  void tenant(String name) {
    tenant = name;
  }

  void request(InferenceRequest parsed) {
    operation = parsed.operation().path();
    model = parsed.model();
    stream = parsed.stream();
    promptBlocks = parsed.fingerprint().blocks();
  }

  PolicyTrace policy() {
    return policy;
  }

  void policy(PolicyTrace trace) {
    policy = trace;
  }

  void candidates(PoolSpec.Algorithm how, List<DecisionRecord.Candidate> records, int count) {
    algorithm = how;
    candidates = records;
    candidateCount = count;
  }

  void chosen(String model, int tokens) {
    upstreamModel = model;
    promptTokens = tokens;
  }

  void refused(ApiError error) {
    refusal = new DecisionRecord.Refusal(error.status(), error.code(), error.message());
  }

  /** Before anything was decided. */
  void clientGone() {
    clientGone = true;
  }

  void took(long nanos) {
    tookNanos = nanos;
  }

  void tracked(TrackedRequest what) {
    tracked = what;
  }

  DecisionRecord record() {
    TrackedRequest running = tracked;
    TrackedRequest.Progress progress =
        running == null ? TrackedRequest.Progress.NONE : running.progress();
    return new DecisionRecord(
        id,
        requestId,
        at.toString(),
        configVersion,
        operation,
        tenant,
        model,
        upstreamModel.isEmpty() ? null : upstreamModel,
        stream,
        promptTokens,
        promptBlocks,
        candidates,
        candidateCount,
        policy.removals().stream().map(DecisionTrace::removed).toList(),
        algorithm.name(),
        policyRecord(),
        progress.attempts(),
        refusal,
        tookNanos * 1e-3,
        clientGone ? InFlightRequest.Outcome.CLIENT_GONE : progress.outcome(),
        progress.predictedSeconds(),
        progress.highSeconds(),
        progress.actualSeconds(),
        progress.errorRatio(),
        progress.totalSeconds(),
        progress.usage());
  }

  private static DecisionRecord.Removed removed(PolicyTrace.Removal removal) {
    RoutingConfiguration.Id by = removal.by();
    return new DecisionRecord.Removed(
        name(removal.backend()),
        removal.tier(),
        removal.cause().name(),
        by == null ? "" : name(by),
        removal.detail());
  }

  private DecisionRecord.Policy policyRecord() {
    Map<String, String> labels = new TreeMap<>();
    policy.labels().forEach((key, label) -> labels.put(key, label.value()));
    RoutingConfiguration.Id decidedBy = policy.decidedBy();
    return new DecisionRecord.Policy(
        decidedBy == null ? null : name(decidedBy),
        policy.matched().stream().map(DecisionTrace::name).toList(),
        labels,
        policy.failures().stream()
            .map(
                failure -> name(failure.policy()) + " " + failure.site() + ": " + failure.message())
            .toList(),
        policy.shadows().stream()
            .map(shadow -> name(shadow.policy()) + ": " + shadow.outcome())
            .toList());
  }

  private static String name(RoutingConfiguration.Id id) {
    String name = id.namespace().isEmpty() ? id.name() : id.namespace() + "/" + id.name();
    return id.generation() == 0 ? name : name + "#" + id.generation();
  }
}
