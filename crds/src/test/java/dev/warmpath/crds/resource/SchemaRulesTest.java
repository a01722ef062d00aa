package dev.warmpath.crds.resource;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.generator.annotation.ValidationRule;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every CEL rule of the schema has one good and one bad file, and the text that the bad one gets.
 */
class SchemaRulesTest {
  private static final Path CASES = Path.of("src/test/resources/cel");
  private static final String EXPECTED = "# expected: ";

  private final ResourceParser parser = new ResourceParser();

  static List<String> cases() throws IOException {
    try (Stream<Path> folders = Files.list(CASES)) {
      return folders.map(folder -> folder.getFileName().toString()).sorted().toList();
    }
  }

  @ParameterizedTest
  @MethodSource("cases")
  void theGoodFileHasNoProblem(String name) throws IOException {
    assertThat(parse(name, "valid.yaml").problems()).isEmpty();
    assertThat(parse(name, "valid.yaml").resources().size()).isOne();
  }

  @ParameterizedTest
  @MethodSource("cases")
  void theBadFileGetsItsTextAndNoOther(String name) throws IOException {
    List<Problem> problems = parse(name, "invalid.yaml").problems();

    assertThat(problems)
        .extracting(problem -> problem.field() + ": " + problem.message())
        .containsExactly(expected(name));
    assertThat(problems)
        .allMatch(problem -> problem.reason().equals(Reason.RuleViolated.name()))
        .allMatch(problem -> problem.line() > 1);
  }

  @Test
  void everyRuleHasACase() throws IOException {
    Set<String> messages = new TreeSet<>();
    for (Kind kind : Kind.values()) {
      collectMessages(kind.specType(), messages);
    }
    for (String name : cases()) {
      String expected = expected(name);
      messages.removeIf(expected::endsWith);
    }
    assertThat(messages).as("rules without a folder in %s", CASES).isEmpty();
  }

  private static void collectMessages(Class<? extends Record> type, Set<String> messages) {
    RecordSchema schema = RecordSchema.of(type);
    schema.rules().stream().map(ValidationRule::message).forEach(messages::add);
    schema.fields().values().forEach(field -> collectMessages(field.shape(), messages));
  }

  private static void collectMessages(RecordSchema.Shape shape, Set<String> messages) {
    switch (shape) {
      case RecordSchema.Shape.Nested nested -> collectMessages(nested.type(), messages);
      case RecordSchema.Shape.ListOf list -> collectMessages(list.item(), messages);
      default -> {}
    }
  }

  private ParsedResources parse(String name, String file) throws IOException {
    return parser.parse(file, Files.readString(CASES.resolve(name).resolve(file)));
  }

  private static String expected(String name) throws IOException {
    String first = Files.readAllLines(CASES.resolve(name).resolve("invalid.yaml")).getFirst();
    assertThat(first).startsWith(EXPECTED);
    return first.substring(EXPECTED.length());
  }
}
