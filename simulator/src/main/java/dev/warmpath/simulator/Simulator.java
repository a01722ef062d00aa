package dev.warmpath.simulator;

import dev.warmpath.simulator.api.ServedModel;
import dev.warmpath.simulator.engine.EngineProfile;
import dev.warmpath.simulator.engine.EngineProfiles;
import dev.warmpath.simulator.events.KvEventPublisher;
import dev.warmpath.simulator.server.SimulatorServer;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Clock;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One simulated vLLM worker. */
public final class Simulator implements AutoCloseable {
  private static final String VERSION = "0.32.0";
  private static final int ANSWER_TOKENS = 300;
  private static final int SHORT_ANSWER_TOKENS = 32;
  private static final int INSTANT_ANSWER_TOKENS = 4;

  private final SimulatorOptions options;
  private final SimulatorServer server;

  private Simulator(SimulatorOptions options, SimulatorServer server) {
    this.options = options;
    this.server = server;
  }

  /** Starts a worker; it serves requests when this returns. */
  public static Simulator start(SimulatorOptions options) throws InterruptedException {
    EngineProfile profile =
        EngineProfiles.named(options.profile())
            .fasterBy(options.timeScale())
            .withMaxQueued(options.maxQueuedRequests())
            .withNoise(options.noise());
    List<String> names =
        options.servedModelNames().isEmpty()
            ? List.of(options.model())
            : options.servedModelNames();
    ServedModel model =
        new ServedModel(
            names,
            options.model(),
            profile.maxModelTokens(),
            answerTokens(options),
            options.seed(),
            options.echo(),
            options.profile().equals("instant"),
            VERSION);
    Boolean recordBodies =
        switch (options.recording()) {
          case OFF -> null;
          case DIGEST -> false;
          case BODY -> true;
        };
    SimulatorServer server =
        new SimulatorServer(
            new InetSocketAddress(options.host(), options.port()),
            profile,
            model,
            recordBodies,
            options.requestIdHeaders(),
            options.keepAliveMillis(),
            Clock.systemUTC(),
            System::nanoTime,
            publisher(options, profile),
            options.tls() == null ? null : options.tls().context());
    return new Simulator(options, server);
  }

  private static @Nullable KvEventPublisher publisher(
      SimulatorOptions options, EngineProfile profile) {
    SimulatorOptions.KvEventOptions events = options.kvEvents();
    return events == null
        ? null
        : new KvEventPublisher(
            options.host(),
            events.port(),
            events.replayPort(),
            events.topic(),
            profile.cache().blockTokens(),
            events.maps(),
            events.replayTopic(),
            events.bufferSteps(),
            Clock.systemUTC());
  }

  /** The port that is listened on. */
  public int port() {
    return server.port();
  }

  /** The root URL, without a trailing slash. */
  public URI uri() {
    return options.tls() == null
        ? URI.create("http://" + options.host() + ":" + port())
        : URI.create("https://localhost:" + port());
  }

  public SimulatorOptions options() {
    return options;
  }

  /**
   * The requests for inference and models so far, oldest first; empty where nothing is recorded.
   */
  public List<ReceivedRequest> received() {
    return server.received();
  }

  /** Forgets what was received. */
  public void forget() {
    server.forget();
  }

  /** Listens again after a crash was injected. */
  public void listenAgain() {
    server.listenAgain();
  }

  @Override
  public void close() {
    server.close();
  }

  private static int answerTokens(SimulatorOptions options) {
    if (options.answerTokens() > 0) {
      return options.answerTokens();
    }
    return switch (options.profile()) {
      case "instant" -> INSTANT_ANSWER_TOKENS;
      case "tiny" -> SHORT_ANSWER_TOKENS;
      default -> ANSWER_TOKENS;
    };
  }
}
