package dev.warmpath.cli;

import dev.warmpath.cli.input.CommandException;
import dev.warmpath.extproc.label.LabelWebhook;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import picocli.CommandLine.Option;

/** {@code --label-webhook}, the same for every command that starts a processor. */
final class LabelWebhookOption {
  private static final String ENVIRONMENT = "WARMPATH_LABEL_WEBHOOKS";

  /** Labels of the built-in classifiers. */
  private static final Set<String> BUILT_IN = Set.of("pii", "complexity", "language", "code");

  @Option(
      names = "--label-webhook",
      paramLabel = "LABEL=URL",
      description =
          "Ask a service for a label: 'tone=http://127.0.0.1:9100/tone deadline=200ms"
              + " concurrency=16'. Repeatable; without it, those of "
              + ENVIRONMENT
              + ", separated by commas. See docs/labels.md.")
  private List<String> given = new ArrayList<>();

  List<LabelWebhook> webhooks() {
    List<LabelWebhook> webhooks = new ArrayList<>();
    Set<String> labels = new HashSet<>();
    for (String text : given.isEmpty() ? environment() : given) {
      LabelWebhook webhook;
      try {
        webhook = LabelWebhook.parse(text);
      } catch (IllegalArgumentException e) {
        throw new CommandException(2, String.valueOf(e.getMessage()));
      }
      if (BUILT_IN.contains(webhook.label())) {
        throw new CommandException(
            2,
            "label '" + webhook.label() + "' has a built-in classifier; give the webhook another");
      }
      if (!labels.add(webhook.label())) {
        throw new CommandException(2, "label '" + webhook.label() + "' has two webhooks");
      }
      webhooks.add(webhook);
    }
    return webhooks;
  }

  private static List<String> environment() {
    String value = System.getenv(ENVIRONMENT);
    return value == null || value.isBlank() ? List.of() : List.of(value.split(",", -1));
  }
}
