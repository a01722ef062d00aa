package dev.warmpath.cli;

import java.util.ArrayList;
import java.util.List;

/** Local while queues are short, the provider under a burst, local again after it. */
final class BurstToCloudStory implements RecipeStory {
  private static final int QUIET = 10;
  private static final int BURST = 70;

  @Override
  public String name() {
    return "burst-to-cloud";
  }

  @Override
  public List<String> explanation() {
    return List.of(
        "Three L40S here, and an external provider behind TLS. The policy: a local worker with fewer",
        "than 8 waiting prompts takes the request; only while there is none, the provider does.",
        "",
        "Look at: the provider gets nothing while it is quiet, a part of the burst, and nothing again",
        "after it; no request is lost at either switch.");
  }

  @Override
  public List<Workers> workers() {
    return List.of(new Workers(9001, 3, "l40s-qwen27b-fp8-kv8", "Qwen/Qwen3.8-27B-FP8", 10));
  }

  @Override
  public void play(RecipeStage stage) throws Exception {
    RecipeClient client = stage.client();
    int before = stage.atProvider();
    List<RecipeClient.Answer> all = new ArrayList<>();
    all.addAll(stage.step(QUIET + " requests, one after another", () -> quiet(stage)));
    int quiet = stage.atProvider() - before;
    List<String> bodies = new ArrayList<>();
    for (int i = 0; i < BURST; i++) {
      bodies.add(RecipeClient.body(stage.document(3000), "Summarize it.", 16));
    }
    List<RecipeClient.Answer> burst =
        stage.step(BURST + " requests at once", () -> client.sendAll(bodies, null));
    all.addAll(burst);
    int provider = stage.atProvider() - before - quiet;
    int local = client.taken(burst, "qwen-local");
    all.addAll(stage.step(QUIET + " requests, one after another", () -> quiet(stage)));
    int after = stage.atProvider() - before - quiet - provider;
    long failed = all.stream().filter(answer -> !answer.complete()).count();
    stage.promise("quiet: nothing at the provider", quiet + " of " + QUIET, quiet == 0);
    stage.promise(
        "burst: the provider takes what is too much",
        provider + " of " + BURST + ", " + local + " here",
        provider > 0 && local >= 24 && local + provider == BURST);
    stage.promise("after it: nothing at the provider", after + " of " + QUIET, after == 0);
    stage.promise("no request is lost", failed + " failed", failed == 0);
    stage.figure("quiet_at_provider", quiet);
    stage.figure("burst_at_provider", provider);
    stage.figure("burst_local", local);
    stage.figure("after_at_provider", after);
    stage.figure("failed", failed);
  }

  private static List<RecipeClient.Answer> quiet(RecipeStage stage) throws Exception {
    List<RecipeClient.Answer> answers = new ArrayList<>();
    for (int i = 0; i < QUIET; i++) {
      answers.add(
          stage.client().send(RecipeClient.body(stage.document(300), "Summarize it.", 4), null));
    }
    return answers;
  }
}
