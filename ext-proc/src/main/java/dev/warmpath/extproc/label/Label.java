package dev.warmpath.extproc.label;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The value of one label for one request. A value is never guessed: a classifier that did not run,
 * failed, was cut short or abstained gives {@link #UNKNOWN}.
 *
 * @param value what policies compare with
 * @param source who said so
 * @param kinds what was found, for example {@code payment-card}; never the text itself
 * @param reason why the value is unknown; null where it is known
 * @param spentNanos time that the classifier took for this request
 */
public record Label(
    String value, Source source, List<String> kinds, @Nullable String reason, long spentNanos) {
  public static final String UNKNOWN = "unknown";

  public Label {
    kinds = List.copyOf(kinds);
  }

  public static Label unknown(Source source, String reason, long spentNanos) {
    return new Label(UNKNOWN, source, List.of(), reason, spentNanos);
  }

  public boolean known() {
    return !value.equals(UNKNOWN);
  }

  /** Where a value comes from. */
  public enum Source {
    BUILT_IN,
    WEBHOOK,
    /** The trusted label header of a tenant that may send one. */
    HEADER,
    /** The operator's route that the request came by. */
    ROUTE,
    /** Nobody knows that label. */
    NONE
  }
}
