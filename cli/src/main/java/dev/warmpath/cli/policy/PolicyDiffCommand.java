package dev.warmpath.cli.policy;

import dev.warmpath.cli.input.CommandException;
import dev.warmpath.cli.input.InputFiles;
import dev.warmpath.extproc.policy.review.PolicyReview;
import dev.warmpath.extproc.policy.review.SampleRequest;
import dev.warmpath.extproc.policy.review.SampleState;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "diff",
    mixinStandardHelpOptions = true,
    description = {
      "Shows which of the recorded requests another configuration would treat otherwise.",
      "Exits with 0 if none, 1 if some, 2 if something can't be read."
    },
    footerHeading = "%nExample:%n",
    footer = "  warmpath policy diff config-now config-next --requests recorded.jsonl")
final class PolicyDiffCommand implements Callable<Integer> {
  // Set by picocli.
  @SuppressWarnings("NullAway.Init")
  @Parameters(index = "0", paramLabel = "OLD", description = "Configuration in force.")
  private Path before;

  @SuppressWarnings("NullAway.Init")
  @Parameters(index = "1", paramLabel = "NEW", description = "Configuration to come.")
  private Path after;

  @SuppressWarnings("NullAway.Init")
  @Option(
      names = "--requests",
      required = true,
      paramLabel = "FILE",
      description = {
        "One request a line: {\"path\": …, \"tenant\": …, \"headers\": {…}, \"body\": {…}}, or a body alone."
      })
  private Path requests;

  @Option(names = "--state", paramLabel = "FILE", description = "State of the cluster, YAML.")
  private @Nullable Path state;

  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  @Override
  public Integer call() {
    CommandLine line = spec.commandLine();
    PrintWriter out = line.getOut();
    try {
      Inputs.Configuration old = Inputs.configuration(before);
      Inputs.Configuration next = Inputs.configuration(after);
      SampleState cluster = Inputs.state(state, old.names().and(next.names()));
      List<String> recorded = InputFiles.text(requests).lines().toList();
      int compared = 0;
      int changed = 0;
      for (int i = 0; i < recorded.size(); i++) {
        if (recorded.get(i).isBlank()) {
          continue;
        }
        compared++;
        String was = outcome(old.review(), recorded.get(i), cluster, i + 1);
        String becomes = outcome(next.review(), recorded.get(i), cluster, i + 1);
        if (!was.equals(becomes)) {
          changed++;
          out.println("request " + (i + 1) + ": " + was + "  =>  " + becomes);
        }
      }
      out.println(changed + " of " + compared + " requests would be treated otherwise");
      out.flush();
      return changed == 0 ? 0 : 1;
    } catch (IllegalArgumentException e) {
      throw new CommandException(2, String.valueOf(e.getMessage()));
    }
  }

  private static String outcome(PolicyReview review, String text, SampleState state, int line) {
    try {
      SampleRequest request = Inputs.recorded(text);
      return review.review(request, state).outcome();
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("line " + line + ": " + e.getMessage(), e);
    }
  }
}
