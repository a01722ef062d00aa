package dev.warmpath.cli.input;

import java.io.IOException;
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
      throw unreadable("no such file: " + file);
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

  /** The texts of one configuration by file; a folder stands for the files directly in it. */
  public static SortedMap<String, String> configuration(List<Path> sources) {
    SortedMap<String, String> texts = new TreeMap<>();
    for (Path source : sources) {
      if (Files.isDirectory(source)) {
        for (Path file : configurationFiles(source)) {
          texts.put(file.toString(), text(file));
        }
      } else if (Files.exists(source)) {
        texts.put(source.toString(), text(source));
      } else {
        throw unreadable("no such file or folder: " + source);
      }
    }
    if (texts.isEmpty()) {
      throw unreadable(
          "no *.yaml, *.yml or *.json file in "
              + sources.stream().map(Path::toString).collect(Collectors.joining(", ")));
    }
    return texts;
  }

  private static List<Path> configurationFiles(Path folder) {
    try (Stream<Path> entries = Files.list(folder)) {
      return entries
          .filter(file -> Files.isRegularFile(file) && isConfiguration(file))
          .sorted()
          .toList();
    } catch (IOException e) {
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
