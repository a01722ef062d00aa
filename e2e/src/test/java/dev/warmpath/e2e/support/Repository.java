package dev.warmpath.e2e.support;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The working tree that the tests run in. */
public final class Repository {

  private Repository() {}

  /** The top folder: the nearest one above that holds {@code bin/test}. */
  public static Path root() {
    Path folder = Path.of("").toAbsolutePath();
    while (!Files.exists(folder.resolve("bin/test"))) {
      folder = folder.getParent();
      if (folder == null) {
        throw new IllegalStateException(
            "not inside the repository: " + Path.of("").toAbsolutePath());
      }
    }
    return folder;
  }

  /** Tracked files that exist, relative to {@link #root}. */
  public static List<Path> trackedFiles() throws IOException, InterruptedException {
    Process git =
        new ProcessBuilder("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
            .directory(root().toFile())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    String names = new String(git.getInputStream().readAllBytes(), UTF_8);
    if (git.waitFor() != 0) {
      throw new IllegalStateException(
          "git cannot list the files of "
              + root()
              + "; the tests need git and a clone (apt-get install git)");
    }
    return List.of(names.split("\0", -1)).stream()
        .filter(name -> !name.isEmpty())
        .map(Path::of)
        .filter(file -> Files.isRegularFile(root().resolve(file)))
        .toList();
  }
}
