package dev.warmpath.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Simple requests go to the cheaper pool, unless their conversation is warm on the big one. */
final class SimpleToCheaperStory implements RecipeStory {
  private static final int COLD = 8;
  private static final int CONVERSATIONS = 4;
  private static final int HISTORY_WORDS = 8000;

  @Override
  public String name() {
    return "simple-to-cheaper";
  }

  @Override
  public List<String> explanation() {
    return List.of(
        "Two pools: three L40S with a 27B model, two smaller cards with a cheaper one. Clients ask",
        "for qwen-27b only. The policy: what the gateway labels complexity = simple may go to either",
        "pool, wherever the first token comes soonest. Everything else stays on the big pool.",
        "",
        "Look at: new simple questions leave for the cheap pool; a simple question at the end of a",
        "long conversation stays where that conversation is in the cache.");
  }

  @Override
  public List<Workers> workers() {
    return List.of(
        new Workers(9001, 3, "l40s-qwen27b-fp8-kv8", "Qwen/Qwen3.8-27B-FP8", 10),
        new Workers(9101, 2, "a100-8b", "Qwen/Qwen3.8-4B", 10));
  }

  @Override
  public void play(RecipeStage stage) throws Exception {
    RecipeClient client = stage.client();
    List<RecipeClient.Answer> cold =
        stage.step(
            COLD + " simple questions, each about a new document",
            () -> {
              List<RecipeClient.Answer> answers = new ArrayList<>();
              for (int i = 0; i < COLD; i++) {
                answers.add(
                    client.send(
                        RecipeClient.body(stage.document(4000), "What is this about?", 8), null));
              }
              return answers;
            });
    List<RecipeClient.Answer> hard = new ArrayList<>();
    List<RecipeClient.Answer> followUps = new ArrayList<>();
    stage.step(
        CONVERSATIONS + " conversations: a hard question first, then a simple one",
        () -> {
          for (int i = 0; i < CONVERSATIONS; i++) {
            String history = stage.document(HISTORY_WORDS);
            hard.add(
                client.send(
                    RecipeClient.body(
                        history, "Prove step by step that the plan above is optimal.", 8),
                    null));
            followUps.add(
                client.send(RecipeClient.body(history, "Thanks! What is the title?", 8), null));
          }
          return true;
        });
    List<RecipeClient.Answer> all = new ArrayList<>(cold);
    all.addAll(hard);
    all.addAll(followUps);
    long failed = all.stream().filter(answer -> !answer.complete()).count();
    int cheap = client.taken(cold, "qwen-cheap");
    int big = client.taken(hard, "qwen-local");
    int stayed = client.taken(followUps, "qwen-local");
    stage.promise("simple and cold: the cheap pool", cheap + " of " + COLD, cheap == COLD);
    stage.promise("not simple: the big pool", big + " of " + CONVERSATIONS, big == CONVERSATIONS);
    stage.promise(
        "simple, but warm on the big pool: stays there",
        stayed + " of " + CONVERSATIONS,
        stayed == CONVERSATIONS);
    stage.promise("no request failed", failed + " failed", failed == 0);
    stage.promise(
        "staying was faster than the first time",
        String.format(Locale.ROOT, "%.0f ms after %.0f ms", median(followUps), median(hard)),
        median(followUps) < median(hard));
    stage.figure("cold_on_cheap", cheap);
    stage.figure("warm_stayed", stayed);
    stage.figure("failed", failed);
  }

  private static double median(List<RecipeClient.Answer> answers) {
    long[] sorted = answers.stream().mapToLong(RecipeClient.Answer::ttftNanos).sorted().toArray();
    return sorted[sorted.length / 2] / 1e6;
  }
}
