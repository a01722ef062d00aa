package dev.warmpath.cli;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

@Command(
    name = "warmpath",
    mixinStandardHelpOptions = true,
    versionProvider = VersionCommand.Provider.class,
    sortOptions = false,
    description =
        "An inference gateway that sends each prompt to the worker with the earliest predicted first token.",
    synopsisSubcommandLabel = "COMMAND",
    footerHeading = "%nExamples:%n",
    footer = {
      "  warmpath demo                              see it work: three simulated workers, before and after",
      "  warmpath run --config examples/quickstart  serve your own workers",
      "  warmpath validate my-config                check configuration files",
      "  warmpath explain --last 20                 why requests went where they went",
      "",
      "Help on a command: warmpath COMMAND --help"
    })
final class WarmpathCommand implements Runnable {
  // Set by picocli.
  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  @Override
  public void run() {
    CommandLine line = spec.commandLine();
    line.usage(line.getOut());
  }
}
