package dev.warmpath.extproc.label;

import dev.warmpath.extproc.label.Label.Source;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The labels of one request. Each is computed at most once, when a policy asks: from the trusted
 * header, else by the operator's route, else by a built-in classifier, else by a webhook. Confined
 * to one thread at a time; a webhook's answer may arrive on any.
 */
public final class RequestLabels implements LabelSource {
  private final Classifiers classifiers;
  private final RequestText text;
  private final Map<String, String> trusted;
  private final Map<String, String> ofRoute;
  private final LongSupplier nanoClock;
  private final Map<String, Label> known = new HashMap<>();
  private final Map<String, CompletableFuture<Label>> onTheirWay = new HashMap<>();

  RequestLabels(
      Classifiers classifiers,
      RequestText text,
      Map<String, String> trusted,
      Map<String, String> ofRoute,
      LongSupplier nanoClock) {
    this.classifiers = classifiers;
    this.text = text;
    this.trusted = trusted;
    this.ofRoute = ofRoute;
    this.nanoClock = nanoClock;
  }

  @Override
  public Label label(String key) {
    Label label = known.get(key);
    if (label != null) {
      return label;
    }
    label = find(key);
    if (!onTheirWay.containsKey(key)) {
      known.put(key, label);
    }
    return label;
  }

  private Label find(String key) {
    String given = trusted.get(key);
    if (given != null) {
      return new Label(given, Source.HEADER, List.of(), null, 0);
    }
    String byRoute = ofRoute.get(key);
    if (byRoute != null) {
      return new Label(byRoute, Source.ROUTE, List.of(), null, 0);
    }
    Classifier classifier = classifiers.builtIn(key);
    if (classifier != null) {
      return classify(classifier);
    }
    WebhookClassifier webhook = classifiers.webhook(key);
    return webhook == null
        ? Label.unknown(Source.NONE, "no classifier gives it", 0)
        : ask(key, webhook);
  }

  private Label classify(Classifier classifier) {
    long start = nanoClock.getAsLong();
    Classifier.Verdict verdict;
    try {
      verdict = classifier.classify(text);
    } catch (RuntimeException e) {
      // A classifier that breaks says nothing; its message could hold text of the prompt.
      verdict = Classifier.Verdict.unknown("failed: " + e.getClass().getSimpleName());
    }
    return label(verdict, Source.BUILT_IN, nanoClock.getAsLong() - start);
  }

  static Label label(Classifier.Verdict verdict, Source source, long spentNanos) {
    String value = verdict.value();
    return value == null
        ? Label.unknown(
            source, verdict.reason() == null ? "abstained" : verdict.reason(), spentNanos)
        : new Label(value, source, verdict.kinds(), null, spentNanos);
  }

  private Label ask(String key, WebhookClassifier webhook) {
    CompletableFuture<Label> answer =
        onTheirWay.computeIfAbsent(key, any -> webhook.classify(text.body()));
    if (!answer.isDone()) {
      return Label.unknown(Source.WEBHOOK, "on its way", 0);
    }
    onTheirWay.remove(key);
    return answer.join();
  }

  @Override
  public @Nullable Pending pending() {
    if (onTheirWay.isEmpty()) {
      return null;
    }
    return new Pending(
        CompletableFuture.allOf(onTheirWay.values().toArray(CompletableFuture<?>[]::new)),
        classifiers.longestDeadlineNanos());
  }
}
