package dev.warmpath.cli;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Where running gateways of one user keep the addresses of their admin pages. */
final class Instances {
  private final Path folder;

  Instances(Path folder) {
    this.folder = folder;
  }

  /** Those of this user on this machine. */
  static Instances ofUser() {
    return new Instances(
        Path.of(System.getProperty("java.io.tmpdir"))
            .resolve("warmpath-instances-" + System.getProperty("user.name")));
  }

  /** Announces the pages of this process; the result takes it back. */
  AutoCloseable announce(URI adminPages) {
    Path file = folder.resolve(Long.toString(ProcessHandle.current().pid()));
    try {
      Files.createDirectories(folder);
      Files.writeString(file, adminPages.toString());
    } catch (IOException e) {
      // Only a convenience: explain --admin works without it.
    }
    return () -> Files.deleteIfExists(file);
  }

  /**
   * The pages of the gateways whose processes live, the one that was started last first. A process
   * may live and its pages not answer: a number is given again, and a gateway may be ending.
   */
  List<URI> running() {
    List<URI> pages = new ArrayList<>();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.sorted(Comparator.comparingLong(Instances::age)).toList()) {
        URI one = read(file);
        if (one != null) {
          pages.add(one);
        }
      }
    } catch (IOException e) {
      // No folder: nothing has been announced.
    }
    return pages;
  }

  /** Null where the process is gone, whose file goes too, or the file says nothing. */
  private static @Nullable URI read(Path file) {
    try {
      long pid = Long.parseLong(file.getFileName().toString());
      if (ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false)) {
        URI pages = URI.create(Files.readString(file).strip());
        return pages.getHost() == null ? null : pages;
      }
      Files.deleteIfExists(file);
    } catch (IOException | IllegalArgumentException e) {
      // One file that says nothing hides no other.
    }
    return null;
  }

  private static long age(Path file) {
    try {
      return -Files.getLastModifiedTime(file).toMillis();
    } catch (IOException e) {
      return 0;
    }
  }
}
