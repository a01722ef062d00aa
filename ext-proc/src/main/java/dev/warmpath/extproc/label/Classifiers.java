package dev.warmpath.extproc.label;

import dev.warmpath.crds.config.GatewayNames;
import dev.warmpath.crds.resource.KnownLabels;
import dev.warmpath.extproc.tenant.Tenant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Every classifier of the gateway, by the label that it gives. Immutable and thread-safe. */
public final class Classifiers {
  private static final Pattern PAIR =
      Pattern.compile(
          "\\s*([A-Za-z][A-Za-z0-9_-]{0,62})\\s*=\\s*(" + KnownLabels.SENDABLE_VALUE + ")\\s*");

  private final Map<String, Classifier> builtIn = new HashMap<>();
  private final Map<String, WebhookClassifier> webhooks = new HashMap<>();
  private final LongSupplier nanoClock;

  /**
   * @param nanoClock measures what a label cost
   */
  public Classifiers(
      List<Classifier> builtIn, List<WebhookClassifier> webhooks, LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
    builtIn.forEach(classifier -> this.builtIn.put(classifier.key(), classifier));
    for (WebhookClassifier webhook : webhooks) {
      if (this.builtIn.containsKey(webhook.key())) {
        throw new IllegalArgumentException(
            "label '" + webhook.key() + "' has a built-in classifier; give the webhook another");
      }
      if (this.webhooks.put(webhook.key(), webhook) != null) {
        throw new IllegalArgumentException(
            "label '" + webhook.key() + "' has two webhooks; it can have one");
      }
    }
  }

  /** {@code pii}, {@code complexity}, {@code language}, {@code code}; no webhook. */
  public static Classifiers builtIn(LongSupplier nanoClock) {
    return builtInAnd(List.of(), nanoClock);
  }

  /** The built-in ones, and webhooks for other labels. */
  public static Classifiers builtInAnd(List<WebhookClassifier> webhooks, LongSupplier nanoClock) {
    return new Classifiers(
        List.of(
            new PiiClassifier(),
            new ComplexityClassifier(),
            new LanguageClassifier(),
            new CodeClassifier()),
        webhooks,
        nanoClock);
  }

  /** The labels of a request that came by no operator's route. */
  public LabelSource of(byte[] body, Map<String, String> headers, Tenant tenant) {
    return of(body, headers, Map.of(), tenant);
  }

  /**
   * The labels of one request.
   *
   * @param body not to be changed while labels are asked for
   * @param headers lower-case names; the label header counts only for a tenant that may send one
   * @param ofRoute what the operator's route says, which any label of that header overrules
   */
  public LabelSource of(
      byte[] body, Map<String, String> headers, Map<String, String> ofRoute, Tenant tenant) {
    String given = tenant.trustLabelHeader() ? headers.get(GatewayNames.LABELS_HEADER) : null;
    return new RequestLabels(
        this, new RequestText(body), given == null ? Map.of() : parse(given), ofRoute, nanoClock);
  }

  /** {@code pii=absent, complexity=simple}; a part that isn't a pair is left out. */
  static Map<String, String> parse(String header) {
    Map<String, String> labels = new HashMap<>();
    for (String part : header.split(",", 32)) {
      var pair = PAIR.matcher(part);
      if (pair.matches()) {
        labels.put(pair.group(1), pair.group(2));
      }
    }
    return labels;
  }

  @Nullable Classifier builtIn(String key) {
    return builtIn.get(key);
  }

  @Nullable WebhookClassifier webhook(String key) {
    return webhooks.get(key);
  }

  long longestDeadlineNanos() {
    return webhooks.values().stream().mapToLong(WebhookClassifier::deadlineNanos).max().orElse(0);
  }
}
