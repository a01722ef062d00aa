package dev.warmpath.simulator;

import dev.warmpath.simulator.engine.EngineProfiles;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * How to start one simulated worker. {@link #defaults()} and the {@code with} methods make one.
 *
 * @param host address to listen on
 * @param port port to listen on, 0 lets the system choose
 * @param profile name of an engine profile, see {@link EngineProfiles#names()}
 * @param timeScale how many times faster than the modelled engine everything runs
 * @param seed makes answers, ids and noise
 * @param model hub name or path of the model that the models page shows as root
 * @param servedModelNames names that requests may use; empty means {@code model}
 * @param maxQueuedRequests most requests that may wait, 0 for no limit
 * @param answerTokens length of an answer that its request doesn't limit to less, 0 for the
 *     profile's own
 * @param noise standard deviation of the logarithm of step times
 * @param echo answers repeat the last text of the user
 * @param recording what {@code GET /_sim/requests} remembers
 * @param requestIdHeaders echo {@code x-request-id} in responses
 * @param keepAliveMillis how long an idle connection is kept
 * @param kvEvents publishing of cache events, null for none
 * @param tls serve TLS as this, as an external provider does; null for plain HTTP
 */
public record SimulatorOptions(
    String host,
    int port,
    String profile,
    double timeScale,
    long seed,
    String model,
    List<String> servedModelNames,
    int maxQueuedRequests,
    int answerTokens,
    double noise,
    boolean echo,
    Recording recording,
    boolean requestIdHeaders,
    int keepAliveMillis,
    @Nullable KvEventOptions kvEvents,
    @Nullable TlsIdentity tls) {

  /** What is remembered of requests. */
  public enum Recording {
    /** Counts only; the default of the {@code instant} profile costs nothing. */
    OFF,
    /** Method, path, headers, length and digest of the body, and how it ended. */
    DIGEST,
    /** The same and bodies up to 1 MB. */
    BODY
  }

  /**
   * Publishing of cache events.
   *
   * @param port port of the live stream, 0 lets the system choose
   * @param replayPort port of the replay socket, 0 lets the system choose
   * @param topic first frame of each message
   * @param maps events as maps (since 0.24) instead of tagged arrays
   * @param replayTopic replayed messages carry the topic (since 0.26)
   * @param bufferSteps batches that can be replayed
   */
  public record KvEventOptions(
      int port, int replayPort, String topic, boolean maps, boolean replayTopic, int bufferSteps) {
    public static KvEventOptions defaults() {
      return new KvEventOptions(0, 0, "kv-events", true, true, 10_000);
    }
  }

  public SimulatorOptions {
    servedModelNames = List.copyOf(servedModelNames);
    if (!(timeScale > 0)) {
      throw new IllegalArgumentException("timeScale must be above 0, not " + timeScale);
    }
  }

  /** The default L40S on a free port of the loopback address. */
  public static SimulatorOptions defaults() {
    return new SimulatorOptions(
        "127.0.0.1",
        0,
        EngineProfiles.DEFAULT,
        1,
        0,
        "Qwen/Qwen3.8-27B-FP8",
        List.of(),
        0,
        0,
        0,
        false,
        Recording.DIGEST,
        false,
        5_000,
        null,
        null);
  }

  public SimulatorOptions withHost(String value) {
    return with(draft -> draft.host = value);
  }

  public SimulatorOptions withPort(int value) {
    return with(draft -> draft.port = value);
  }

  /** Another engine; {@code instant} also stops recording. */
  public SimulatorOptions withProfile(String value) {
    return with(draft -> {
      draft.profile = value;
      draft.recording = value.equals("instant") ? Recording.OFF : recording;
    });
  }

  public SimulatorOptions withTimeScale(double value) {
    return with(draft -> draft.timeScale = value);
  }

  public SimulatorOptions withSeed(long value) {
    return with(draft -> draft.seed = value);
  }

  public SimulatorOptions withModel(String value) {
    return with(draft -> draft.model = value);
  }

  public SimulatorOptions withServedModelNames(String... values) {
    return with(draft -> draft.servedModelNames = List.of(values));
  }

  public SimulatorOptions withMaxQueuedRequests(int value) {
    return with(draft -> draft.maxQueuedRequests = value);
  }

  public SimulatorOptions withAnswerTokens(int value) {
    return with(draft -> draft.answerTokens = value);
  }

  public SimulatorOptions withNoise(double value) {
    return with(draft -> draft.noise = value);
  }

  public SimulatorOptions withEcho(boolean value) {
    return with(draft -> draft.echo = value);
  }

  public SimulatorOptions withRecording(Recording value) {
    return with(draft -> draft.recording = value);
  }

  public SimulatorOptions withRequestIdHeaders(boolean value) {
    return with(draft -> draft.requestIdHeaders = value);
  }

  public SimulatorOptions withKeepAliveMillis(int value) {
    return with(draft -> draft.keepAliveMillis = value);
  }

  public SimulatorOptions withKvEvents(@Nullable KvEventOptions value) {
    return with(draft -> draft.kvEvents = value);
  }

  /** Speaks TLS only; its URL is then of {@code localhost}, the name in the certificate. */
  public SimulatorOptions withTls(@Nullable TlsIdentity value) {
    return with(draft -> draft.tls = value);
  }

  private SimulatorOptions with(Consumer<Draft> change) {
    Draft draft = new Draft(this);
    change.accept(draft);
    return draft.build();
  }

  /** One mutable copy, so that each {@code with} names only what it changes. */
  private static final class Draft {
    private String host;
    private int port;
    private String profile;
    private double timeScale;
    private long seed;
    private String model;
    private List<String> servedModelNames;
    private int maxQueuedRequests;
    private int answerTokens;
    private double noise;
    private boolean echo;
    private Recording recording;
    private boolean requestIdHeaders;
    private int keepAliveMillis;
    private @Nullable KvEventOptions kvEvents;
    private @Nullable TlsIdentity tls;

    Draft(SimulatorOptions from) {
      host = from.host;
      port = from.port;
      profile = from.profile;
      timeScale = from.timeScale;
      seed = from.seed;
      model = from.model;
      servedModelNames = from.servedModelNames;
      maxQueuedRequests = from.maxQueuedRequests;
      answerTokens = from.answerTokens;
      noise = from.noise;
      echo = from.echo;
      recording = from.recording;
      requestIdHeaders = from.requestIdHeaders;
      keepAliveMillis = from.keepAliveMillis;
      kvEvents = from.kvEvents;
      tls = from.tls;
    }

    SimulatorOptions build() {
      return new SimulatorOptions(
          host,
          port,
          profile,
          timeScale,
          seed,
          model,
          servedModelNames,
          maxQueuedRequests,
          answerTokens,
          noise,
          echo,
          recording,
          requestIdHeaders,
          keepAliveMillis,
          kvEvents,
          tls);
    }
  }
}
