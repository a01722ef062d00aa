package dev.warmpath.e2e;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.e2e.support.Repository;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What holds for every tracked file. */
class RepositoryTest {

  private static final Set<String> BINARY = Set.of("png", "svg", "jar", "gz", "bin", "ico");

  /** This file spells out what it forbids. */
  private static final String SELF = "RepositoryTest.java";

  private static final Pattern LINK = Pattern.compile("\\[[^\\]\\[]*\\]\\(([^)\\s]+)\\)");
  private static final Pattern HEADING = Pattern.compile("(?m)^#{1,6} +(.*)$");
  private static final Pattern CODE_BLOCK = Pattern.compile("(?s)```.*?```");

  @ParameterizedTest(name = "no {0}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      textBlock =
          """
          path of one machine     | "(?<![\\w.$}])/(work|root)/[a-z]"
          home folder of a person | "(?<![\\w.$}])/(home|Users)/[a-z]+/"
          host of a registry      | "pypi\\.org|pythonhosted|maven\\.apache\\.org/maven2|repo1\\.maven|registry\\.npmjs|proxy\\.golang"
          number of an issue      | "(?i)\\bissues? #?[0-9]+\\b|\\(#[0-9]+\\)"
          conflict marker         | "(?m)^(<{7}|>{7}) "
          """)
  void no_file_names_a(String what, String pattern) throws IOException, InterruptedException {
    Pattern forbidden = Pattern.compile(pattern);
    List<String> found = new ArrayList<>();
    for (Path file : textFiles()) {
      Matcher matcher = forbidden.matcher(read(file));
      if (matcher.find()) {
        found.add(file + ": " + matcher.group());
      }
    }
    assertThat(found).as("files with a %s", what).isEmpty();
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      nullValues = "none",
      value = {
        "none          | --match 'Nope*' | FAILED  tests: nothing matched --match 'Nope*' | 1",
        "none          | ''              | FAILED  tests: there was none to run           | 1",
        "<skipped/>    | --match 'S*'    | 0 passed, 0 failed, 1 skipped                  | 1",
        "<failure/>    | --match 'F*'    | 0 passed, 1 failed                             | 1",
        "<system-out/> | --match 'P*'    | 1 passed, 0 failed                             | 0"
      })
  void tests_count_as_passed_only_where_there_was_one(
      @Nullable String outcome, String asked, String said, int exit, @TempDir Path folder)
      throws IOException, InterruptedException {
    if (outcome != null) {
      Path reports = Files.createDirectories(folder.resolve("cli/target/surefire-reports"));
      Files.writeString(
          reports.resolve("TEST-a.xml"),
          "<testsuite name='a.B'><testcase classname='a.B' name='c'>"
              + outcome
              + "</testcase></testsuite>");
    }
    Path summary = Repository.root().resolve("bin/lib/summary.py").toAbsolutePath();
    Process process =
        new ProcessBuilder(
                "python3", summary.toString(), "--seconds=1", "--maven-exit=0", "--asked=" + asked)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .start();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor()).as(output).isEqualTo(exit);
    assertThat(output).contains(said);
  }

  @Test
  void every_relative_link_of_the_documentation_leads_somewhere()
      throws IOException, InterruptedException {
    List<String> broken = new ArrayList<>();
    for (Path file : textFiles()) {
      if (!file.toString().endsWith(".md")) {
        continue;
      }
      Matcher link = LINK.matcher(CODE_BLOCK.matcher(read(file)).replaceAll(""));
      while (link.find()) {
        String target = link.group(1);
        if (!target.contains("://")
            && !target.startsWith("mailto:")
            && !leadsSomewhere(file, target)) {
          broken.add(file + " -> " + target);
        }
      }
    }
    assertThat(broken).isEmpty();
  }

  @Test
  void every_package_is_null_marked_and_described() throws IOException, InterruptedException {
    List<String> missing = new ArrayList<>();
    for (Path file : textFiles()) {
      if (!file.toString().endsWith(".java") || !file.startsWith(moduleOf(file).resolve("src"))) {
        continue;
      }
      Path packageInfo = folderOf(file).resolve("package-info.java");
      if (inMainTree(file)
          && !(Files.exists(Repository.root().resolve(packageInfo))
              && read(packageInfo).contains("NullMarked"))) {
        missing.add(packageInfo.toString());
      }
    }
    assertThat(missing.stream().distinct()).as("package-info.java with @NullMarked").isEmpty();
  }

  @Test
  void every_script_is_executable_and_has_a_valid_syntax()
      throws IOException, InterruptedException {
    List<String> wrong = new ArrayList<>();
    for (Path file : textFiles()) {
      if (!read(file).startsWith("#!/usr/bin/env bash")) {
        continue;
      }
      Process check =
          new ProcessBuilder("bash", "-n", Repository.root().resolve(file).toString())
              .redirectErrorStream(true)
              .start();
      String output = new String(check.getInputStream().readAllBytes(), UTF_8);
      if (check.waitFor() != 0) {
        wrong.add(file + ": " + output);
      }
      if (!file.startsWith("bin/lib") && !Files.isExecutable(Repository.root().resolve(file))) {
        wrong.add(file + ": not executable");
      }
    }
    assertThat(wrong).isEmpty();
  }

  private static boolean leadsSomewhere(Path from, String target) throws IOException {
    int hash = target.indexOf('#');
    String path = hash < 0 ? target : target.substring(0, hash);
    Path file = path.isEmpty() ? from : folderOf(from).resolve(path).normalize();
    if (!Files.exists(Repository.root().resolve(file))) {
      return false;
    }
    return hash < 0
        || !file.toString().endsWith(".md")
        || anchors(file).contains(target.substring(hash + 1));
  }

  private static List<String> anchors(Path file) throws IOException {
    return HEADING
        .matcher(read(file))
        .results()
        .map(heading ->
            heading
                .group(1)
                .strip()
                .toLowerCase(Locale.ROOT)
                .replaceAll("[^\\p{L}\\p{N} _-]", "")
                .replace(' ', '-'))
        .toList();
  }

  private static boolean inMainTree(Path file) {
    return file.toString().contains("/src/main/java/");
  }

  private static Path moduleOf(Path file) {
    return file.getName(0);
  }

  private static Path folderOf(Path file) {
    Path parent = file.getParent();
    return parent == null ? Path.of("") : parent;
  }

  private static List<Path> textFiles() throws IOException, InterruptedException {
    return Repository.trackedFiles().stream()
        .filter(file -> !file.endsWith(SELF))
        .filter(file -> !BINARY.contains(extension(file)))
        .toList();
  }

  private static String extension(Path file) {
    String name = file.getFileName().toString();
    return name.substring(name.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT);
  }

  private static String read(Path file) throws IOException {
    Path full = Repository.root().resolve(file);
    try {
      return Files.readString(full, UTF_8);
    } catch (CharacterCodingException binary) {
      return Files.readString(full, StandardCharsets.ISO_8859_1);
    }
  }
}
