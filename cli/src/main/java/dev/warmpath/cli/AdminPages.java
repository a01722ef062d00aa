package dev.warmpath.cli;

import dev.warmpath.cli.input.CommandException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Asks processors' admin pages. */
final class AdminPages {
  /** What somebody asked of one processor came to. */
  private sealed interface Reply {
    record Found(String body) implements Reply {}

    /** It answers, and has no such page or decision. */
    record NotThere() implements Reply {}

    /** Nobody answers there, or somebody else does; why, for people. */
    record NoGateway(String why) implements Reply {}
  }

  private AdminPages() {}

  /** What the pages answer there. */
  static String get(URI pages, String path) throws InterruptedException {
    return get(List.of(pages), path);
  }

  /**
   * What the first of those that has it answers.
   *
   * @throws CommandException naming every address that was asked, and what came of it
   */
  static String get(List<URI> candidates, String path) throws InterruptedException {
    List<String> without = new ArrayList<>();
    List<String> away = new ArrayList<>();
    try (HttpClient client =
        HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(3)).build()) {
      for (URI pages : candidates) {
        String base = pages.toString().replaceFirst("/+$", "");
        switch (ask(client, base, path)) {
          case Reply.Found found -> {
            return found.body();
          }
          case Reply.NotThere ignored -> without.add(base);
          case Reply.NoGateway nobody -> away.add(base + " (" + nobody.why() + ")");
        }
      }
    }
    if (without.isEmpty()) {
      throw new CommandException(
          "no gateway at "
              + String.join(", nor at ", away)
              + ": start one with warmpath run, or name it with --admin URL");
    }
    throw new CommandException(
        "that decision is not known any more at "
            + String.join(", nor at ", without)
            + ": a gateway remembers the newest few thousand since it was started, of the requests"
            + " that came to it"
            + away.stream().map(one -> "; no gateway at " + one).collect(Collectors.joining()));
  }

  private static Reply ask(HttpClient client, String base, String path)
      throws InterruptedException {
    try {
      HttpResponse<String> response =
          client.send(
              HttpRequest.newBuilder(URI.create(base + path))
                  .timeout(Duration.ofSeconds(10))
                  .build(),
              HttpResponse.BodyHandlers.ofString());
      if (response.statusCode() == 200) {
        return new Reply.Found(response.body());
      }
      // A processor tells in JSON that it has no such decision; another server's page is none.
      boolean decision =
          response.statusCode() == 404
              && path.startsWith("/decisions/")
              && response.headers().firstValue("content-type").orElse("").contains("json");
      return decision
          ? new Reply.NotThere()
          : new Reply.NoGateway(
              path.replaceFirst("\\?.*", "")
                  + " answered "
                  + response.statusCode()
                  + ": are these a processor's admin pages?");
    } catch (HttpTimeoutException e) {
      return new Reply.NoGateway("no answer in time");
    } catch (ConnectException e) {
      return new Reply.NoGateway("nobody listens");
    } catch (IOException e) {
      return new Reply.NoGateway(e.getMessage() == null ? "no answer" : e.getMessage());
    }
  }
}
