package dev.warmpath.cli;

import dev.warmpath.simulator.ReceivedRequest;
import dev.warmpath.simulator.Simulator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Personal data never reaches the provider, whatever else fails. */
final class PiiStaysLocalStory implements RecipeStory {
  private static final String PLAIN = "Summarize the plot of Hamlet.";
  private static final String CARD = "Is my card 4111 1111 1111 1111 charged?";
  private static final String NO_RETRY_LEFT =
      "{\"kind\":\"status503\",\"count\":4}"; // more than the attempts of one request

  @Override
  public String name() {
    return "pii-stays-local";
  }

  @Override
  public List<String> explanation() {
    return List.of(
        "Three local workers, and a provider that takes over when none of them can. The policy: what",
        "has personal data, or can't be told not to have any, never leaves. It binds retries and",
        "fallbacks too.",
        "",
        "Look at: what the provider's socket has received while workers answer 503, and while all of",
        "them are down. The same requests without personal data do get there.");
  }

  @Override
  public List<Workers> workers() {
    return List.of(new Workers(9001, 3, "tiny", "Qwen/Qwen3.8-27B-FP8", 1));
  }

  @Override
  public void play(RecipeStage stage) throws Exception {
    RecipeClient client = stage.client();
    String plain = RecipeClient.body("", PLAIN, 8);
    String card = RecipeClient.body("", CARD, 8);
    String unreadable =
        """
        {"model":"qwen-27b","stream":true,"max_tokens":8,"messages":[{"role":"user","content":[
          {"type":"text","text":"What is this?"},
          {"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]}]}\
        """;

    List<RecipeClient.Answer> up =
        stage.step(
            "all workers up: without and with a card number, and an image",
            () -> List.of(send(client, plain), send(client, card), send(client, unreadable)));
    stage.promise(
        "workers up: everything stays here",
        stage.atProvider() + " at the provider",
        up.stream().allMatch(RecipeClient.Answer::complete) && stage.atProvider() == 0);

    RecipeClient.Answer retried =
        stage.step(
            "every worker answers 503: with a card number",
            () -> {
              stage.fault(NO_RETRY_LEFT);
              return send(client, card);
            });
    stage.promise(
        "a retry does not leave either",
        retried.status() + ", " + stage.atProvider() + " at the provider",
        retried.status() == 503 && stage.atProvider() == 0);
    RecipeClient.Answer fellBack =
        stage.step(
            "every worker answers 503: without",
            () -> {
              stage.fault("{\"kind\":\"none\"}");
              stage.fault(NO_RETRY_LEFT);
              return send(client, plain);
            });
    stage.promise(
        "without personal data the provider takes over",
        fellBack.status() + ", " + stage.atProvider() + " at the provider",
        fellBack.complete() && stage.atProvider() == 1);

    for (Simulator worker : stage.workers(0)) {
      worker.close();
    }
    RecipeClient.Answer plainDown =
        stage.step("every worker down: without a card number", () -> send(client, plain));
    RecipeClient.Answer cardDown =
        stage.step("every worker down: with a card number", () -> untilNamed(client, card));
    RecipeClient.Answer unknownDown =
        stage.step("every worker down: with an image", () -> untilNamed(client, unreadable));
    stage.promise(
        "pool down: without personal data it goes on",
        Integer.toString(plainDown.status()),
        plainDown.complete());
    stage.promise(
        "pool down: with it a clear 503",
        Integer.toString(cardDown.status()),
        cardDown.status() == 503 && cardDown.text().contains("personal-data-stays-here"));
    stage.promise(
        "pool down: what can't be told is 503 as well",
        Integer.toString(unknownDown.status()),
        unknownDown.status() == 503 && unknownDown.text().contains("personal-data-stays-here"));
    long leaked =
        stage.provider().received().stream().filter(PiiStaysLocalStory::isPersonal).count();
    stage.promise(
        "never a card number or an image at the provider",
        leaked + " of " + stage.atProvider(),
        leaked == 0);
    stage.figure("plain_at_provider", stage.atProvider());
    stage.figure("personal_at_provider", leaked);
    stage.figure("refusal", cardDown.text().strip());
  }

  private static RecipeClient.Answer send(RecipeClient client, String body) throws Exception {
    return client.send(body, null);
  }

  /** Until a scrape has seen that they are gone, a plan may still name them. */
  private static RecipeClient.Answer untilNamed(RecipeClient client, String body) throws Exception {
    RecipeClient.Answer answer = send(client, body);
    for (int i = 0; i < 100 && !answer.text().contains("personal-data-stays-here"); i++) {
      Thread.sleep(100);
      answer = send(client, body);
    }
    return answer;
  }

  private static boolean isPersonal(ReceivedRequest request) {
    @Nullable String body = request.body();
    return body == null || body.contains("4111") || body.contains("image_url");
  }
}
