package dev.warmpath.cli;

import dev.warmpath.benchmarks.BenchCommand;
import dev.warmpath.benchmarks.replay.ReplayCommand;
import dev.warmpath.cli.policy.PolicyCommand;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Help.ColorScheme;

/** Entry point of the {@code warmpath} command. */
public final class Main {

  private Main() {}

  public static void main(String[] arguments) {
    System.exit(commandLine().execute(arguments));
  }

  static CommandLine commandLine() {
    CommandLine line = new CommandLine(new WarmpathCommand());
    line.addSubcommand(new DemoCommand());
    line.addSubcommand(new RunCommand());
    line.addSubcommand(new ValidateCommand());
    line.addSubcommand(new ExplainCommand());
    line.addSubcommand(new PolicyCommand());
    line.addSubcommand(new SimCommand());
    line.addSubcommand(new ExtProcCommand());
    line.addSubcommand(new XdsServerCommand());
    line.addSubcommand(new EnvoyCommand());
    line.addSubcommand(new ReplayCommand());
    line.addSubcommand(new BenchCommand());
    line.addSubcommand(new VersionCommand());
    line.addSubcommand(
        "generate-completion", new CommandLine(new AutoComplete.GenerateCompletion()));
    line.addSubcommand(new TrainCommand());
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
