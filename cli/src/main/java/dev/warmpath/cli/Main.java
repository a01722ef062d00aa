package dev.warmpath.cli;

import dev.warmpath.benchmarks.BenchCommand;
import dev.warmpath.benchmarks.replay.ReplayCommand;
import dev.warmpath.cli.input.CommandException;
import dev.warmpath.cli.policy.PolicyCommand;
import java.util.List;
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
  private static final List<String> COMMANDS =
      List.of(
          "demo",
          "run",
          "validate",
          "explain",
          "policy",
          "sim",
          "ext-proc",
          "xds-server",
          "envoy",
          "check",
          "replay",
          "bench",
          "version",
          "generate-completion",
          "train");

  // A switch, not a map of constructors: JDK 25.0.3 crashes when it archives those lambdas.
  private static Object command(String name) {
    return switch (name) {
      case "demo" -> new DemoCommand();
      case "run" -> new RunCommand();
      case "validate" -> new ValidateCommand();
      case "explain" -> new ExplainCommand();
      case "policy" -> new PolicyCommand();
      case "sim" -> new SimCommand();
      case "ext-proc" -> new ExtProcCommand();
      case "xds-server" -> new XdsServerCommand();
      case "envoy" -> new EnvoyCommand();
      case "check" -> new CheckCommand();
      case "replay" -> new ReplayCommand();
      case "bench" -> new BenchCommand();
      case "version" -> new VersionCommand();
      case "generate-completion" -> new AutoComplete.GenerateCompletion();
      case "train" -> new TrainCommand();
      default -> throw new IllegalArgumentException("no command " + name);
    };
  }

  /**
   * The command line for these arguments. Where the first names a command, the others are left out:
   * reading the annotations of all of them takes longer than most commands do.
   */
  public static CommandLine commandLine(String... arguments) {
    CommandLine line = new CommandLine(new WarmpathCommand());
    String first = arguments.length == 0 ? "" : arguments[0];
    boolean one = COMMANDS.contains(first) && !first.equals("generate-completion");
    for (String name : one ? List.of(first) : COMMANDS) {
      line.addSubcommand(name, command(name));
    }
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
