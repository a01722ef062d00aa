package dev.warmpath.cli;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Where running gateways of this user keep the address of their admin pages. */
final class Instances {
  private Instances() {}

  private static Path folder() {
    return Path.of(System.getProperty("java.io.tmpdir"))
        .resolve("warmpath-instances-" + System.getProperty("user.name"));
  }

  /** Announces the pages of this process; the result takes it back. */
  static AutoCloseable announce(URI adminPages) {
    Path file = folder().resolve(Long.toString(ProcessHandle.current().pid()));
    try {
      Files.createDirectories(folder());
      Files.writeString(file, adminPages.toString());
    } catch (IOException e) {
      // Only a convenience: explain --admin works without it.
    }
    return () -> Files.deleteIfExists(file);
  }

  /** The pages of the gateway that was started last and still runs, or null. */
  static @Nullable URI latest() {
    try (Stream<Path> files = Files.list(folder())) {
      for (Path file : files.sorted(Comparator.comparingLong(Instances::age)).toList()) {
        long pid = Long.parseLong(file.getFileName().toString());
        if (ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false)) {
          return URI.create(Files.readString(file).strip());
        }
        Files.deleteIfExists(file);
      }
    } catch (IOException | RuntimeException e) {
      return null;
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
