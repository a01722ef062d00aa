package dev.warmpath.xds.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.warmpath.xds.support.Yaml;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DirectorySourceTest {
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  @TempDir Path folder;
  private final List<SourceSnapshot> snapshots = new CopyOnWriteArrayList<>();

  @Test
  void theFirstSnapshotHoldsEverything() throws IOException {
    Files.createDirectories(folder.resolve("secrets/s"));
    Files.writeString(folder.resolve("secrets/s/key"), " value\n");
    for (int i = 0; i < 20; i++) {
      Files.writeString(folder.resolve(i + ".yaml"), Yaml.served("p" + i, "127.0.0.1:1"));
    }
    try (DirectorySource source = started()) {
      await().atMost(PATIENCE).until(() -> !snapshots.isEmpty());
      SourceSnapshot first = snapshots.getFirst();
      assertThat(first.resources().pools()).hasSize(20);
      assertThat(first.secrets().value("any", "s", "key")).isEqualTo("value");
      assertThat(first.secrets().toString()).doesNotContain("value");
      assertThat(source).isNotNull();
    }
  }

  @Test
  void aFileThatIsWrittenInPiecesIsTakenWhole() throws Exception {
    String text = Yaml.served("big", "127.0.0.1:1");
    try (DirectorySource source = started()) {
      await().atMost(PATIENCE).until(() -> !snapshots.isEmpty());
      try (OutputStream out = Files.newOutputStream(folder.resolve("big.yaml"))) {
        for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
          out.write(b);
          out.flush();
        }
      }
      await().atMost(PATIENCE).until(() -> !last().resources().pools().isEmpty());
      assertThat(snapshots).allSatisfy(s -> assertThat(s.problems()).isEmpty());
      assertThat(source).isNotNull();
    }
  }

  @Test
  void changesDeletionsAndSecretsAreSeen() throws Exception {
    try (DirectorySource source = started()) {
      await().atMost(PATIENCE).until(() -> !snapshots.isEmpty());
      Files.writeString(folder.resolve("a.yaml"), Yaml.served("a", "127.0.0.1:1"));
      await().atMost(PATIENCE).until(() -> last().resources().pools().size() == 1);
      Files.createDirectories(folder.resolve("secrets/s"));
      Files.writeString(folder.resolve("secrets/s/key"), "1");
      await().atMost(PATIENCE).until(() -> "1".equals(last().secrets().value("", "s", "key")));
      Files.writeString(folder.resolve("secrets/s/key"), "2");
      await().atMost(PATIENCE).until(() -> "2".equals(last().secrets().value("", "s", "key")));
      Files.delete(folder.resolve("a.yaml"));
      await().atMost(PATIENCE).until(() -> last().resources().isEmpty());
      assertThat(source).isNotNull();
    }
  }

  private DirectorySource started() {
    DirectorySource source = new DirectorySource(folder);
    source.start(snapshots::add);
    return source;
  }

  private SourceSnapshot last() {
    return snapshots.getLast();
  }
}
