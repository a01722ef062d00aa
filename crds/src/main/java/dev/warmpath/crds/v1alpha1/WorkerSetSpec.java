package dev.warmpath.crds.v1alpha1;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A set of engine processes on like hardware. */
public record WorkerSetSpec(
    Engine engine,
    Workers workers,
    Metrics metrics,
    KvEvents kvEvents,
    Profile profile,
    Duration drain) {

  /** The server program; decides which metrics exist. */
  public enum Engine {
    vLLM,
    SGLang,
    OpenAICompatible
  }

  /** Where the workers are found; exactly one of the three is set. */
  public record Workers(
      @Nullable PodSelector podSelector,
      @Nullable ServiceRef service,
      @Nullable List<Address> addresses) {}

  public record PodSelector(Map<String, String> matchLabels, int port) {}

  public record ServiceRef(String name, int port) {}

  public record Address(String name, String address, int port) {}

  /** Scrape settings; {@code interval} is jittered by the processor. */
  public record Metrics(String path, Duration interval) {}

  public record KvEvents(Mode mode, int port, @Nullable Integer replayPort) {
    public enum Mode {
      Off,
      ZMQ
    }
  }

  /** What the operator knows of the hardware; every absent value is learnt. */
  public record Profile(
      @Nullable String hardware,
      @Nullable Double prefillTokensPerSecond,
      @Nullable Long kvCacheTokens,
      @Nullable Integer maxBatchedTokens) {}
}
