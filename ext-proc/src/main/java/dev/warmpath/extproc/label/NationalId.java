package dev.warmpath.extproc.label;

import java.util.ArrayList;
import java.util.List;

/**
 * A kind of identity number that is made of digits and proves itself by a checksum. Add one to
 * {@link PiiClassifier} to have it found.
 *
 * @param kind name in the label, for example {@code national-id-br}
 * @param shapes groupings in which it is written: {@code 3.3.3-2} with exactly these separators,
 *     {@code 4 4 4} with any, {@code 11} in one piece
 * @param context words, one of which must stand before it; empty where the checksum is strong
 *     enough by itself (one number in hundreds passes by chance)
 */
public record NationalId(String kind, List<String> shapes, List<String> context, Check check) {
  /** Whether {@code digits[from, …)} is a valid number; each element is 0 to 9. */
  @FunctionalInterface
  public interface Check {
    boolean valid(byte[] digits, int from);
  }

  public NationalId {
    shapes = List.copyOf(shapes);
    context = List.copyOf(context);
    for (String shape : shapes) {
      if (!shape.matches("\\d+([ .\\-/]\\d+)*")) {
        throw new IllegalArgumentException("not a shape: '" + shape + "'");
      }
    }
  }

  /** Those that are known without configuration. */
  public static List<NationalId> builtIn() {
    return List.of(
        new NationalId("national-id-br", List.of("3.3.3-2"), List.of(), Checksums::cpf),
        new NationalId(
            "national-id-in",
            List.of("4 4 4"),
            List.of(),
            (digits, from) -> digits[from] >= 2 && Checksums.verhoeff(digits, from, 12)),
        new NationalId(
            "national-id-fr", List.of("15", "1 2 2 2 3 3 2"), List.of(), Checksums::frenchNir),
        new NationalId(
            "tax-id-de",
            List.of("11", "2 3 3 3"),
            List.of("steuer", "idnr", "tax"),
            Checksums::germanTaxId),
        new NationalId("national-id-pl", List.of("11"), List.of("pesel"), Checksums::pesel),
        new NationalId(
            "national-id-nl",
            List.of("9", "4.2.3"),
            List.of("bsn", "burgerservice"),
            Checksums::bsn));
  }

  /** Shapes taken apart: group lengths, and the separator or 0 for any. */
  List<Shape> parsed() {
    List<Shape> parsed = new ArrayList<>();
    for (String shape : shapes) {
      String[] lengths = shape.split("[ .\\-/]", -1);
      int[] groups = new int[lengths.length];
      char[] separators = new char[Math.max(0, lengths.length - 1)];
      int at = 0;
      for (int i = 0; i < lengths.length; i++) {
        groups[i] = Integer.parseInt(lengths[i]);
        at += lengths[i].length();
        if (i < separators.length) {
          char separator = shape.charAt(at++);
          separators[i] = separator == ' ' ? 0 : separator;
        }
      }
      parsed.add(new Shape(groups, separators));
    }
    return parsed;
  }

  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Shape(int[] groups, char[] separators) {}
}
