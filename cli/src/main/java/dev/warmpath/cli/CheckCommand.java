package dev.warmpath.cli;

import dev.warmpath.cli.input.CommandException;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "check",
    mixinStandardHelpOptions = true,
    description =
        "Waits until every URL answers 200. For scripts, and for images without a shell or curl.",
    footerHeading = "%nExample:%n",
    footer = {"  warmpath check http://127.0.0.1:8080/health --timeout 30s"})
final class CheckCommand implements Callable<Integer> {
  private static final Duration ONE_ATTEMPT = Duration.ofSeconds(5);
  private static final Duration PAUSE = Duration.ofMillis(500);

  // Set by picocli.
  @SuppressWarnings("NullAway.Init")
  @Parameters(arity = "1..*", paramLabel = "URL", description = "Pages that have to be there.")
  private List<URI> pages;

  @Option(
      names = "--timeout",
      defaultValue = "60s",
      converter = DurationConverter.class,
      description = "For all of them (default: ${DEFAULT-VALUE}).")
  private Duration timeout = Duration.ofSeconds(60);

  @Override
  public Integer call() throws InterruptedException {
    long deadline = System.nanoTime() + timeout.toNanos();
    Terminal terminal = Terminal.standard();
    try (HttpClient client = HttpClient.newBuilder().connectTimeout(ONE_ATTEMPT).build()) {
      for (URI page : pages) {
        String answer = answer(client, page);
        while (!answer.equals("200")) {
          if (System.nanoTime() - deadline >= 0) {
            throw new CommandException(1, page + ": " + answer);
          }
          Thread.sleep(PAUSE);
          answer = answer(client, page);
        }
        terminal.line("ok " + page);
      }
    }
    return 0;
  }

  private static String answer(HttpClient client, URI page) throws InterruptedException {
    try {
      HttpRequest request = HttpRequest.newBuilder(page).timeout(ONE_ATTEMPT).build();
      return Integer.toString(
          client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode());
    } catch (IOException e) {
      return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
    } catch (IllegalArgumentException e) {
      throw new CommandException(2, page + ": " + e.getMessage());
    }
  }
}
