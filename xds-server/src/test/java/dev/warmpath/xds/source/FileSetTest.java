package dev.warmpath.xds.source;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.crds.resource.Problem;
import dev.warmpath.crds.resource.ResourceParser;
import dev.warmpath.xds.support.Yaml;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class FileSetTest {
  private final FileSet files = new FileSet(new ResourceParser());

  @Test
  void aBrokenFileKeepsItsLastGoodContentAndNamesFileLineAndField() {
    update("a.yaml", Yaml.served("qwen", "127.0.0.1:1"));

    FileSet.Contents contents =
        update("a.yaml", Yaml.served("qwen", "127.0.0.1:2").replace("model:", "modle:"));

    assertThat(contents.resources().pools()).hasSize(1);
    assertThat(contents.resources().workerSets().getFirst().spec().workers().addresses())
        .singleElement()
        .satisfies(address -> assertThat(address.port()).isEqualTo(1));
    assertThat(contents.rejected()).isEmpty();
    assertThat(contents.problems())
        .anySatisfy(problem -> {
          assertThat(problem.file()).isEqualTo("a.yaml");
          assertThat(problem.line()).isEqualTo(13);
          assertThat(problem.field()).isEqualTo("spec.modle");
        });
  }

  @Test
  void aFileThatNeverWasGoodCountsWithItsGoodDocuments() {
    FileSet.Contents contents =
        update("a.yaml", Yaml.served("qwen", "127.0.0.1:1").replace("models:", "modls:"));

    assertThat(contents.resources().pools()).hasSize(1);
    assertThat(contents.resources().backends()).isEmpty();
    assertThat(contents.rejected()).hasSize(1);
  }

  @Test
  void aResourceInTwoFilesBelongsToTheOneThatHadItFirst() {
    files.update(new TreeMap<>(Map.of("b.yaml", Yaml.workerSet("w", List.of("127.0.0.1:1")))));

    FileSet.Contents contents =
        files.update(
            new TreeMap<>(
                Map.of(
                    "a.yaml", Yaml.workerSet("w", List.of("127.0.0.1:2")),
                    "b.yaml", Yaml.workerSet("w", List.of("127.0.0.1:1")))));

    assertThat(contents.resources().workerSets().getFirst().source().file()).isEqualTo("b.yaml");
    assertThat(contents.problems())
        .extracting(Problem::file, Problem::reason)
        .containsExactly(org.assertj.core.groups.Tuple.tuple("a.yaml", "DuplicateResource"));

    contents = update("a.yaml", Yaml.workerSet("w", List.of("127.0.0.1:2")));
    assertThat(contents.resources().workerSets().getFirst().source().file()).isEqualTo("a.yaml");
    assertThat(contents.problems()).isEmpty();
  }

  @Test
  void theGenerationCountsChangesOfTheSpec() {
    update("a.yaml", Yaml.workerSet("w", List.of("127.0.0.1:1")));
    update("a.yaml", "# a comment\n" + Yaml.workerSet("w", List.of("127.0.0.1:1")));
    FileSet.Contents contents = update("a.yaml", Yaml.workerSet("w", List.of("127.0.0.1:2")));

    assertThat(contents.resources().workerSets().getFirst().generation()).isEqualTo(2);
  }

  private FileSet.Contents update(String file, String text) {
    return files.update(new TreeMap<>(Map.of(file, text)));
  }
}
