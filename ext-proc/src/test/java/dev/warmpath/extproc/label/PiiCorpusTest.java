package dev.warmpath.extproc.label;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.json.JsonMapper;

/**
 * Innocent text: code, identifiers, hashes, timestamps, order numbers. Nothing may be found in it.
 */
class PiiCorpusTest {
  private static final JsonMapper JSON = JsonMapper.shared();

  static Stream<Path> innocentFiles() throws IOException, URISyntaxException {
    URI folder =
        java.util.Objects.requireNonNull(PiiCorpusTest.class.getResource("/label/innocent"))
            .toURI();
    try (Stream<Path> files = Files.list(Path.of(folder))) {
      return files.sorted().toList().stream();
    }
  }

  @ParameterizedTest
  @MethodSource("innocentFiles")
  void nothingIsFoundInAWholeFile(Path file) throws IOException {
    Classifier.Verdict verdict = classify(Files.readString(file));

    assertThat(verdict.kinds()).isEmpty();
    assertThat(verdict.value()).isEqualTo(PiiClassifier.ABSENT);
  }

  /** Line by line as well: at the start and end of a text, words look different. */
  @ParameterizedTest
  @MethodSource("innocentFiles")
  void nothingIsFoundInASingleLine(Path file) throws IOException {
    List<String> found =
        Files.readAllLines(file).stream()
            .filter(line -> !classify(line).kinds().isEmpty())
            .map(line -> classify(line).kinds() + " in: " + line)
            .toList();

    assertThat(found).isEmpty();
  }

  private static Classifier.Verdict classify(String text) {
    String body =
        "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":"
            + JSON.writeValueAsString(text)
            + "}]}";
    return new PiiClassifier().classify(new RequestText(body.getBytes(StandardCharsets.UTF_8)));
  }
}
