package dev.warmpath.cli.policy;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The commands about policies. */
@Command(
    name = "policy",
    mixinStandardHelpOptions = true,
    description = "Tries policies out before they are in force.",
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {PolicyTestCommand.class, PolicyDiffCommand.class})
public final class PolicyCommand implements Runnable {
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
