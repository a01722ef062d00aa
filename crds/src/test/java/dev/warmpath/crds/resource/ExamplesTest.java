package dev.warmpath.crds.resource;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever YAML we show to users is read without a problem. */
class ExamplesTest {
  private static final Path ROOT = Path.of("..");
  private static final Path EXAMPLES = Path.of("examples");

  // A fenced block, possibly inside a list item.
  private static final Pattern YAML_BLOCK =
      Pattern.compile("(?ms)^([ \\t]*)```ya?ml[^\\n]*\\n(.*?)^[ \\t]*```[ \\t]*$");

  /** A block of a page may refer to what the page does not show. */
  private static final Set<String> ABOUT_THE_UNSHOWN =
      Set.of(
          Reason.ReferenceNotFound.name(),
          Reason.UnknownBackend.name(),
          Reason.NoMatchingBackend.name(),
          Reason.NoMatchingModel.name(),
          Reason.UnreachablePolicy.name(),
          Reason.NoLocalTarget.name(),
          Reason.UnusedResource.name());

  /** Each folder or file that is a complete configuration by itself. */
  static List<Path> configurations() throws IOException {
    List<Path> configurations = new ArrayList<>(List.of(EXAMPLES));
    configurations.addAll(list(EXAMPLES.resolve("recipes")));
    configurations.addAll(list(ROOT.resolve("examples")));
    return configurations;
  }

  static List<Path> pages() throws IOException {
    List<Path> pages = new ArrayList<>();
    pages.add(ROOT.resolve("README.md"));
    try (Stream<Path> files = Files.walk(ROOT.resolve("docs"))) {
      files.filter(file -> file.toString().endsWith(".md")).sorted().forEach(pages::add);
    }
    return pages;
  }

  @ParameterizedTest
  @MethodSource("configurations")
  void everyExampleIsAGoodConfiguration(Path configuration) throws IOException {
    SortedMap<String, String> files = new TreeMap<>();
    for (Path file :
        Files.isDirectory(configuration) ? list(configuration) : List.of(configuration)) {
      if (file.toString().endsWith(".yaml")) {
        files.put(file.toString(), Files.readString(file));
      }
    }

    ParsedResources parsed = new ResourceParser().parseAll(files);

    assertThat(files).isNotEmpty();
    assertThat(parsed.problems()).isEmpty();
    assertThat(new ResourceValidator().validate(parsed)).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("pages")
  void everyResourceInThePagesIsGood(Path page) throws IOException {
    // A page may show the same resource twice, so each block stands for itself.
    blocks(page)
        .forEach((place, block) -> {
          ParsedResources parsed = new ResourceParser().parse(place, block);
          assertThat(parsed.problems()).isEmpty();
          assertThat(new ResourceValidator().validate(parsed))
              .filteredOn(problem -> !ABOUT_THE_UNSHOWN.contains(problem.reason()))
              .isEmpty();
        });
  }

  @Test
  void thereIsAnExampleOfEachKind() throws IOException {
    Set<Kind> kinds = new TreeSet<>();
    for (Path file : list(EXAMPLES)) {
      if (file.toString().endsWith(".yaml")) {
        new ResourceParser()
            .parse(file.toString(), Files.readString(file))
            .resources()
            .all()
            .forEach(resource -> kinds.add(resource.kind()));
      }
    }
    assertThat(kinds).containsExactly(Kind.values());
  }

  private static SortedMap<String, String> blocks(Path page) throws IOException {
    String text = Files.readString(page);
    SortedMap<String, String> blocks = new TreeMap<>();
    Matcher matcher = YAML_BLOCK.matcher(text);
    while (matcher.find()) {
      String block = matcher.group(2);
      if (block.contains(Kind.GROUP)) {
        long line = text.substring(0, matcher.start()).lines().count() + 1;
        blocks.put(page + ":" + line, unindent(block, matcher.group(1).length()));
      }
    }
    return blocks;
  }

  private static String unindent(String block, int indent) {
    StringBuilder text = new StringBuilder();
    block
        .lines()
        .forEach(line -> text.append(line.substring(Math.min(indent, line.length()))).append('\n'));
    return text.toString();
  }

  private static List<Path> list(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.sorted().toList();
    }
  }
}
