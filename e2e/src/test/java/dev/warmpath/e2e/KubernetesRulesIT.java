package dev.warmpath.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.e2e.support.KubeNamespace;
import dev.warmpath.e2e.support.Repository;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The CEL rules of the definitions, judged by the API server itself. */
class KubernetesRulesIT {

  private static final Path CASES = Repository.root().resolve("crds/src/test/resources/cel");

  private static final String EXPECTED = "# expected: ";

  private static KubeNamespace namespace;

  @BeforeAll
  static void start() throws IOException, InterruptedException {
    namespace = KubeNamespace.create();
  }

  static List<String> rules() throws IOException {
    try (Stream<Path> folders = Files.list(CASES)) {
      return folders.map(folder -> folder.getFileName().toString()).sorted().toList();
    }
  }

  @ParameterizedTest
  @MethodSource("rules")
  void the_good_file_is_accepted(String rule) throws IOException {
    HasMetadata object = object(rule, "valid.yaml");

    assertThatCode(() -> dryRun(object)).doesNotThrowAnyException();
  }

  @ParameterizedTest
  @MethodSource("rules")
  void the_bad_file_is_refused_with_the_expected_text(String rule) throws IOException {
    HasMetadata object = object(rule, "invalid.yaml");
    String expected =
        Files.readAllLines(CASES.resolve(rule).resolve("invalid.yaml"))
            .getFirst()
            .substring(EXPECTED.length());
    int colon = expected.indexOf(": ");

    assertThatThrownBy(() -> dryRun(object))
        .isInstanceOfSatisfying(
            KubernetesClientException.class,
            refused -> {
              assertThat(refused.getCode()).isEqualTo(422);
              assertThat(refused.getStatus().getDetails().getCauses())
                  .anySatisfy(cause -> {
                    assertThat(expected.substring(0, colon)).startsWith(cause.getField());
                    assertThat(cause.getMessage()).endsWith(expected.substring(colon + 2));
                  });
            });
  }

  private static void dryRun(HasMetadata object) {
    var _ = namespace.client().resource(object).inNamespace(namespace.name()).dryRun().create();
  }

  private static HasMetadata object(String rule, String file) throws IOException {
    return namespace.read(Files.readString(CASES.resolve(rule).resolve(file))).getFirst();
  }
}
