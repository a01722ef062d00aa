package dev.warmpath.xds.source;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FolderReaderTest {
  @TempDir Path folder;
  private long now;
  private FolderReader reader = new FolderReader(Path.of("unset"), () -> now);

  @BeforeEach
  void read() {
    reader = new FolderReader(folder, () -> now);
  }

  @Test
  void aFileCountsOnceItHasSettled() throws IOException {
    write("a.yaml", "one");

    FolderReader.Scan first = reader.scan();
    assertThat(first.files()).isEmpty();
    assertThat(first.unsettled()).isTrue();
    later(FolderReader.SETTLE);

    FolderReader.Scan second = reader.scan();
    assertThat(second.files()).containsEntry("a.yaml", "one");
    assertThat(second.unsettled()).isFalse();
  }

  @Test
  void aFileThatIsBeingWrittenKeepsItsEarlierContent() throws IOException {
    write("a.yaml", "one");
    settle();

    for (int i = 1; i < 20; i++) {
      write("a.yaml", "half of two ".repeat(i));
      assertThat(reader.scan().files()).containsEntry("a.yaml", "one");
      later(FolderReader.SETTLE.minusMillis(1));
    }
    write("a.yaml", "two");
    assertThat(settle().files()).containsEntry("a.yaml", "two");
  }

  @Test
  void aTruncatedFileKeepsItsEarlierContentAndSaysSo() throws IOException {
    write("a.yaml", "one");
    settle();

    write("a.yaml", "");

    FolderReader.Scan scan = settle();
    assertThat(scan.files()).containsEntry("a.yaml", "one");
    assertThat(scan.faults().get("a.yaml")).contains("empty");
    write("a.yaml", "two");
    assertThat(settle().faults()).isEmpty();
  }

  @Test
  void aFileThatIsRenamedAwayAndWrittenAnewIsNeverGone() throws IOException {
    write("a.yaml", "one");
    settle();

    Files.move(folder.resolve("a.yaml"), folder.resolve("a.yaml~"));
    assertThat(reader.scan().files()).containsKey("a.yaml");
    later(FolderReader.ABSENT.minusMillis(1));
    assertThat(reader.scan().files()).containsEntry("a.yaml", "one");
    write("a.yaml", "two");

    assertThat(reader.scan().files()).containsEntry("a.yaml", "one");
    assertThat(settle().files()).containsOnlyKeys("a.yaml").containsEntry("a.yaml", "two");
  }

  @Test
  void aDeletedFileIsGoneAfterAMoment() throws IOException {
    write("a.yaml", "one");
    write("b.yaml", "two");
    settle();

    Files.delete(folder.resolve("a.yaml"));

    assertThat(reader.scan().unsettled()).isTrue();
    later(FolderReader.ABSENT);
    assertThat(reader.scan().files()).containsOnlyKeys("b.yaml");
  }

  @Test
  void filesThatEditorsLeaveAreNotConfiguration() throws IOException {
    for (String name :
        new String[] {
          ".a.yaml.swp", "a.yaml~", "#a.yaml#", ".#a.yaml", "4913", "a.yaml.tmp", "notes.txt"
        }) {
      write(name, "x");
    }
    write("b.yml", "y");
    write("c.json", "{}");

    assertThat(settle().files()).containsOnlyKeys("b.yml", "c.json");
  }

  @Test
  void aConfigMapMountThatSwapsItsLinkIsFollowed() throws IOException {
    Files.createDirectory(folder.resolve("..1"));
    Files.writeString(folder.resolve("..1/a.yaml"), "one");
    Files.createSymbolicLink(folder.resolve("..data"), Path.of("..1"));
    Files.createSymbolicLink(folder.resolve("a.yaml"), Path.of("..data/a.yaml"));
    assertThat(settle().files()).containsOnlyKeys("a.yaml").containsEntry("a.yaml", "one");

    Files.createDirectory(folder.resolve("..2"));
    Files.writeString(folder.resolve("..2/a.yaml"), "two");
    Files.createSymbolicLink(folder.resolve("..new"), Path.of("..2"));
    Files.move(folder.resolve("..new"), folder.resolve("..data"), StandardCopyOption.ATOMIC_MOVE);

    assertThat(settle().files()).containsEntry("a.yaml", "two");
  }

  @Test
  void secretsAreReadByNameAndKey() throws IOException {
    Files.createDirectories(folder.resolve("secrets/openai"));
    write("secrets/openai/key", "sk-1\n");
    write("secrets/openai/.hidden", "no");

    assertThat(settle().secrets()).containsOnlyKeys("openai/key");
    assertThat(reader.watched())
        .containsExactlyInAnyOrder(
            folder, folder.resolve("secrets"), folder.resolve("secrets/openai"));
  }

  @Test
  void aFolderThatVanishesKeepsWhatItHad() throws IOException {
    Path gone = folder.resolve("sub");
    Files.createDirectory(gone);
    reader = new FolderReader(gone, () -> now);
    Files.writeString(gone.resolve("a.yaml"), "one");
    settle();

    Files.delete(gone.resolve("a.yaml"));
    Files.delete(gone);

    FolderReader.Scan scan = settle();
    assertThat(scan.files()).containsEntry("a.yaml", "one");
    assertThat(scan.faults()).containsKey(".");
  }

  @Test
  void bytesThatAreNoTextAreAFault() throws IOException {
    Files.write(folder.resolve("a.yaml"), new byte[] {(byte) 0xc3, (byte) 0x28});

    FolderReader.Scan scan = settle();
    assertThat(scan.files()).isEmpty();
    assertThat(scan.faults().get("a.yaml")).contains("UTF-8");
  }

  private void write(String name, String text) throws IOException {
    Files.writeString(folder.resolve(name), text);
  }

  private void later(Duration time) {
    now += time.toNanos();
  }

  private FolderReader.Scan settle() {
    reader.scan();
    later(FolderReader.ABSENT);
    return reader.scan();
  }
}
