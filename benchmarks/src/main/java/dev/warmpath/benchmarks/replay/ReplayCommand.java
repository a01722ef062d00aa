package dev.warmpath.benchmarks.replay;

import dev.warmpath.simulator.engine.EngineProfile;
import dev.warmpath.simulator.engine.EngineProfiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code warmpath replay}. */
@Command(
    name = "replay",
    mixinStandardHelpOptions = true,
    description = "Runs the gateway's own routing code against engine models on a virtual clock.",
    footerHeading = "%nExamples:%n",
    footer = {
      "  warmpath replay --workload shared-prefix --algorithm random,predicted-ttft --trials 3",
      "  warmpath replay --workload multi-turn --mode closed --concurrency 4,8,16 --json",
      "  warmpath replay --trace mooncake-conversation-1.jsonl --stretch 6 --algorithm all",
      "  warmpath replay --suite all --traces DIR --out results/"
    })
public final class ReplayCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--workload",
      split = ",",
      description = "control, shared-prefix, multi-turn, burst, hot-skew, hetero, churn.")
  private List<String> workloads = List.of();

  @Option(names = "--mode", description = "poisson or closed (default: ${DEFAULT-VALUE}).")
  private String mode = "poisson";

  @Option(
      names = "--concurrency",
      split = ",",
      description = "Requests in flight of a closed loop (default: 4,8,16,24,32).")
  private List<Integer> concurrencies = Suite.CONCURRENCIES;

  @Option(
      names = "--algorithm",
      split = ",",
      description = "Rules to compare, or all (default: random,predicted-ttft).")
  private List<String> algorithms = List.of("random", "predicted-ttft");

  @Option(names = "--workers", description = "Workers at the start (default: ${DEFAULT-VALUE}).")
  private int workers = 3;

  @Option(names = "--requests", description = "Requests of a run (default: ${DEFAULT-VALUE}).")
  private int requests = 480;

  @Option(
      names = "--trials",
      description = "Runs with seeds from --seed on (default: ${DEFAULT-VALUE}).")
  private int trials = 1;

  @Option(names = "--seed", description = "First seed (default: ${DEFAULT-VALUE}).")
  private long seed = 1;

  @Option(
      names = "--rate",
      description =
          "Arrivals a second of the whole fleet; 0 takes the workload's own (default: 0).")
  private double rate;

  @Option(names = "--profile", description = "Engine model (default: ${DEFAULT-VALUE}).")
  private String profile = EngineProfiles.DEFAULT + "-kv8";

  @Option(
      names = "--kv-cache-tokens",
      description =
          "KV cache of a worker in tokens, in whole blocks of the profile; 0 takes the profile's"
              + " own (default: 0). Traces have a cache of their own.")
  private long kvCacheTokens;

  @Option(
      names = "--noise",
      description = "Spread of step times, standard deviation of the logarithm (default: 0).")
  private double noise;

  @Option(names = "--trace", description = "A trace file: Mooncake .jsonl or Azure .csv.")
  private @Nullable Path trace;

  @Option(
      names = "--stretch",
      description =
          "Factor on a trace's arrival times; above 1 thins the load (default: ${DEFAULT-VALUE}).")
  private double stretch = 6;

  @Option(names = "--suite", description = "all: every workload and rule.")
  private @Nullable String suite;

  @Option(names = "--traces", description = "Folder of trace files for --suite all.")
  private @Nullable Path traces;

  @Option(names = "--json", description = "Print JSON instead of a table.")
  private boolean json;

  @Option(names = "--out", description = "Folder for JSON, Markdown and charts.")
  private @Nullable Path out;

  @Override
  public Integer call() {
    try {
      return compare();
    } catch (IOException e) {
      // A file that can't be read or written; its name is in the message.
      commandLine().getErr().println("warmpath: " + e.getMessage());
      return 2;
    }
  }

  private CommandLine commandLine() {
    if (spec == null) {
      throw new IllegalStateException("not run by the command line");
    }
    return spec.commandLine();
  }

  private int compare() throws IOException {
    if (workers < 1 || requests < 1 || trials < 1) {
      throw usage("--workers, --requests and --trials must be at least 1");
    }
    Map<String, Replay.AlgorithmFactory> known = Suite.algorithms();
    List<String> chosen =
        algorithms.contains("all") || "all".equals(suite)
            ? List.copyOf(known.keySet())
            : algorithms;
    for (String name : chosen) {
      if (!known.containsKey(name)) {
        throw usage("no algorithm '" + name + "', choose of " + String.join(", ", known.keySet()));
      }
    }
    List<Result> results = new ArrayList<>();
    for (int trial = 0; trial < trials; trial++) {
      for (Suite.Row row : rows(seed + trial)) {
        for (String name : chosen) {
          Replay.AlgorithmFactory factory = known.get(name);
          if (factory == null) {
            continue;
          }
          results.add(new Replay(row.scenario(), row.workload().get(), name, factory).run());
          progress(results.getLast());
        }
      }
    }
    String command = "warmpath replay " + String.join(" ", arguments());
    if (out != null) {
      Report.write(out, command, results);
    }
    System.out.println(json ? Report.json(command, results) : Report.table(results));
    return 0;
  }

  private List<Suite.Row> rows(long rowSeed) throws IOException {
    EngineProfile engine = engine();
    List<Suite.Row> rows = new ArrayList<>();
    if (suite != null) {
      if (!suite.equals("all")) {
        throw usage("--suite knows only 'all', not '" + suite + "'");
      }
      for (String workload : Workloads.names()) {
        rows.add(Suite.poisson(workload, workers, engine, requests, rate, rowSeed));
      }
      for (String workload : Suite.CLOSED_WORKLOADS) {
        for (int concurrency : concurrencies) {
          rows.add(Suite.closed(workload, workers, engine, concurrency, requests, rowSeed));
        }
      }
      if (traces != null) {
        try (Stream<Path> files = Files.list(traces)) {
          for (Path file : files.filter(ReplayCommand::isTrace).sorted().toList()) {
            rows.add(Suite.trace(file, workers, engine, 2_000, stretch, rowSeed));
          }
        }
      }
      return rows;
    }
    if (trace != null) {
      rows.add(Suite.trace(trace, workers, engine, requests, stretch, rowSeed));
    }
    for (String workload : workloads) {
      if (!Workloads.names().contains(workload)) {
        throw usage(
            "no workload '" + workload + "', choose of " + String.join(", ", Workloads.names()));
      }
      if (mode.equals("closed")) {
        for (int concurrency : concurrencies) {
          rows.add(Suite.closed(workload, workers, engine, concurrency, requests, rowSeed));
        }
      } else if (mode.equals("poisson")) {
        rows.add(Suite.poisson(workload, workers, engine, requests, rate, rowSeed));
      } else {
        throw usage("--mode is poisson or closed, not '" + mode + "'");
      }
    }
    if (rows.isEmpty()) {
      throw usage("nothing to run: give --workload, --trace or --suite all");
    }
    return rows;
  }

  private static boolean isTrace(Path file) {
    String name = file.toString();
    return name.endsWith(".jsonl") || name.endsWith(".csv");
  }

  private EngineProfile engine() {
    try {
      EngineProfile named = EngineProfiles.named(profile).withNoise(noise);
      if (kvCacheTokens == 0) {
        return named;
      }
      int blockTokens = named.cache().blockTokens();
      if (kvCacheTokens < blockTokens) {
        throw usage(
            "--kv-cache-tokens %d is less than one block of %d tokens"
                .formatted(kvCacheTokens, blockTokens));
      }
      return named.withCache(named.cache().withCapacityTokens(kvCacheTokens));
    } catch (IllegalArgumentException e) {
      throw usage(String.valueOf(e.getMessage()));
    }
  }

  private List<String> arguments() {
    return commandLine().getParseResult().originalArgs();
  }

  private ParameterException usage(String message) {
    return new ParameterException(commandLine(), message);
  }

  /** Says on the error stream that a long run is over. */
  private static void progress(Result result) {
    if (result.wallSeconds() > 2) {
      System.err.printf(
          "%s %s %d %s: %.3f s%n",
          result.workload(),
          result.mode(),
          result.concurrency(),
          result.algorithm(),
          result.ttftP50());
    }
  }
}
