package dev.warmpath.cli;

import dev.warmpath.simulator.Simulator;
import dev.warmpath.simulator.SimulatorOptions;
import dev.warmpath.simulator.engine.EngineProfiles;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "sim",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description =
        "Runs simulated vLLM workers: the wire, the metrics and the timing of real ones, without a GPU.",
    footerHeading = "%nExamples:%n",
    footer = {
      "  warmpath sim --port 9001",
      "  warmpath sim --port 9001 --workers 3 --time-scale 20      ports 9001, 9002, 9003",
      "  warmpath sim --profile instant --port 0                   no modelled time"
    })
final class SimCommand implements Callable<Integer> {
  @Option(
      names = "--host",
      defaultValue = "127.0.0.1",
      description = "Address to listen on (default: ${DEFAULT-VALUE}).")
  private String host = "127.0.0.1";

  @Option(
      names = "--port",
      defaultValue = "9001",
      description = "Port of the first worker; 0 takes any (default: ${DEFAULT-VALUE}).")
  private int port;

  @Option(
      names = "--workers",
      defaultValue = "1",
      paramLabel = "N",
      description = "How many, on ports one after the other (default: ${DEFAULT-VALUE}).")
  private int workers;

  @Option(
      names = "--profile",
      defaultValue = EngineProfiles.DEFAULT,
      description = "Engine and hardware: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).",
      completionCandidates = Profiles.class)
  private String profile = EngineProfiles.DEFAULT;

  @Option(
      names = "--time-scale",
      defaultValue = "1",
      paramLabel = "X",
      description = "How many times faster than the real engine (default: ${DEFAULT-VALUE}).")
  private double timeScale;

  @Option(
      names = "--seed",
      defaultValue = "0",
      description = "Of answers, ids and noise (default: ${DEFAULT-VALUE}).")
  private long seed;

  @Option(
      names = "--model",
      defaultValue = "Qwen/Qwen3.8-27B-FP8",
      description = "Served model name (default: ${DEFAULT-VALUE}).")
  private String model = "Qwen/Qwen3.8-27B-FP8";

  @Option(
      names = "--max-queued",
      defaultValue = "0",
      paramLabel = "N",
      description = "Requests that may wait; more are answered with 503; 0 for no limit.")
  private int maxQueued;

  @Option(
      names = "--answer-tokens",
      defaultValue = "0",
      paramLabel = "N",
      description = "Length of an answer that its request doesn't limit (default: the profile's).")
  private int answerTokens;

  @Option(
      names = "--noise",
      defaultValue = "0",
      description =
          "Standard deviation of the logarithm of step times (default: ${DEFAULT-VALUE}).")
  private double noise;

  static final class Profiles extends ArrayList<String> {
    private static final long serialVersionUID = 1L;

    Profiles() {
      super(EngineProfiles.names());
    }
  }

  @Override
  public Integer call() throws Exception {
    Terminal terminal = Terminal.standard();
    SimulatorOptions options =
        SimulatorOptions.defaults()
            .withHost(host)
            .withTimeScale(timeScale)
            .withModel(model)
            .withMaxQueuedRequests(maxQueued)
            .withAnswerTokens(answerTokens)
            .withNoise(noise)
            .withProfile(profile);
    List<Simulator> running = new ArrayList<>();
    for (int i = 0; i < workers; i++) {
      running.add(Simulator.start(options.withPort(port == 0 ? 0 : port + i).withSeed(seed + i)));
    }
    Lifetime lifetime = Lifetime.of(() -> running.forEach(Simulator::close));
    for (Simulator worker : running) {
      terminal.line("simulated worker " + worker.uri() + "  " + profile + ", " + model);
    }
    terminal.line("Ctrl-C stops " + (workers == 1 ? "it." : "them."));
    lifetime.await();
    lifetime.close();
    return 0;
  }
}
