package dev.warmpath.cli.input;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Reads files that a user names. What can't be read is exit code 2, with the file's name. */
public final class InputFiles {
  private static final int UNREADABLE = 2;

  private InputFiles() {}

  public static byte[] bytes(Path file) {
    try {
      return Files.readAllBytes(file);
    } catch (NoSuchFileException e) {
      throw unreadable(
          Files.isSymbolicLink(file)
              ? file + ": a link to a file that is not there"
              : "no such file: " + file);
    } catch (AccessDeniedException e) {
      throw unreadable(file + ": may not be read");
    } catch (IOException e) {
      throw unreadable(file + ": can't be read: " + e.getMessage());
    }
  }

  public static String text(Path file) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes(file))).toString();
    } catch (CharacterCodingException e) {
      throw unreadable(file + ": not UTF-8 text");
    }
  }

  /**
   * The files of one configuration, as far as they can be read.
   *
   * @param texts by file
   * @param faults why not, by file or folder: each a sentence that names it
   */
  public record Configuration(SortedMap<String, String> texts, SortedMap<String, String> faults) {}

  /**
   * The texts of one configuration by file; a folder stands for the files directly in it. What
   * can't be read hides nothing that can.
   */
  public static Configuration readable(List<Path> sources) {
    Configuration read = new Configuration(new TreeMap<>(), new TreeMap<>());
    for (Path source : sources) {
      try {
        if (Files.isDirectory(source)) {
          configurationFiles(source).forEach(file -> read(file, read));
        } else if (Files.exists(source)) {
          read(source, read);
        } else {
          throw unreadable("no such file or folder: " + source);
        }
      } catch (CommandException e) {
        read.faults().put(source.toString(), String.valueOf(e.getMessage()));
      }
    }
    if (read.texts().isEmpty() && read.faults().isEmpty()) {
      throw unreadable(
          "no *.yaml, *.yml or *.json file in "
              + sources.stream().map(Path::toString).collect(Collectors.joining(", ")));
    }
    return read;
  }

  /** The same, where every file counts: the first that can't be read is the end. */
  public static SortedMap<String, String> configuration(List<Path> sources) {
    Configuration read = readable(sources);
    for (String fault : read.faults().values()) {
      throw unreadable(fault);
    }
    return read.texts();
  }

  private static void read(Path file, Configuration into) {
    try {
      into.texts().put(file.toString(), text(file));
    } catch (CommandException e) {
      into.faults().put(file.toString(), String.valueOf(e.getMessage()));
    }
  }

  /** A link to nothing is among them: its content is missing. */
  private static List<Path> configurationFiles(Path folder) {
    try (Stream<Path> entries = Files.list(folder)) {
      return entries
          .filter(
              file -> isConfiguration(file) && (Files.isRegularFile(file) || !Files.exists(file)))
          .sorted()
          .toList();
    } catch (AccessDeniedException e) {
      throw unreadable(folder + ": may not be read");
    } catch (IOException | UncheckedIOException e) {
      throw unreadable(folder + ": can't be read: " + e.getMessage());
    }
  }

  private static boolean isConfiguration(Path file) {
    String name = file.getFileName().toString();
    return !name.startsWith(".") && name.matches(".*\\.(yaml|yml|json)");
  }

  private static CommandException unreadable(String message) {
    return new CommandException(UNREADABLE, message);
  }
}
