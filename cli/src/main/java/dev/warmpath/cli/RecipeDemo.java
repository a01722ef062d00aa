package dev.warmpath.cli;

import dev.warmpath.simulator.Simulator;
import dev.warmpath.simulator.SimulatorOptions;
import dev.warmpath.simulator.TlsIdentity;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/** Plays one recipe with simulated workers, a provider behind TLS and a whole gateway. */
final class RecipeDemo {
  private final RecipeStory story;
  private final Terminal terminal;
  private final int port;
  private final boolean once;
  private final Consumer<AutoCloseable> owner;

  /**
   * @param port of the gateway; another is taken if it is in use
   * @param once everything is stopped as soon as it has been shown
   * @param owner closes what is started here, in reverse
   */
  RecipeDemo(
      RecipeStory story, Terminal terminal, int port, boolean once, Consumer<AutoCloseable> owner) {
    this.story = story;
    this.terminal = terminal;
    this.port = port;
    this.once = once;
    this.owner = owner;
  }

  /**
   * Plays it.
   *
   * @param json file for the numbers, null for none
   * @return 0 where everything was shown that the recipe must show, else 1
   */
  int play(@Nullable Path json) throws Exception {
    terminal.line(terminal.bold("Warmpath recipe: " + story.name()) + "\n");
    story.explanation().forEach(terminal::line);
    terminal.line("");
    Path folder = Files.createTempDirectory("warmpath-recipe-");
    owner.accept(() -> DemoCommand.deleteTree(folder));
    RecipeConfiguration configuration = RecipeConfiguration.of(story.name());
    List<List<Simulator>> sets = terminal.step("workers", () -> startWorkers(configuration));
    Simulator provider =
        configuration.hasProvider()
            ? terminal.step("provider, with TLS", () -> startProvider(configuration))
            : null;
    configuration.write(folder);
    Standalone gateway = DemoCommand.startGateway(folder, port, terminal, owner);
    URI endpoint = gateway.endpoint("127.0.0.1");
    terminal.line("");
    try (RecipeClient client = new RecipeClient(endpoint, gateway.adminPages())) {
      RecipeStage stage = new RecipeStage(terminal, client, sets, provider);
      story.play(stage);
      return report(stage, folder, endpoint, gateway.adminPages(), json);
    }
  }

  private List<List<Simulator>> startWorkers(RecipeConfiguration configuration)
      throws InterruptedException {
    List<List<Simulator>> sets = new ArrayList<>();
    for (RecipeStory.Workers wanted : story.workers()) {
      List<Simulator> set = new ArrayList<>();
      for (int i = 0; i < wanted.count(); i++) {
        Simulator simulator =
            DemoCommand.startWorker(wanted.profile(), wanted.model(), wanted.timeScale(), i, owner);
        set.add(simulator);
        configuration.worker(wanted.firstPort() + i, simulator);
      }
      sets.add(set);
    }
    return sets;
  }

  private Simulator startProvider(RecipeConfiguration configuration) throws InterruptedException {
    TlsIdentity identity = TlsIdentity.create();
    Simulator provider =
        Simulator.start(
            SimulatorOptions.defaults()
                .withProfile("tiny")
                .withModel("gpt-4o-mini")
                .withRecording(SimulatorOptions.Recording.BODY)
                .withTls(identity));
    owner.accept(provider);
    configuration.provider(provider.uri(), identity.authorityPem());
    return provider;
  }

  private int report(
      RecipeStage stage, Path folder, URI endpoint, URI adminPages, @Nullable Path json)
      throws IOException {
    terminal.line("");
    Table table = new Table("what it must show", "measured", "");
    boolean held = true;
    for (RecipeStage.Promise promise : stage.promises()) {
      held &= promise.held();
      table.row(promise.text(), promise.measured(), promise.held() ? "yes" : "NO");
    }
    for (String line : table.lines()) {
      terminal.line(line.endsWith("NO") ? terminal.red(line) : line);
    }
    if (json != null) {
      Map<String, Object> out = new LinkedHashMap<>(stage.figures());
      out.put("recipe", story.name());
      out.put("held", held);
      Files.writeString(
          json,
          JsonMapper.shared().writerWithDefaultPrettyPrinter().writeValueAsString(out) + "\n");
    }
    if (!once) {
      invite(folder, endpoint, adminPages);
    }
    return held ? 0 : 1;
  }

  private void invite(Path folder, URI endpoint, URI adminPages) {
    terminal.line("");
    terminal.line("  the policy   " + folder.resolve("recipe.yaml") + " (edit it while this runs)");
    terminal.line("  the gateway  " + endpoint + "/v1");
    terminal.line("  why there?   bin/warmpath explain --last 20");
    terminal.line("  decisions    " + adminPages + "/decisions");
  }
}
