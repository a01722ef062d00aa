package dev.warmpath.benchmarks;

import dev.warmpath.benchmarks.control.ControlPlaneBenchmark;
import dev.warmpath.benchmarks.events.EventStormBenchmark;
import dev.warmpath.benchmarks.overhead.OverheadBenchmark;
import dev.warmpath.benchmarks.soak.IndexSoak;
import picocli.CommandLine.Command;

/** {@code warmpath bench}. */
@Command(
    name = "bench",
    mixinStandardHelpOptions = true,
    description = "Measures the gateway on this machine.",
    subcommands = {
      OverheadBenchmark.class,
      ControlPlaneBenchmark.class,
      IndexSoak.class,
      EventStormBenchmark.class
    },
    synopsisSubcommandLabel = "COMMAND")
public final class BenchCommand {}
