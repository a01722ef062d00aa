package dev.warmpath.extproc.label;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Generated positives: numbers with right check digits, in every way of writing and hiding them
 * that the classifier promises to see through. {@code -Dseed=N} repeats a run.
 */
class PiiRecallTest {
  private static final long SEED = Long.getLong("seed", 20261129L);
  private static final int SAMPLES = 1000;
  private static final double WANTED = 0.99;

  private static final RandomGenerator RANDOM =
      RandomGeneratorFactory.of("L64X128MixRandom").create(SEED);

  /** Kind, and how one is made; its canonical grouping is by single spaces. */
  private static final Map<String, Function<RandomGenerator, String>> MAKERS =
      Map.of(
          "payment-card", PiiRecallTest::card,
          "iban", PiiRecallTest::iban,
          "us-ssn", PiiRecallTest::ssn,
          "national-id-br", PiiRecallTest::cpf,
          "national-id-in", PiiRecallTest::aadhaar,
          "national-id-fr", PiiRecallTest::nir,
          "national-id-it", PiiRecallTest::codiceFiscale,
          "national-id-es", PiiRecallTest::dni);

  static List<String> kinds() {
    return MAKERS.keySet().stream().sorted().toList();
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void findsAlmostAll(String kind) {
    Function<RandomGenerator, String> maker = Objects.requireNonNull(MAKERS.get(kind));
    List<String> missed = new ArrayList<>();
    int made = 0;
    for (int i = 0; i < SAMPLES; i++) {
      String plain = maker.apply(RANDOM);
      List<Disguise> possible = disguisesOf(kind);
      Disguise disguise = possible.get(RANDOM.nextInt(possible.size()));
      String hidden = disguise.apply(plain);
      String text = surroundings().formatted(hidden);
      String body = body(text);
      made++;
      Classifier.Verdict verdict =
          new PiiClassifier().classify(new RequestText(body.getBytes(StandardCharsets.UTF_8)));
      if (!verdict.kinds().contains(kind)) {
        missed.add(disguise + " " + plain + " -> " + verdict.kinds() + " in " + body);
      }
    }
    double recall = 1 - (double) missed.size() / made;
    assertThat(recall)
        .as(() ->
            "seed %d, missed %d: %s"
                .formatted(
                    SEED,
                    missed.size(),
                    missed.stream().limit(8).collect(Collectors.joining("\n"))))
        .isGreaterThanOrEqualTo(WANTED);
  }

  private static List<Disguise> disguisesOf(String kind) {
    return switch (kind) {
      case "payment-card", "iban" -> List.of(Disguise.values());
      case "national-id-fr" ->
          List.of(
              Disguise.NONE,
              Disguise.COMPACT,
              Disguise.FULL_WIDTH,
              Disguise.ZERO_WIDTH,
              Disguise.JSON_ESCAPES,
              Disguise.OTHER_DIGITS,
              Disguise.NO_BREAK_SPACES);
      default ->
          List.of(
              Disguise.NONE,
              Disguise.FULL_WIDTH,
              Disguise.ZERO_WIDTH,
              Disguise.JSON_ESCAPES,
              Disguise.DOUBLE_ESCAPES,
              Disguise.OTHER_DIGITS);
    };
  }

  /** Ways of writing the same number. */
  enum Disguise {
    NONE,
    COMPACT,
    DASHES,
    DOTS,
    NO_BREAK_SPACES,
    EVERY_CHARACTER_APART,
    FULL_WIDTH,
    ZERO_WIDTH,
    JSON_ESCAPES,
    DOUBLE_ESCAPES,
    OTHER_DIGITS,
    EN_DASHES,
    PERCENT;

    String apply(String plain) {
      return switch (this) {
        case NONE -> plain;
        case COMPACT -> plain.replace(" ", "");
        case DASHES -> plain.replace(' ', '-');
        case DOTS -> plain.replace(' ', '.');
        case NO_BREAK_SPACES -> plain.replace(' ', RANDOM.nextBoolean() ? '\u00A0' : '\u2009');
        case EN_DASHES -> plain.replace(' ', '\u2013');
        case EVERY_CHARACTER_APART ->
            String.join(RANDOM.nextBoolean() ? " " : "-", plain.replace(" ", "").split(""));
        case FULL_WIDTH -> map(plain, c -> c > ' ' ? "" + (char) (c + 0xFEE0) : "\u3000");
        case ZERO_WIDTH ->
            map(plain, c -> RANDOM.nextInt(3) == 0 ? c + "\u200B" : "" + c + hidden());
        case JSON_ESCAPES -> map(plain, c -> String.format(Locale.ROOT, "\\u%04x", (int) c));
        case DOUBLE_ESCAPES -> map(plain, c -> String.format(Locale.ROOT, "\\\\u%04X", (int) c));
        case OTHER_DIGITS -> {
          char zero = RANDOM.nextBoolean() ? '\u0660' : '\u0966';
          yield map(plain, c -> c >= '0' && c <= '9' ? "" + (char) (zero + c - '0') : "" + c);
        }
        case PERCENT -> map(plain, c -> c == ' ' ? "%20" : "" + c);
      };
    }

    private static String hidden() {
      return RANDOM.nextInt(4) == 0 ? "\u00AD\u2060" : "";
    }

    private static String map(String plain, Function<Character, String> each) {
      return plain.chars().mapToObj(c -> each.apply((char) c)).collect(Collectors.joining());
    }
  }

  private static String surroundings() {
    return List.of(
            "%s",
            "my number is %s, thanks",
            "Bitte prüfen: %s.",
            "(%s)",
            "{\\\"value\\\":\\\"%s\\\"}",
            "line\\n%s\\nline",
            "我的号码是%s谢谢",
            "id=%s;")
        .get(RANDOM.nextInt(8));
  }

  private static String body(String text) {
    return List.of(
            "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}]}",
            "{\"model\":\"m\",\"stream\":true,\"input\":[\"a\",\"%s\"]}",
            "{\"messages\":[{\"role\":\"tool\",\"content\":[{\"type\":\"text\",\"text\":\"%s\"}]}]}")
        .get(RANDOM.nextInt(3))
        .replace("%s", text);
  }

  // --- numbers

  private static String digits(RandomGenerator random, int count) {
    StringBuilder digits = new StringBuilder();
    for (int i = 0; i < count; i++) {
      digits.append(random.nextInt(10));
    }
    return digits.toString();
  }

  private static String card(RandomGenerator random) {
    String[] prefix =
        List.of(
                "4 16", "51 16", "55 16", "2221 16", "2720 16", "34 15", "37 15", "6011 16",
                "65 16", "36 14", "305 14", "3528 16", "62 16", "6200 19")
            .get(random.nextInt(14))
            .split(" ", -1);
    int length = Integer.parseInt(prefix[1]);
    String body = prefix[0] + digits(random, length - 1 - prefix[0].length());
    int sum = 0;
    for (int i = 0; i < body.length(); i++) {
      int digit = body.charAt(body.length() - 1 - i) - '0';
      digit = i % 2 == 0 ? digit * 2 : digit;
      sum += digit > 9 ? digit - 9 : digit;
    }
    String number = body + (10 - sum % 10) % 10;
    return switch (length) {
      case 14 -> number.replaceAll("(.{4})(.{6})(.{4})", "$1 $2 $3");
      case 15 -> number.replaceAll("(.{4})(.{6})(.{5})", "$1 $2 $3");
      default -> number.replaceAll("(.{4})(?=.)", "$1 ");
    };
  }

  private static String iban(RandomGenerator random) {
    String country =
        List.of("DE22", "GB22", "FR27", "NL18", "ES24", "MT31", "NO15", "PL28")
            .get(random.nextInt(8));
    int length = Integer.parseInt(country.substring(2));
    String code = country.substring(0, 2);
    String letters =
        switch (code) {
          case "GB" -> "NWBK";
          case "NL" -> "ABNA";
          case "MT" -> "MALT";
          default -> "";
        };
    String account = letters + digits(random, length - 4 - letters.length());
    java.math.BigInteger value =
        new java.math.BigInteger(
            (account + code + "00")
                .chars()
                .mapToObj(c -> Integer.toString(Character.digit(c, 36)))
                .collect(Collectors.joining()));
    int check = 98 - value.mod(java.math.BigInteger.valueOf(97)).intValue();
    String iban = code + String.format(Locale.ROOT, "%02d", check) + account;
    return iban.replaceAll("(.{4})(?=.)", "$1 ");
  }

  private static String ssn(RandomGenerator random) {
    int area = 1 + random.nextInt(898);
    area = area == 666 ? 667 : area;
    return String.format(
        Locale.ROOT, "%03d-%02d-%04d", area, 1 + random.nextInt(99), 1 + random.nextInt(9999));
  }

  private static String cpf(RandomGenerator random) {
    String nine = digits(random, 8) + (random.nextInt(9) + 1);
    String ten = nine + mod11(nine);
    String all = ten + mod11(ten);
    return all.replaceAll("(...)(...)(...)(..)", "$1.$2.$3-$4");
  }

  private static int mod11(String digits) {
    int sum = 0;
    for (int i = 0; i < digits.length(); i++) {
      sum += (digits.charAt(i) - '0') * (digits.length() + 1 - i);
    }
    int rest = sum * 10 % 11;
    return rest == 10 ? 0 : rest;
  }

  private static String aadhaar(RandomGenerator random) {
    String eleven = (2 + random.nextInt(8)) + digits(random, 10);
    for (int check = 0; check < 10; check++) {
      byte[] values = new byte[12];
      for (int i = 0; i < 12; i++) {
        values[i] = (byte) ((eleven + check).charAt(i) - '0');
      }
      if (Checksums.verhoeff(values, 0, 12)) {
        return (eleven + check).replaceAll("(.{4})(?=.)", "$1 ");
      }
    }
    throw new AssertionError("one of ten digits is right");
  }

  private static String nir(RandomGenerator random) {
    String thirteen =
        (1 + random.nextInt(2))
            + digits(random, 2)
            + String.format(Locale.ROOT, "%02d", 1 + random.nextInt(12))
            + digits(random, 8);
    long key = 97 - Long.parseLong(thirteen) % 97;
    return (thirteen + String.format(Locale.ROOT, "%02d", key))
        .replaceAll("(.)(..)(..)(..)(...)(...)(..)", "$1 $2 $3 $4 $5 $6 $7");
  }

  private static String codiceFiscale(RandomGenerator random) {
    String letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    StringBuilder code = new StringBuilder();
    for (char c : "LLLLLLDDLDDLDDD".toCharArray()) {
      code.append(
          c == 'L' ? letters.charAt(random.nextInt(26)) : (char) ('0' + random.nextInt(10)));
    }
    for (int i = 0; i < 26; i++) {
      String candidate = code.toString() + letters.charAt(i);
      if (Checksums.codiceFiscale(candidate.toCharArray())) {
        return candidate;
      }
    }
    throw new AssertionError("one of 26 letters is right");
  }

  private static String dni(RandomGenerator random) {
    String number = digits(random, 8);
    return number + Checksums.dniLetter(Integer.parseInt(number));
  }
}
