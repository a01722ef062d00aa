package dev.warmpath.cli;

import dev.warmpath.cli.input.CommandException;
import dev.warmpath.simulator.Simulator;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** What a story plays with: the running parts, the screen, and the list of what it has shown. */
final class RecipeStage {
  private static final String[] WORDS =
      "time year day way man thing life child world case part place week work fact group home room"
          .split(" ");

  private final Terminal terminal;
  private final RecipeClient client;
  private final List<List<Simulator>> sets;
  private final @Nullable Simulator provider;
  private final List<Promise> promises = new ArrayList<>();
  private final Map<String, Object> figures = new LinkedHashMap<>();
  private final Random random = new Random(5);

  /** Something that the recipe must show, and whether it did. */
  record Promise(String text, String measured, boolean held) {}

  /**
   * @param sets the simulators, by worker set in the order of the story
   */
  RecipeStage(
      Terminal terminal,
      RecipeClient client,
      List<List<Simulator>> sets,
      @Nullable Simulator provider) {
    this.terminal = terminal;
    this.client = client;
    this.sets = sets;
    this.provider = provider;
  }

  RecipeClient client() {
    return client;
  }

  <T> T step(String what, Terminal.Step<T> work) throws Exception {
    return terminal.step(what, work);
  }

  /** The look-alike of the external provider. */
  Simulator provider() {
    if (provider == null) {
      throw new IllegalStateException("this recipe has no provider");
    }
    return provider;
  }

  /** Requests that have reached the provider's socket. */
  int atProvider() {
    return provider().received().size();
  }

  List<Simulator> workers(int set) {
    return sets.get(set);
  }

  /** Arms a fault in every worker. */
  void fault(String json) throws IOException, InterruptedException {
    try (HttpClient http = HttpClient.newHttpClient()) {
      for (List<Simulator> set : sets) {
        for (Simulator simulator : set) {
          HttpResponse<String> response =
              http.send(
                  HttpRequest.newBuilder(URI.create(simulator.uri() + "/_sim/fault"))
                      .header("content-type", "application/json")
                      .POST(HttpRequest.BodyPublishers.ofString(json))
                      .build(),
                  HttpResponse.BodyHandlers.ofString());
          if (response.statusCode() != 200) {
            throw new CommandException("a simulated worker refused a fault: " + response.body());
          }
        }
      }
    }
  }

  /** A text that no other request has; each word is one token. */
  String document(int words) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < words; i++) {
      text.append(i == 0 ? "" : " ").append(WORDS[random.nextInt(WORDS.length)]);
    }
    return text.toString();
  }

  /** Notes what the recipe must show. */
  void promise(String text, String measured, boolean held) {
    promises.add(new Promise(text, measured, held));
  }

  /** A number for {@code --json}. */
  void figure(String name, Object value) {
    figures.put(name, value);
  }

  List<Promise> promises() {
    return promises;
  }

  Map<String, Object> figures() {
    return figures;
  }
}
