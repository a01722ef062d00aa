package dev.warmpath.cli;

import dev.warmpath.benchmarks.BenchCommand;
import dev.warmpath.benchmarks.replay.ReplayCommand;
import dev.warmpath.cli.policy.PolicyCommand;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Help.ColorScheme;

/** Entry point of the {@code warmpath} command. */
public final class Main {

  private Main() {}

  public static void main(String[] arguments) {
    System.exit(commandLine(arguments).execute(arguments));
  }

  /** In the order of the help text. */
  private static Map<String, Supplier<Object>> commands() {
    Map<String, Supplier<Object>> commands = new LinkedHashMap<>();
    commands.put("demo", DemoCommand::new);
    commands.put("run", RunCommand::new);
    commands.put("validate", ValidateCommand::new);
    commands.put("explain", ExplainCommand::new);
    commands.put("sim", SimCommand::new);
    commands.put("ext-proc", ExtProcCommand::new);
    commands.put("xds-server", XdsServerCommand::new);
    commands.put("envoy", EnvoyCommand::new);
    commands.put("policy", PolicyCommand::new);
    commands.put("replay", ReplayCommand::new);
    commands.put("bench", BenchCommand::new);
    commands.put("version", VersionCommand::new);
    commands.put("generate-completion", AutoComplete.GenerateCompletion::new);
    commands.put("train", TrainCommand::new);
    return commands;
  }

  /**
   * The command line for these arguments. Where the first names a command, the others are left out:
   * reading the annotations of all of them takes longer than most commands do.
   */
  static CommandLine commandLine(String... arguments) {
    CommandLine line = new CommandLine(new WarmpathCommand());
    Map<String, Supplier<Object>> commands = commands();
    String first = arguments.length == 0 ? "" : arguments[0];
    if (commands.containsKey(first) && !first.equals("generate-completion")) {
      commands.keySet().retainAll(Set.of(first));
    }
    commands.forEach((name, command) -> line.addSubcommand(name, command.get()));
    ColorScheme colors =
        CommandLine.Help.defaultColorScheme(Terminal.coloured() ? Ansi.ON : Ansi.OFF);
    return line.setColorScheme(colors)
        .setUsageHelpAutoWidth(true)
        .setExecutionExceptionHandler(Main::report)
        .setCaseInsensitiveEnumValuesAllowed(true);
  }

  /** What went wrong in a sentence; the stack only for those who ask for it. */
  private static int report(Exception failure, CommandLine line, CommandLine.ParseResult parsed) {
    if (System.getenv("WARMPATH_DEBUG") != null) {
      failure.printStackTrace(line.getErr());
    } else {
      String message = failure.getMessage();
      String text =
          failure instanceof CommandException && message != null
              ? message
              : failure.getClass().getSimpleName() + (message == null ? "" : ": " + message);
      line.getErr().println(line.getColorScheme().errorText("warmpath: " + text));
      if (!(failure instanceof CommandException)) {
        line.getErr().println("Set WARMPATH_DEBUG=1 for the stack trace.");
      }
    }
    return failure instanceof CommandException known ? known.exitCode() : 1;
  }
}
