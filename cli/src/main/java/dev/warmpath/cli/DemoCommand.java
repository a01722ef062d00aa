package dev.warmpath.cli;

import dev.warmpath.cli.input.CommandException;
import dev.warmpath.simulator.Simulator;
import dev.warmpath.simulator.SimulatorOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@Command(
    name = "demo",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = {
      "Shows on this machine what Warmpath is for: three simulated workers and a gateway get the same"
          + " requests twice, first with random routing, then by predicted time to first token.",
      "Stays up afterwards, to be tried with your own client."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  warmpath demo",
      "  warmpath demo --once --json out.json      measure, write the numbers, end",
      "  warmpath demo --once --virtual            compare with the same arrivals in virtual time",
      "  warmpath demo --recipe burst-to-cloud     one of the policies of docs/policies.md"
    })
final class DemoCommand implements Callable<Integer> {
  /** The model name that clients use. */
  static final String MODEL = "qwen";

  /**
   * L40S with keys and values in 8 bits: eleven of the documents fit into the cache of a worker.
   */
  private static final String PROFILE = "l40s-qwen27b-fp8-kv8";

  private static final String SERVED_MODEL = "Qwen/Qwen3.8-27B-FP8";

  /** Below this, two runs of the same differ by as much. */
  private static final double CLEARLY_SOONER = 1.2;

  private static final Duration RELOAD = Duration.ofSeconds(30);

  @Option(names = "--once", description = "End after the measurement.")
  private boolean once;

  @Option(names = "--json", paramLabel = "FILE", description = "Write the numbers to a file.")
  private @Nullable Path json;

  @Option(
      names = "--recipe",
      paramLabel = "NAME",
      description =
          "Play a recipe of docs/policies.md instead: simple-to-cheaper, burst-to-cloud,"
              + " pii-stays-local, batch-on-idle.")
  private @Nullable String recipe;

  @Option(
      names = "--virtual",
      description =
          "Also run the same arrivals in virtual time, without HTTP and Envoy, and show both.")
  private boolean virtual;

  @Option(
      names = "--requests",
      defaultValue = "150",
      paramLabel = "N",
      description = "Requests of each phase (default: ${DEFAULT-VALUE}).")
  private int requests;

  @Option(
      names = "--rate",
      defaultValue = "6",
      paramLabel = "R",
      description = "Requests a second, as a Poisson process (default: ${DEFAULT-VALUE}).")
  private double rate;

  @Option(
      names = "--time-scale",
      defaultValue = "20",
      paramLabel = "X",
      description =
          "How many times faster than a real L40S the workers are (default: ${DEFAULT-VALUE}).")
  private double timeScale;

  @Option(
      names = "--workers",
      defaultValue = "3",
      paramLabel = "N",
      description = "Simulated workers (default: ${DEFAULT-VALUE}).")
  private int workers;

  @Option(
      names = "--port",
      defaultValue = "8080",
      description =
          "Port of the gateway; another is taken if it is in use (default: ${DEFAULT-VALUE}).")
  private int port;

  @Option(
      names = "--seed",
      defaultValue = "1",
      description = "Of the workload (default: ${DEFAULT-VALUE}).")
  private long seed;

  private final Terminal terminal = Terminal.standard();
  private final Deque<AutoCloseable> parts = new ArrayDeque<>();

  @Override
  public Integer call() throws Exception {
    // The story is told here; logs of the parts only where something is wrong.
    if (requests < 1 || workers < 1 || rate <= 0 || timeScale <= 0) {
      throw new CommandException(
          2, "--requests and --workers must be at least 1, --rate and --time-scale above 0");
    }
    if (System.getenv("WARMPATH_LOG") == null) {
      System.setProperty("WARMPATH_LOG", "ERROR");
    }
    Lifetime lifetime = Lifetime.of(this::closeAll);
    try {
      int exit =
          recipe == null
              ? play()
              : new RecipeDemo(RecipeStory.named(recipe), terminal, port, once, this::own)
                  .play(json);
      if (!once) {
        terminal.line("\nCtrl-C stops everything.");
        lifetime.await();
      }
      return exit;
    } finally {
      lifetime.close();
    }
  }

  private int play() throws Exception {
    terminal.line(
        terminal.bold("Warmpath demo")
            + String.format(
                Locale.ROOT,
                ": %d simulated L40S workers with Qwen 27B in FP8, at %.0fx speed\n",
                workers,
                timeScale));
    List<Simulator> simulators = terminal.step("workers", this::startWorkers);
    Path config = Files.createTempDirectory("warmpath-demo-");
    own(() -> deleteTree(config));
    writeConfig(config, simulators, "Random");
    Standalone gateway = startGateway(config, port, terminal, this::own);
    URI endpoint = gateway.endpoint("127.0.0.1");
    DemoWorkload workload = new DemoWorkload(seed, requests, rate);
    terminal.line(
        String.format(
            Locale.ROOT,
            "\nworkload: %d requests, %.1f a second; each has one of %d documents of %,d tokens before"
                + " a question of %d tokens, and asks for %d tokens\n",
            requests,
            rate,
            DemoWorkload.PREFIXES,
            DemoWorkload.PREFIX_TOKENS,
            DemoWorkload.UNIQUE_TOKENS,
            DemoWorkload.ANSWER_TOKENS));
    try (DemoLoad load = new DemoLoad(endpoint)) {
      terminal.step(
          "warming up the JVM",
          () -> {
            DemoWorkload.warmUp(seed, 12).forEach(load::send);
            return true;
          });
      restartCold(simulators);
      List<DemoLoad.Sample> before =
          terminal.step("algorithm: Random", () -> load.run(workload, terminal));
      restartCold(simulators);
      terminal.step(
          "editing pool.yaml while everything runs",
          () -> reload(config, simulators, gateway, load));
      List<DemoLoad.Sample> after =
          terminal.step("algorithm: PredictedTTFT", () -> load.run(workload, terminal));
      DemoTwin twin =
          virtual
              ? terminal.step(
                  "the same in virtual time",
                  () -> DemoTwin.of(workload, PROFILE, workers, timeScale, seed))
              : null;
      return report(gateway, endpoint, before, after, twin);
    }
  }

  private List<Simulator> startWorkers() throws InterruptedException {
    List<Simulator> simulators = new ArrayList<>();
    for (int i = 0; i < workers; i++) {
      Simulator simulator = startWorker(PROFILE, SERVED_MODEL, timeScale, seed + i, this::own);
      simulators.add(simulator);
    }
    return simulators;
  }

  /** A worker that runs until {@code owner} closes it. */
  static Simulator startWorker(
      String profile, String model, double timeScale, long seed, Consumer<AutoCloseable> owner)
      throws InterruptedException {
    Simulator simulator =
        Simulator.start(
            SimulatorOptions.defaults()
                .withProfile(profile)
                .withModel(model)
                .withTimeScale(timeScale)
                .withRecording(SimulatorOptions.Recording.OFF)
                .withSeed(seed));
    owner.accept(simulator);
    return simulator;
  }

  /** A gateway on this machine; on another port if that one is in use. */
  static Standalone startGateway(
      Path config, int port, Terminal terminal, Consumer<AutoCloseable> owner) throws Exception {
    InetAddress loopback = InetAddress.getLoopbackAddress();
    Standalone gateway =
        Standalone.start(
            new Standalone.Options(
                config,
                "127.0.0.1",
                Standalone.freeOr(new InetSocketAddress(loopback, port)).getPort(),
                new InetSocketAddress(loopback, 9901),
                null,
                0,
                "warning",
                List.of(),
                null),
            terminal);
    owner.accept(gateway);
    owner.accept(Instances.ofUser().announce(gateway.adminPages()));
    return gateway;
  }

  private static void writeConfig(Path config, List<Simulator> simulators, String algorithm)
      throws IOException {
    StringBuilder addresses = new StringBuilder();
    for (int i = 0; i < simulators.size(); i++) {
      addresses.append(
          "    - {name: worker-%d, address: 127.0.0.1, port: %d}\n"
              .formatted(i, simulators.get(i).port()));
    }
    write(
        config.resolve("workers.yaml"),
        """
        apiVersion: inference.warmpath.dev/v1alpha1
        kind: InferenceWorkerSet
        metadata: {name: l40s}
        spec:
          workers:
            addresses:
        %s\
          metrics: {interval: 1s}
        """
            .formatted(addresses));
    write(
        config.resolve("pool.yaml"),
        """
        apiVersion: inference.warmpath.dev/v1alpha1
        kind: InferencePool
        metadata: {name: qwen}
        spec:
          model: %s
          workerSets: [{name: l40s}]
          routing: {algorithm: %s}
        """
            .formatted(SERVED_MODEL, algorithm));
    write(
        config.resolve("backend.yaml"),
        """
        apiVersion: inference.warmpath.dev/v1alpha1
        kind: GatewayBackend
        metadata: {name: qwen}
        spec:
          models: [%s]
          pool: {name: qwen}
        """
            .formatted(MODEL));
  }

  /** As an editor does: written beside, renamed into place. */
  private static void write(Path file, String text) throws IOException {
    Path beside = file.resolveSibling("." + file.getFileName());
    Files.writeString(beside, text);
    Files.move(beside, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  private boolean reload(Path config, List<Simulator> simulators, Standalone gateway, DemoLoad load)
      throws Exception {
    writeConfig(config, simulators, "PredictedTTFT");
    long deadline = System.nanoTime() + RELOAD.toNanos();
    while (System.nanoTime() < deadline) {
      load.send(DemoWorkload.body("Are you there?", "Say yes.", 2));
      JsonNode last =
          JsonMapper.shared().readTree(AdminPages.get(gateway.adminPages(), "/decisions?last=1"));
      if (last.path(0)
          .path("algorithm")
          .asString("")
          .toUpperCase(Locale.ROOT)
          .contains("PREDICTED")) {
        return true;
      }
      Thread.sleep(50);
    }
    throw new CommandException("the edited pool.yaml did not come into force");
  }

  private static void restartCold(List<Simulator> simulators) throws Exception {
    try (HttpClient client = HttpClient.newHttpClient()) {
      for (Simulator simulator : simulators) {
        HttpRequest request =
            HttpRequest.newBuilder(simulator.uri().resolve("/_sim/fault"))
                .header("content-type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString("{\"kind\":\"restart_cold\"}"))
                .build();
        HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() != 200) {
          throw new CommandException("a simulated worker did not restart: " + response.body());
        }
      }
    }
    // Two scrapes: by then the gateway has seen that these are new processes.
    Thread.sleep(2_500);
  }

  private int report(
      Standalone gateway,
      URI endpoint,
      List<DemoLoad.Sample> beforeSamples,
      List<DemoLoad.Sample> afterSamples,
      @Nullable DemoTwin twin)
      throws Exception {
    DemoResult before = DemoResult.of(beforeSamples);
    DemoResult after = DemoResult.of(afterSamples);
    double ratio = before.ttftP50Millis() / Math.max(1e-3, after.ttftP50Millis());
    if (json != null) {
      writeJson(json, before, after, ratio, twin);
    }
    terminal.line("");
    for (String line : table(before, after)) {
      terminal.line(line);
    }
    if (twin != null) {
      terminal.line(
          "\n" + terminal.bold("The same arrivals in virtual time, at the real engine's speed"));
      twin.table(before, after).forEach(terminal::line);
    }
    Stream.concat(beforeSamples.stream(), afterSamples.stream())
        .map(DemoLoad.Sample::failure)
        .filter(failure -> failure != null)
        .distinct()
        .limit(3)
        .forEach(failure -> terminal.line(terminal.red("failed: " + failure)));
    explain(gateway);
    if (!once) {
      invite(gateway, endpoint);
    }
    terminal.line("");
    terminal.line(
        ratio >= CLEARLY_SOONER
            ? terminal.bold(terminal.green(sooner(ratio)))
            : String.format(
                Locale.ROOT,
                "The median first token did not come clearly sooner (%.1f times). Workers at %.0fx speed"
                    + " need more of this machine than is free now: try --time-scale 5, or --virtual"
                    + " for the same arrivals without it.",
                ratio,
                timeScale));
    terminal.line(
        String.format(
            Locale.ROOT,
            "At the speed of the real engine: %.1f s of waiting before, %.2f s now.",
            before.ttftP50Millis() * timeScale / 1000,
            after.ttftP50Millis() * timeScale / 1000));
    return before.failed() + after.failed() == 0 ? 0 : 1;
  }

  private static String sooner(double ratio) {
    return String.format(
        Locale.ROOT,
        "Same workers, same requests, one word changed in pool.yaml: the median first token"
            + " came %.1f times sooner.",
        ratio);
  }

  private List<String> table(DemoResult before, DemoResult after) {
    return new Table("", ">random routing", ">Warmpath", ">")
        .row(
            "TTFT p50",
            millis(before.ttftP50Millis()),
            millis(after.ttftP50Millis()),
            times(before.ttftP50Millis(), after.ttftP50Millis()))
        .row(
            "TTFT p90",
            millis(before.ttftP90Millis()),
            millis(after.ttftP90Millis()),
            times(before.ttftP90Millis(), after.ttftP90Millis()))
        .row(
            "end to end p50",
            millis(before.endToEndP50Millis()),
            millis(after.endToEndP50Millis()),
            times(before.endToEndP50Millis(), after.endToEndP50Millis()))
        .row(
            "prompt tokens from cache",
            percent(before.cachedRatio()),
            percent(after.cachedRatio()),
            "")
        .row("failed", before.failed(), after.failed(), "")
        .lines();
  }

  private static String millis(double value) {
    return String.format(Locale.ROOT, value < 100 ? "%.1f ms" : "%.0f ms", value);
  }

  private static String percent(double value) {
    return String.format(Locale.ROOT, "%.0f %%", value * 100);
  }

  private static String times(double before, double after) {
    return after <= 0 ? "" : String.format(Locale.ROOT, "%.1fx", before / after);
  }

  /** One decision in which the cache made the difference. */
  private void explain(Standalone gateway) throws Exception {
    JsonNode records =
        JsonMapper.shared()
            .readTree(AdminPages.get(gateway.adminPages(), "/decisions?last=" + requests));
    JsonNode best = null;
    for (JsonNode record : records) {
      boolean complete =
          record.path("actualTtftSeconds").isNumber() && record.path("outcome").isString();
      if (complete && record.path("candidates").path(0).path("cachedTokens").asInt(0) > 0) {
        best = record;
        break;
      }
    }
    if (best != null) {
      terminal.line("\n" + terminal.bold("One of these decisions, explained"));
      DecisionView.one(best).forEach(terminal::line);
    }
  }

  private void invite(Standalone gateway, URI endpoint) {
    terminal.line("\n" + terminal.bold("Try it") + " (the workers answer with made-up words)");
    terminal.line(
        """

          curl -N %s/v1/chat/completions -H 'content-type: application/json' \\
            -d '{"model":"%s","stream":true,"messages":[{"role":"user","content":"Hello"}]}'

          from openai import OpenAI
          client = OpenAI(base_url="%s/v1", api_key="none")
          for chunk in client.chat.completions.create(model="%s", stream=True,
                  messages=[{"role": "user", "content": "Hello"}]):
              print(chunk.choices[0].delta.content or "", end="")
        """
            .formatted(endpoint, MODEL, endpoint, MODEL));
    terminal.line("  why there?   bin/warmpath explain --last 20");
    terminal.line("  decisions    " + gateway.adminPages() + "/decisions");
    terminal.line("  workers      " + gateway.adminPages() + "/workers");
    terminal.line("  metrics      " + gateway.adminPages() + "/metrics");
    terminal.line("  resources    " + gateway.controlPages() + "/resources");
  }

  private void writeJson(
      Path file, DemoResult before, DemoResult after, double ratio, @Nullable DemoTwin twin)
      throws IOException {
    Map<String, Object> out = new LinkedHashMap<>();
    out.put("baseline", before.json());
    out.put("warmpath", after.json());
    out.put("ttft_p50_ratio", Math.round(ratio * 100) / 100.0);
    if (twin != null) {
      out.put("virtual", twin.json());
    }
    out.put("workers", workers);
    out.put("time_scale", timeScale);
    out.put("rate_per_second", rate);
    out.put("seed", seed);
    Files.writeString(
        file, JsonMapper.shared().writerWithDefaultPrettyPrinter().writeValueAsString(out) + "\n");
  }

  private void own(AutoCloseable part) {
    synchronized (parts) {
      parts.push(part);
    }
  }

  private void closeAll() {
    while (true) {
      AutoCloseable part;
      synchronized (parts) {
        part = parts.poll();
      }
      if (part == null) {
        return;
      }
      try {
        part.close();
      } catch (Exception e) {
        System.err.println("warmpath: while stopping: " + e);
      }
    }
  }

  static void deleteTree(Path folder) throws IOException {
    try (Stream<Path> all = Files.walk(folder)) {
      for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    }
  }
}
