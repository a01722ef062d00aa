package dev.warmpath.crds.v1alpha1;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.crd.generator.annotation.SchemaFrom;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A set of engine processes on like hardware. */
public record WorkerSetSpec(
    @Default("vLLM")
        @JsonPropertyDescription(
            "Server program of the workers; decides which metrics are read. OpenAICompatible has no"
                + " engine metrics: the gateway then knows only the requests it sent itself. Default"
                + " vLLM.")
        Engine engine,
    @Required
        @JsonPropertyDescription("Where the workers are found: exactly one of the three ways.")
        Workers workers,
    @Default("{}") @JsonPropertyDescription("How the workers' metrics are read.") Metrics metrics,
    @Default("{}")
        @JsonPropertyDescription(
            "Whether the workers publish their cache changes, which makes the knowledge of warm"
                + " prefixes exact.")
        KvEvents kvEvents,
    @Default("{}")
        @JsonPropertyDescription(
            "What the operator knows of the hardware. Whatever is absent is learnt from traffic.")
        Profile profile,
    @Default("30s")
        @SchemaFrom(type = String.class)
        @Pattern(Durations.PATTERN)
        @JsonPropertyDescription(
            "How long a worker that leaves the set may finish its running streams; it gets no new"
                + " requests meanwhile. Duration such as 30s. Default 30s.")
        Duration drain) {

  /** The server program; decides which metrics exist. */
  public enum Engine {
    vLLM,
    SGLang,
    OpenAICompatible
  }

  /** Where the workers are found; exactly one of the three is set. */
  @ValidationRule(
      value =
          "(has(self.podSelector) ? 1 : 0) + (has(self.service) ? 1 : 0) + (has(self.addresses) ? 1"
              + " : 0) == 1",
      message = "exactly one of podSelector, service and addresses must be set")
  public record Workers(
      @JsonPropertyDescription(
              "Every ready Pod of the namespace with these labels is a worker. Kubernetes only.")
          @Nullable PodSelector podSelector,
      @JsonPropertyDescription("Every endpoint of this Service is a worker. Kubernetes only.")
          @Nullable ServiceRef service,
      @Size(min = 1, max = 1000)
          @JsonPropertyDescription(
              "The workers by address, for stand-alone use and for machines outside the cluster.")
          @Nullable List<Address> addresses) {}

  public record PodSelector(
      @Required
          @Size(min = 1, max = 20)
          @JsonPropertyDescription("Labels that a Pod must have, all of them.")
          Map<String, String> matchLabels,
      @Required
          @Min(1)
          @Max(65535)
          @JsonPropertyDescription("Port on which the engine serves HTTP, 1 to 65535.")
          int port) {}

  public record ServiceRef(
      @Required
          @Size(min = 1, max = 63)
          @JsonPropertyDescription("Name of a Service in the same namespace.")
          String name,
      @Required
          @Min(1)
          @Max(65535)
          @JsonPropertyDescription(
              "Port of the endpoints (the target port), 1 to 65535. An EndpointSlice with one other port counts with that.")
          int port) {}

  public record Address(
      @Required
          @Size(min = 1, max = 63)
          @Pattern("^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$")
          @JsonPropertyDescription(
              "Name of the worker inside the set; a changed name is a new worker with a cold cache.")
          String name,
      @Required
          @Size(min = 1, max = 253)
          @JsonPropertyDescription("IP address, or a host name that the control plane resolves.")
          String address,
      @Required
          @Min(1)
          @Max(65535)
          @JsonPropertyDescription("Port on which the engine serves HTTP, 1 to 65535.")
          int port) {}

  /** Scrape settings; {@code interval} is jittered by the processor. */
  @ValidationRule(
      value = "!has(self.interval) || duration(self.interval) >= duration('100ms')",
      message = "interval must be at least 100ms",
      fieldPath = ".interval")
  public record Metrics(
      @Default("/metrics")
          @Size(min = 1, max = 253)
          @Pattern("^/")
          @JsonPropertyDescription(
              "Path of the Prometheus page on the worker's port. Default /metrics.")
          String path,
      @Default("1s")
          @SchemaFrom(type = String.class)
          @Pattern(Durations.PATTERN)
          @JsonPropertyDescription(
              "Time between two reads of a busy worker, jittered; idle workers are read less often."
                  + " Duration, at least 100ms. Default 1s.")
          Duration interval) {}

  public record KvEvents(
      @Default("Off")
          @JsonPropertyDescription(
              "ZMQ: subscribe to the engine's KV cache events. Off: infer warm prefixes from what was"
                  + " sent and from usage. Default Off; write it with quotes, as kubectl reads a bare"
                  + " Off as false.")
          Mode mode,
      @Default("5557")
          @Min(1)
          @Max(65535)
          @JsonPropertyDescription("Port of the event publisher, 1 to 65535. Default 5557.")
          int port,
      @Min(1)
          @Max(65535)
          @JsonPropertyDescription(
              "Port on which missed events can be asked for again, 1 to 65535. Absent: a gap in the"
                  + " events makes the worker's cache unknown until it is relearnt.")
          @Nullable Integer replayPort,
      @Default("1")
          @Min(1)
          @Max(64)
          @JsonPropertyDescription(
              "Engines with data parallelism publish for each rank, on the next higher ports."
                  + " Ports that the worker lists on /kv_event_sources itself come first. Default 1.")
          int dataParallelRanks) {
    public enum Mode {
      Off,
      ZMQ
    }
  }

  /** What the operator knows of the hardware; every absent value is learnt. */
  public record Profile(
      @Size(max = 63)
          @JsonPropertyDescription(
              "Name of the hardware, for reports and for policies (endpoint.hardware).")
          @Nullable String hardware,
      @Min(value = 0, inclusive = false)
          @JsonPropertyDescription(
              "Prompt tokens per second that one worker computes when it does nothing else.")
          @Nullable Double prefillTokensPerSecond,
      @Min(1) @JsonPropertyDescription("Tokens that the KV cache of one worker holds.")
          @Nullable Long kvCacheTokens,
      @Min(1)
          @JsonPropertyDescription(
              "Most tokens that the engine computes in one step (vLLM: --max-num-batched-tokens).")
          @Nullable Integer maxBatchedTokens) {}
}
