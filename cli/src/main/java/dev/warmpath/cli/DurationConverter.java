package dev.warmpath.cli;

import java.time.Duration;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Durations as in resources: {@code 250ms}, {@code 5s}, {@code 2m}. */
final class DurationConverter implements ITypeConverter<Duration> {
  @Override
  public Duration convert(String text) {
    String number = text.replaceFirst("[a-z]+$", "");
    String unit = text.substring(number.length());
    try {
      double value = Double.parseDouble(number);
      double seconds =
          switch (unit) {
            case "ms" -> value / 1000;
            case "s" -> value;
            case "m" -> value * 60;
            case "h" -> value * 3600;
            default -> throw new NumberFormatException();
          };
      return Duration.ofNanos((long) (seconds * 1e9));
    } catch (NumberFormatException e) {
      throw new TypeConversionException("'" + text + "' is no duration such as 250ms, 5s or 2m");
    }
  }
}
