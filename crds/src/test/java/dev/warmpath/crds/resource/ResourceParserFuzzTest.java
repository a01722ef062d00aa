package dev.warmpath.crds.resource;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Whatever the text, reading gives resources and problems: no exception, no hang, no unbounded
 * work. The seed of a failure is in its message; {@code -Dfuzz.rounds=100000} runs longer.
 */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class ResourceParserFuzzTest {
  private static final String HEAD =
      "apiVersion: inference.warmpath.dev/v1alpha1\nkind: InferencePool\nmetadata: {name: p}\n";

  private static final List<String> TOKENS =
      List.of(
          "&a ",
          "*a",
          "*b",
          "<<: *a\n",
          "---\n",
          "...\n",
          "- ",
          "? ",
          ": ",
          "{",
          "}",
          "[",
          "]",
          "!!int ",
          "!x ",
          "%YAML 1.1\n",
          "\t",
          "\u0000",
          "\uD800",
          "\uFEFF",
          "\u2028",
          "|\n",
          ">-\n",
          "\"",
          "'",
          "#",
          "null",
          "~",
          "true",
          "1e999999999",
          "99999999999999999999",
          "-0",
          ".nan",
          "0x1F",
          "010",
          "1_000",
          "2026-01-01",
          "\\x",
          "\r",
          "\n\n",
          "spec:\n",
          "  ",
          "@",
          "`",
          ",",
          "'''",
          "é",
          "\uD83D\uDE00");

  private final ResourceParser parser = new ResourceParser();
  private final ResourceValidator validator = new ResourceValidator();

  @Test
  void mutatedExamplesAreReadOrRefused() throws IOException {
    List<String> texts = examples();
    int rounds = Integer.getInteger("fuzz.rounds", 1000);
    for (int seed = 0; seed < rounds; seed++) {
      Random random = new Random(seed);
      StringBuilder text = new StringBuilder(texts.get(random.nextInt(texts.size())));
      for (int i = 1 + random.nextInt(6); i > 0; i--) {
        mutate(text, random);
      }
      check("seed " + seed, text.toString());
    }
  }

  @Test
  void randomTokensAreReadOrRefused() {
    for (int seed = 0; seed < 2000; seed++) {
      Random random = new Random(seed);
      StringBuilder text = new StringBuilder(random.nextBoolean() ? HEAD : "");
      for (int i = random.nextInt(60); i > 0; i--) {
        text.append(TOKENS.get(random.nextInt(TOKENS.size())));
      }
      check("seed " + seed, text.toString());
    }
  }

  @Test
  void deepNestingIsBounded() {
    assertThat(reasons("[".repeat(200_000))).containsExactly("TooLarge");
    assertThat(reasons("{a: ".repeat(200_000))).containsExactly("TooLarge");
    assertThat(reasons(HEAD + "spec: " + "[".repeat(5_000) + "]".repeat(5_000)))
        .containsExactly("TooLarge");
    StringBuilder stairs = new StringBuilder();
    for (int i = 0; i < 1_000; i++) {
      stairs.append(" ".repeat(i)).append("a:\n");
    }
    assertThat(reasons(stairs.toString())).containsExactly("TooLarge");
  }

  @Test
  void aliasesCannotMultiplyWork() {
    StringBuilder bomb = new StringBuilder("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for (int i = 1; i < 12; i++) {
      bomb.append("a%d: &a%d [%s]\n".formatted(i, i, "*a%d,".formatted(i - 1).repeat(10)));
    }
    check("bomb", HEAD + bomb + "spec: {model: *a11, workerSets: *a11}\n");

    String tiers = "&t {backends: {names: &n [" + "b,".repeat(60) + "]}}";
    String wide =
        "apiVersion: inference.warmpath.dev/v1alpha1\nkind: InferencePolicy\nmetadata: {name: p}\n"
            + "spec: {route: {tiers: ["
            + tiers
            + ", *t".repeat(15)
            + "]}}\n";
    assertThat(reasons(wide)).isEmpty();
    // The schema bounds every list, so a document stays far below the bound on values in all.
    assertThat(reasons(wide.replace(", *t]", ", *t" + ", *t".repeat(200_000) + "]")))
        .containsExactly("OutOfRange");
    assertThat(reasons("a: &a [*a]")).containsExactly("InvalidYaml");
    assertThat(reasons("a: *nowhere")).containsExactly("InvalidYaml");
  }

  @Test
  void sizeIsBounded() {
    assertThat(reasons(HEAD + "spec: {model: " + "m".repeat(2_000_000) + "}"))
        .containsExactly("TooLarge");
    assertThat(
            reasons(HEAD + "spec: {model: " + "m".repeat(1_000_000) + ", workerSets: [{name: w}]}"))
        .containsExactly("OutOfRange");
    assertThat(reasons("---\n".repeat(100_000))).isEmpty();
    StringBuilder unknown = new StringBuilder(HEAD + "spec:\n");
    for (int i = 0; i < 100_000; i++) {
      unknown.append("  modl").append(i).append(": 1\n");
    }
    assertThat(reasons(unknown.toString())).hasSizeLessThanOrEqualTo(SpecBinder.MAX_PROBLEMS);
    StringBuilder repeated = new StringBuilder(HEAD + "spec:\n");
    for (int i = 0; i < 100_000; i++) {
      repeated.append("  model: x\n");
    }
    assertThat(reasons(repeated.toString())).hasSizeLessThanOrEqualTo(SpecBinder.MAX_PROBLEMS);
  }

  @Test
  void numbersCannotMultiplyWork() {
    for (String number :
        List.of(
            "1e999999999",
            "-1e999999999",
            "1e-999999999",
            "9".repeat(100_000),
            ".inf",
            "0x7fffffffffffffff")) {
      check(
          number.substring(0, Math.min(20, number.length())),
          HEAD.replace("InferencePool", "GatewayBackend")
              + "spec: {models: [m], pool: {name: p}, pricing: {inputPerMillion: "
              + number
              + ", outputPerMillion: 1}}");
      assertThat(
              reasons(
                  HEAD
                      + "spec: {model: m, workerSets: [{name: w}], limits:"
                      + " {maxQueuedPromptsPerWorker: "
                      + number
                      + "}}"))
          .as(number)
          .isNotEmpty();
    }
  }

  private List<String> reasons(String text) {
    return parser.parse("f.yaml", text).problems().stream().map(Problem::reason).toList();
  }

  private void check(String what, String text) {
    ParsedResources parsed;
    try {
      parsed = parser.parse("f.yaml", text);
      validator.validate(parsed);
    } catch (RuntimeException | StackOverflowError e) {
      throw new AssertionError(what + ": " + text, e);
    }
    int lines = (int) text.chars().filter(c -> c == '\n' || c == '\r').count() + 1;
    for (Problem problem : parsed.problems()) {
      assertThat(problem.message()).as(what).isNotBlank();
      assertThat(problem.line()).as("%s: %s", what, problem).isBetween(1, lines + 1);
      assertThat(problem.toString().chars()).as(what).noneMatch(Character::isISOControl);
    }
  }

  private static void mutate(StringBuilder text, Random random) {
    int at = random.nextInt(text.length() + 1);
    int end = Math.min(text.length(), at + random.nextInt(30));
    switch (random.nextInt(7)) {
      case 0 -> text.delete(at, end);
      case 1 -> text.insert(at, TOKENS.get(random.nextInt(TOKENS.size())));
      case 2 -> text.replace(at, end, TOKENS.get(random.nextInt(TOKENS.size())));
      case 3 -> text.insert(at, text.substring(at, end));
      case 4 -> text.insert(at, (char) random.nextInt(0x300));
      case 5 -> text.setLength(at);
      default -> {
        // Another value in the place of one.
        int colon = text.indexOf(": ", at);
        int newline = colon < 0 ? -1 : text.indexOf("\n", colon);
        if (newline > 0) {
          text.replace(colon + 2, newline, TOKENS.get(random.nextInt(TOKENS.size())));
        }
      }
    }
  }

  private static List<String> examples() throws IOException {
    List<String> texts = new ArrayList<>();
    try (Stream<Path> files = Files.walk(Path.of("examples"))) {
      for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
        texts.add(Files.readString(file));
      }
    }
    return texts;
  }
}
