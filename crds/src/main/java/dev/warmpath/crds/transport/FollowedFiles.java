package dev.warmpath.crds.transport;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A value made of the contents of files, made anew when one of them was replaced. The files are
 * looked at when the value is asked for, which is at each handshake or stream: no thread, no delay.
 *
 * <p>Content that is of no use (half of a rotation: the new certificate beside the old key) leaves
 * the last good value in force and is logged once. Thread-safe.
 */
final class FollowedFiles<T> {
  private static final Logger log = LoggerFactory.getLogger(FollowedFiles.class);

  /** Makes the value of the files' contents, in the order of the files. */
  interface Reader<T> {
    T read(List<String> contents) throws GeneralSecurityException;
  }

  private final List<Path> files;
  private final Reader<T> reader;
  private List<Stamp> stamps;
  private T value;

  /** Logged last. */
  private String problem = "";

  /** What tells a replaced file from the old one; the key changes where a link was redirected. */
  private record Stamp(long modifiedMillis, long bytes, String fileKey) {}

  /**
   * Reads the files for the first time.
   *
   * @throws IOException if one cannot be read or is of no use; the message names it
   */
  FollowedFiles(List<Path> files, Reader<T> reader) throws IOException {
    this.files = List.copyOf(files);
    this.reader = reader;
    stamps = stamps();
    value = read();
  }

  synchronized T get() {
    try {
      List<Stamp> now = stamps();
      if (!now.equals(stamps)) {
        // Also after a failure: the next try is due when a file changes again.
        stamps = now;
        value = read();
        log.info("took the new content of {}", files);
      }
      problem = "";
    } catch (IOException e) {
      if (!problem.equals(e.getMessage())) {
        problem = String.valueOf(e.getMessage());
        log.warn("going on with the content read before: {}", problem);
      }
    }
    return value;
  }

  private T read() throws IOException {
    List<String> contents = new ArrayList<>();
    for (Path file : files) {
      try {
        contents.add(Files.readString(file));
      } catch (IOException e) {
        throw unreadable(file, e);
      }
    }
    try {
      return reader.read(contents);
    } catch (GeneralSecurityException | RuntimeException e) {
      String names = String.join(" and ", files.stream().map(Path::toString).toList());
      throw new IOException(names + ": " + e.getMessage(), e);
    }
  }

  private List<Stamp> stamps() throws IOException {
    List<Stamp> found = new ArrayList<>();
    for (Path file : files) {
      BasicFileAttributes attributes;
      try {
        attributes = Files.readAttributes(file, BasicFileAttributes.class);
      } catch (IOException e) {
        throw unreadable(file, e);
      }
      found.add(
          new Stamp(
              attributes.lastModifiedTime().toMillis(),
              attributes.size(),
              String.valueOf(attributes.fileKey())));
    }
    return found;
  }

  /** The system's exceptions name the file, and the reason only by their class. */
  private static IOException unreadable(Path file, IOException e) {
    String reason =
        switch (e) {
          case NoSuchFileException _ -> "there is no such file";
          case AccessDeniedException _ -> "it may not be read";
          default -> e.toString();
        };
    return new IOException(file + ": " + reason, e);
  }
}
