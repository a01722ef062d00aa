package dev.warmpath.benchmarks.replay;

import dev.warmpath.simulator.engine.EngineProfile;
import dev.warmpath.simulator.engine.EngineProfiles;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
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
  /** Slower arrivals make virtual times that overflow, or runs that end after hours. */
  private static final double LEAST_RATE = 0.001;

  private static final double MOST_RATE = 1e6;

  /** One standard deviation is a factor of twenty then. */
  private static final double MOST_NOISE = 3;

  private static final double MOST_STRETCH = 1_000;

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
          "Arrivals a second of the whole fleet, at least 0.001; 0 takes the workload's own (default: 0).")
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
      // A file that can't be read or written.
      commandLine().getErr().println("warmpath: " + sentence(e));
      return 2;
    }
  }

  /** Of most faults of a file system the message is the file's name alone. */
  private static String sentence(IOException e) {
    return switch (e) {
      case NoSuchFileException missing -> "no such file or folder: " + missing.getFile();
      case AccessDeniedException denied -> denied.getFile() + ": may not be read or written";
      case FileAlreadyExistsException other -> other.getFile() + ": is a file, not a folder";
      case NotDirectoryException other -> other.getFile() + ": is a file, not a folder";
      default -> String.valueOf(e.getMessage());
    };
  }

  private CommandLine commandLine() {
    if (spec == null) {
      throw new IllegalStateException("not run by the command line");
    }
    return spec.commandLine();
  }

  private int compare() throws IOException {
    checkNumbers();
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

  /** Written so that NaN, which is in no range, is refused. */
  private void checkNumbers() {
    if (workers < 1 || requests < 1 || trials < 1) {
      throw usage("--workers, --requests and --trials must be at least 1");
    }
    if (rate != 0 && !(rate >= LEAST_RATE && rate <= MOST_RATE)) {
      throw usage(
          "--rate takes 0 (the workload's own) or 0.001 to 1000000 arrivals a second, not " + rate);
    }
    for (int concurrency : concurrencies) {
      if (concurrency < 1) {
        throw usage("--concurrency takes 1 or more requests in flight, not " + concurrency);
      }
    }
    if (!(noise >= 0 && noise <= MOST_NOISE)) {
      throw usage("--noise takes 0 (exact) to 3, not " + noise);
    }
    if (!(stretch >= 0 && stretch <= MOST_STRETCH)) {
      throw usage("--stretch takes 0 (all at once) to 1000, not " + stretch);
    }
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
        for (Path file : traceFiles(traces)) {
          rows.add(Suite.trace(file, workers, engine, 2_000, stretch, rowSeed));
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

  private static List<Path> traceFiles(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      List<Path> found = files.filter(ReplayCommand::isTrace).sorted().toList();
      if (found.isEmpty()) {
        throw new IOException("no *.jsonl or *.csv file in " + folder);
      }
      return found;
    }
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
