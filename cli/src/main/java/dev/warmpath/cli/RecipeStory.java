package dev.warmpath.cli;

import dev.warmpath.cli.input.CommandException;
import java.util.List;

/** One recipe of docs/policies.md as a story: what is set up, what happens, what it must show. */
interface RecipeStory {

  /** The file of the configuration, without its ending. */
  String name();

  /** What the policy says and what is going to happen, for somebody who reads it for once. */
  List<String> explanation();

  /** The simulated workers that stand for the addresses in the file. */
  List<Workers> workers();

  /** Plays it; {@link RecipeStage#promise} says what held. */
  void play(RecipeStage stage) throws Exception;

  /**
   * Workers of one worker set.
   *
   * @param firstPort of the set in the file; the others follow
   * @param profile of the engine
   * @param model that they serve
   * @param timeScale how many times faster than the real engine
   */
  record Workers(int firstPort, int count, String profile, String model, double timeScale) {}

  /** Every recipe, in the order of the page. */
  static List<RecipeStory> all() {
    return List.of(
        new SimpleToCheaperStory(),
        new BurstToCloudStory(),
        new PiiStaysLocalStory(),
        new BatchOnIdleStory());
  }

  /** The recipe of that name. */
  static RecipeStory named(String name) {
    return all().stream()
        .filter(story -> story.name().equals(name))
        .findFirst()
        .orElseThrow(() ->
            new CommandException(
                2,
                "no recipe "
                    + name
                    + "; there are "
                    + String.join(", ", all().stream().map(RecipeStory::name).toList())));
  }
}
