package dev.warmpath.crds.v1alpha1;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Durations as Kubernetes and Go write them: one or more numbers with a unit, such as {@code
 * 900ms}, {@code 1s} or {@code 1m30s}. Never negative here, and at most {@link #MAX}.
 */
public final class Durations {
  /**
   * The pattern of the CRD schema. Wider than what {@link #parse} takes only in the largest value.
   */
  public static final String PATTERN = "^([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$";

  /** A year: what is longer is a mistake, and nanoseconds of it fit a long with room to spare. */
  public static final Duration MAX = Duration.ofDays(366);

  // Digits are bounded so that a hostile text can't make BigDecimal work for long.
  private static final Pattern PART =
      Pattern.compile("([0-9]{1,19}(?:\\.[0-9]{1,19})?)(ns|us|µs|ms|s|m|h)");

  private static final BigDecimal MAX_NANOS = new BigDecimal(MAX.toNanos());

  private Durations() {}

  /** The duration that {@code text} says, or null if it says none (or one out of range). */
  public static @Nullable Duration parse(String text) {
    if (text.length() > 100) {
      return null;
    }
    if (text.equals("0")) {
      return Duration.ZERO;
    }
    Matcher matcher = PART.matcher(text);
    int end = 0;
    BigDecimal nanos = BigDecimal.ZERO;
    while (end < text.length() && matcher.find(end) && matcher.start() == end) {
      nanos = nanos.add(new BigDecimal(matcher.group(1)).multiply(unitNanos(matcher.group(2))));
      end = matcher.end();
    }
    if (end == 0 || end != text.length() || nanos.compareTo(MAX_NANOS) > 0) {
      return null;
    }
    return Duration.ofNanos(nanos.toBigInteger().longValueExact());
  }

  /** The canonical text of a duration; {@link #parse} gives the same duration back. */
  public static String format(Duration duration) {
    if (duration.isZero()) {
      return "0s";
    }
    if (duration.isNegative()) {
      throw new IllegalArgumentException("negative duration " + duration);
    }
    StringBuilder text = new StringBuilder();
    append(text, duration.toHours(), "h");
    append(text, duration.toMinutesPart(), "m");
    append(text, duration.toSecondsPart(), "s");
    int nanos = duration.toNanosPart();
    append(text, nanos / 1_000_000, "ms");
    append(text, nanos / 1_000 % 1_000, "us");
    append(text, nanos % 1_000, "ns");
    return text.toString();
  }

  private static void append(StringBuilder text, long value, String unit) {
    if (value != 0) {
      text.append(value).append(unit);
    }
  }

  private static BigDecimal unitNanos(String unit) {
    return new BigDecimal(
        switch (unit) {
          case "ns" -> BigInteger.ONE;
          case "us", "µs" -> BigInteger.valueOf(1_000);
          case "ms" -> BigInteger.valueOf(1_000_000);
          case "s" -> BigInteger.valueOf(1_000_000_000L);
          case "m" -> BigInteger.valueOf(60_000_000_000L);
          case "h" -> BigInteger.valueOf(3_600_000_000_000L);
          default -> throw new IllegalArgumentException("unit " + unit);
        });
  }
}
