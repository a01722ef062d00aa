package dev.warmpath.cli;

import dev.warmpath.cli.input.CommandException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Batch work runs where there is room, and interactive requests don't feel it. */
final class BatchOnIdleStory implements RecipeStory {
  private static final int INTERACTIVE = 30;
  private static final int BATCH = 36;
  private static final double MOST_SLOWDOWN = 1.10;

  @Override
  public String name() {
    return "batch-on-idle";
  }

  @Override
  public List<String> explanation() {
    return List.of(
        "Three L40S and two tenants: interactive, and nightly with class = batch. The policy: batch",
        "goes only to a worker whose KV cache is less than 70 % full, while fewer than two prompts",
        "wait in the pool; else it waits at the gateway. Everything of the night is sent at once.",
        "",
        "Look at: the time to first token of interactive requests without and with the batch, and",
        "that the batch still comes to its end.");
  }

  @Override
  public List<Workers> workers() {
    return List.of(new Workers(9001, 3, "l40s-qwen27b-fp8-kv8", "Qwen/Qwen3.8-27B-FP8", 4));
  }

  @Override
  public void play(RecipeStage stage) throws Exception {
    String nightly = RecipeConfiguration.key("nightly");
    stage.step("warming up", () -> interactive(stage, 6));
    double alone =
        stage.step(
            INTERACTIVE + " interactive requests", () -> median(interactive(stage, INTERACTIVE)));
    List<Future<RecipeClient.Answer>> batch = new ArrayList<>();
    double beside;
    long failed = 0;
    int running;
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < BATCH; i++) {
        String body = RecipeClient.body(stage.document(4000), "Write a long report.", 200);
        batch.add(threads.submit(() -> stage.client().send(body, nightly)));
      }
      beside =
          stage.step(
              INTERACTIVE + " interactive requests while " + BATCH + " of the batch are there",
              () -> median(interactive(stage, INTERACTIVE)));
      running = (int) batch.stream().filter(one -> !one.isDone()).count();
      stage.step(
          "the rest of the batch",
          () -> {
            for (Future<RecipeClient.Answer> one : batch) {
              one.get(5, TimeUnit.MINUTES);
            }
            return true;
          });
      for (Future<RecipeClient.Answer> one : batch) {
        failed += one.get().complete() ? 0 : 1;
      }
    }
    stage.promise(
        "interactive first token within 10 % of that without batch",
        String.format(Locale.ROOT, "%.0f ms beside it, %.0f ms alone", beside, alone),
        beside <= alone * MOST_SLOWDOWN);
    stage.promise("the batch finishes", BATCH - failed + " of " + BATCH, failed == 0);
    stage.figure("alone_ms", alone);
    stage.figure("beside_ms", beside);
    stage.figure("batch_running_at_end_of_measurement", running);
    stage.figure("batch_failed", failed);
  }

  private static List<RecipeClient.Answer> interactive(RecipeStage stage, int count)
      throws Exception {
    List<RecipeClient.Answer> answers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      RecipeClient.Answer answer =
          stage
              .client()
              .send(
                  RecipeClient.body(stage.document(2000), "Summarize it.", 8),
                  RecipeConfiguration.key("interactive"));
      if (!answer.complete()) {
        throw new CommandException("an interactive request failed: " + answer.text());
      }
      answers.add(answer);
    }
    return answers;
  }

  private static double median(List<RecipeClient.Answer> answers) {
    long[] sorted = answers.stream().mapToLong(RecipeClient.Answer::ttftNanos).sorted().toArray();
    return sorted[sorted.length / 2] / 1e6;
  }
}
