package dev.warmpath.cli.policy;

import dev.warmpath.cli.input.CommandException;
import dev.warmpath.extproc.policy.review.Expectation;
import dev.warmpath.extproc.policy.review.PolicyReview;
import dev.warmpath.extproc.policy.review.ReviewedRequest;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

@Command(
    name = "test",
    mixinStandardHelpOptions = true,
    description = {
      "Shows what one request would meet: which policies match, what each constraint removes, the plan.",
      "Exits with 0 if every expectation holds, 1 if one doesn't, 2 if something can't be read."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  warmpath policy test -f my-config --request chat.json",
      "  warmpath policy test -f my-config --request card.json --state burst.yaml --expect never=qwen-cloud"
    })
final class PolicyTestCommand implements Callable<Integer> {
  // Set by picocli.
  @SuppressWarnings("NullAway.Init")
  @Option(
      names = {"-f", "--file"},
      required = true,
      paramLabel = "DIR",
      description = "Configuration folder or file.")
  private Path configuration;

  @SuppressWarnings("NullAway.Init")
  @Option(
      names = "--request",
      required = true,
      paramLabel = "FILE",
      description = "Body of the request, JSON.")
  private Path request;

  @Option(
      names = "--path",
      paramLabel = "PATH",
      description = "Path of the request. Default: /v1/chat/completions.")
  private @Nullable String path;

  @Option(
      names = "--state",
      paramLabel = "FILE",
      description = "State of the cluster, YAML. Default: one idle worker in each pool.")
  private @Nullable Path state;

  @Option(names = "--tenant", paramLabel = "NAME", description = "Who asks. Default: anonymous.")
  private @Nullable String tenant;

  @Option(
      names = "--expect",
      paramLabel = "WHAT=VALUE",
      description = {
        "backend=NAME: tried first, or backend=none; never=NAME: in no tier; status=CODE, such as 503;",
        "policy=NAME: its route decides, or policy=default; queued=true: waits, or queued=false.",
        "May be repeated."
      })
  private List<String> expectations = new ArrayList<>();

  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  private List<Expectation> expected(CommandLine line) {
    try {
      return expectations.stream().map(Expectation::parse).toList();
    } catch (IllegalArgumentException e) {
      throw new ParameterException(line, String.valueOf(e.getMessage()), e);
    }
  }

  @Override
  public Integer call() {
    CommandLine line = spec.commandLine();
    PrintWriter out = line.getOut();
    List<Expectation> expected = expected(line);
    try {
      Inputs.Configuration read = Inputs.configuration(configuration);
      PolicyReview review = read.review();
      expected.forEach(review::check);
      ReviewedRequest reviewed =
          review.review(Inputs.request(request, path, tenant), Inputs.state(state, read.names()));
      reviewed.lines().forEach(out::println);
      boolean passed = true;
      for (Expectation expectation : expected) {
        Expectation.Result result = expectation.of(reviewed);
        out.println(result.line());
        passed &= result.holds();
      }
      out.flush();
      return passed ? 0 : 1;
    } catch (IllegalArgumentException e) {
      throw new CommandException(2, String.valueOf(e.getMessage()));
    }
  }
}
