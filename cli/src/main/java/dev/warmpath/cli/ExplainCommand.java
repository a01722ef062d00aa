package dev.warmpath.cli;

import dev.warmpath.cli.input.CommandException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
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
      "  warmpath explain 01jd3k5v9q",
      "  warmpath explain --last 20",
      "  warmpath explain --last 1 --json"
    })
final class ExplainCommand implements Callable<Integer> {
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
          "The processor's pages (default: WARMPATH_ADMIN, else the gateway that was started last on this machine, else http://127.0.0.1:9901).")
  private @Nullable URI admin;

  @Option(names = "--json", description = "Print what the processor answers.")
  private boolean json;

  @Override
  public Integer call() throws Exception {
    if ((id == null) == (last == null)) {
      throw new CommandException(2, "which decision? warmpath explain ID, or --last N");
    }
    if (last != null && last < 1) {
      throw new CommandException(2, "--last takes 1 or more, not " + last);
    }
    URI pages = pages();
    String path =
        id == null
            ? "/decisions?last=" + last
            : "/decisions/" + URLEncoder.encode(id, StandardCharsets.UTF_8);
    String body = get(pages, path);
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

  private URI pages() {
    if (admin != null) {
      return admin;
    }
    String environment = System.getenv("WARMPATH_ADMIN");
    if (environment != null && !environment.isEmpty()) {
      return PagesConverter.ofEnvironment("WARMPATH_ADMIN", environment);
    }
    URI latest = Instances.latest();
    return latest != null ? latest : URI.create("http://127.0.0.1:9901");
  }

  static String get(URI pages, String path) throws IOException, InterruptedException {
    String base = pages.toString().replaceFirst("/+$", "");
    try (HttpClient client =
        HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(3)).build()) {
      HttpResponse<String> response =
          client.send(
              HttpRequest.newBuilder(URI.create(base + path))
                  .timeout(Duration.ofSeconds(10))
                  .build(),
              HttpResponse.BodyHandlers.ofString());
      if (response.statusCode() == 404 && path.startsWith("/decisions/")) {
        throw new CommandException(
            "that decision is not remembered at " + base + " (the newest few thousand are)");
      }
      if (response.statusCode() != 200) {
        throw new CommandException(
            base
                + path
                + " answered "
                + response.statusCode()
                + ": are these a processor's admin pages?");
      }
      return response.body();
    } catch (ConnectException e) {
      throw new CommandException(
          "no gateway at " + base + ": start one with warmpath run, or name it with --admin URL");
    }
  }
}
