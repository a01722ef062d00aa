package dev.warmpath.crds.v1alpha1;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The committed CRDs are what the records say. After a change of a record:
 *
 * <pre>bin/mvn -q -pl crds -Dtest=GeneratedCrdsTest -Dcrds.update=true test</pre>
 */
class GeneratedCrdsTest {
  private static final Path COMMITTED = Path.of("generated");
  private static final Path CHART = Path.of("..", "helm", "warmpath-crds", "templates");

  private static SortedMap<String, String> generated = new TreeMap<>();

  @BeforeAll
  static void generate(@TempDir Path scratch) throws IOException {
    generated = CrdYaml.generate(scratch);
    if (Boolean.getBoolean("crds.update")) {
      for (Path folder : List.of(COMMITTED, CHART)) {
        Files.createDirectories(folder);
        for (Map.Entry<String, String> file : generated.entrySet()) {
          Files.writeString(folder.resolve(file.getKey()), file.getValue());
        }
      }
    }
  }

  @Test
  void theCommittedFilesAreWhatTheRecordsGive() throws IOException {
    assertThat(contents(COMMITTED)).isEqualTo(generated);
  }

  @Test
  void theChartInstallsTheSameFiles() throws IOException {
    assertThat(contents(CHART)).isEqualTo(generated);
  }

  private static SortedMap<String, String> contents(Path folder) throws IOException {
    SortedMap<String, String> contents = new TreeMap<>();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.toList()) {
        contents.put(String.valueOf(file.getFileName()), Files.readString(file));
      }
    }
    return contents;
  }

  @Test
  void thereIsOneFileForEachKind() {
    assertThat(generated.keySet())
        .containsExactly(
            "gatewaybackends.inference.warmpath.dev.yaml",
            "inferencepolicies.inference.warmpath.dev.yaml",
            "inferencepools.inference.warmpath.dev.yaml",
            "inferenceproviders.inference.warmpath.dev.yaml",
            "inferencetenants.inference.warmpath.dev.yaml",
            "inferenceworkersets.inference.warmpath.dev.yaml");
  }
}
