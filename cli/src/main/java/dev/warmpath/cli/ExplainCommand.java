package dev.warmpath.cli;

import dev.warmpath.cli.input.CommandException;
import dev.warmpath.extproc.stream.DecisionIds;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@Command(
    name = "explain",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = {
      "Says why a request went where it went, and what came of it.",
      "ID is the x-warmpath-decision header of the response."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  warmpath explain 4w9c6qk2m0x7rj5t8ynhz3dfpa",
      "  warmpath explain --last 20",
      "  warmpath explain --last 1 --json"
    })
final class ExplainCommand implements Callable<Integer> {
  private static final URI DEFAULT_PAGES = URI.create("http://127.0.0.1:9901");

  private final Instances instances;

  @Parameters(arity = "0..1", paramLabel = "ID", description = "Id of a decision.")
  private @Nullable String id;

  @Option(
      names = "--last",
      paramLabel = "N",
      description = "The last N decisions, newest first, one a line.")
  private @Nullable Integer last;

  @Option(
      names = "--admin",
      paramLabel = "URL|HOST:PORT",
      converter = PagesConverter.class,
      description =
          "The processor's pages (default: WARMPATH_ADMIN, else the gateways running on this machine, the one started last first, else http://127.0.0.1:9901).")
  private @Nullable URI admin;

  @Option(names = "--json", description = "Print what the processor answers.")
  private boolean json;

  ExplainCommand() {
    this(Instances.ofUser());
  }

  ExplainCommand(Instances instances) {
    this.instances = instances;
  }

  @Override
  public Integer call() throws Exception {
    if (id != null && last != null) {
      throw new CommandException(
          2, "explain takes the id of a decision or --last N, not both: leave one of them out");
    }
    if (id == null && last == null) {
      throw new CommandException(2, "which decision? warmpath explain ID, or --last N");
    }
    if (id != null && !DecisionIds.isId(id)) {
      throw new CommandException(
          2,
          "'"
              + id
              + "' is no id of a decision: those are the 26 letters and digits of the response"
              + " header x-warmpath-decision (warmpath explain --last 20 lists them)");
    }
    if (last != null && last < 1) {
      throw new CommandException(2, "--last takes 1 or more, not " + last);
    }
    String path =
        id == null
            ? "/decisions?last=" + last
            : "/decisions/" + URLEncoder.encode(id, StandardCharsets.UTF_8);
    String body = AdminPages.get(pages(), path);
    Terminal terminal = Terminal.standard();
    if (json) {
      terminal.line(body);
      return 0;
    }
    JsonNode answer = JsonMapper.shared().readTree(body);
    if (id != null) {
      DecisionView.one(answer).forEach(terminal::line);
    } else if (answer.isArray() && last != null && last == 1 && !answer.isEmpty()) {
      DecisionView.one(answer.get(0)).forEach(terminal::line);
    } else {
      DecisionView.list(answer).forEach(terminal::line);
    }
    return 0;
  }

  /** Where to ask, in that order: one place where somebody named it. */
  private List<URI> pages() {
    if (admin != null) {
      return List.of(admin);
    }
    String environment = System.getenv("WARMPATH_ADMIN");
    if (environment != null && !environment.isEmpty()) {
      return List.of(PagesConverter.ofEnvironment("WARMPATH_ADMIN", environment));
    }
    List<URI> running = new ArrayList<>(instances.running());
    if (!running.contains(DEFAULT_PAGES)) {
      running.add(DEFAULT_PAGES);
    }
    return running;
  }
}
