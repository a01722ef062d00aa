package dev.warmpath.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.e2e.support.ChartReadme;
import dev.warmpath.e2e.support.Charts;
import dev.warmpath.e2e.support.Repository;
import dev.warmpath.e2e.support.Tree;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * What of the charts can be checked without helm. {@code -Dchart.update=true} writes the README.
 */
class ChartTest {

  private static final Path CHART = Charts.folder("warmpath");
  private static final Pattern METRIC =
      Pattern.compile("\\b(?:warmpath|gen_ai)_[a-z_]+(?=[\\[{]|, namespace\\))");
  private static final Pattern DOCUMENTED = Pattern.compile("`((?:warmpath|gen_ai)_[a-z_]+)`");

  @Test
  void the_readme_describes_the_values() throws IOException {
    Path file = CHART.resolve("README.md");
    String readme = Files.readString(file);

    String generated =
        ChartReadme.withTable(readme, Files.readString(CHART.resolve("values.yaml")));

    if (Boolean.getBoolean("chart.update")) {
      Files.writeString(file, generated);
      readme = generated;
    }
    assertThat(readme).isEqualTo(generated);
  }

  @Test
  void comments_become_the_meaning_of_the_value_below_them() {
    String yaml =
        """
        # -- First,
        # in two lines.
        a: 1
        b:
          # a note for readers of the file only
          c: {d: 2}
          # -- | deep
          e: []
        f: ""
        """;

    assertThat(ChartReadme.values(yaml))
        .containsExactly(
            new ChartReadme.Value("a", "1", "First, in two lines."),
            new ChartReadme.Value("b.c", "{d: 2}", ""),
            new ChartReadme.Value("b.e", "[]", "| deep"),
            new ChartReadme.Value("f", "\"\"", ""));
    assertThatThrownBy(() -> ChartReadme.values("a:\n- 1\n")).hasMessageContaining("- 1");
  }

  @Test
  void every_value_is_in_the_schema_and_the_other_way_round() throws IOException {
    Map<String, Object> schema =
        Charts.documents(Files.readString(CHART.resolve("values.schema.json"))).getFirst();
    Set<String> inSchema = new TreeSet<>();
    paths("", schema, Tree.map(schema, "$defs"), inSchema);
    inSchema.remove("global");

    Set<String> inValues =
        ChartReadme.values(Files.readString(CHART.resolve("values.yaml"))).stream()
            .map(ChartReadme.Value::path)
            .collect(Collectors.toCollection(TreeSet::new));

    assertThat(inValues).isNotEmpty();
    assertThat(inValues).allSatisfy(path -> assertThat(inSchema).contains(path));
    assertThat(inSchema)
        .allSatisfy(path ->
            assertThat(inValues)
                .as(path)
                .anyMatch(value ->
                    value.equals(path)
                        || path.startsWith(value + ".")
                        || value.startsWith(path + ".")));
  }

  private static void paths(
      String prefix, Map<String, Object> schema, Map<String, Object> defs, Set<String> out) {
    Map<String, Object> resolved = schema;
    if (schema.get("$ref") instanceof String ref) {
      resolved = Tree.map(defs, ref.substring("#/$defs/".length()));
    }
    if (!resolved.containsKey("properties")) {
      return;
    }
    Tree.map(resolved, "properties")
        .forEach((name, property) -> {
          String path = prefix.isEmpty() ? name : prefix + "." + name;
          out.add(path);
          paths(path, Tree.map(property), defs, out);
        });
  }

  @Test
  void every_metric_of_a_dashboard_exists() throws IOException {
    String metrics =
        Files.readString(Repository.root().resolve("docs/metrics.md"))
            + Files.readString(Repository.root().resolve("docs/control-plane.md"));
    Set<String> documented = new TreeSet<>();
    DOCUMENTED.matcher(metrics).results().map(match -> match.group(1)).forEach(documented::add);
    // The control plane's are written as one list: `warmpath_xds_a_total`, `_b_total`.
    Pattern.compile("`_([a-z_]+)`")
        .matcher(metrics)
        .results()
        .forEach(match -> documented.add("warmpath_xds_" + match.group(1)));

    List<Path> dashboards;
    try (var files = Files.list(CHART.resolve("dashboards"))) {
      dashboards = files.toList();
    }
    Set<String> used = new TreeSet<>();
    for (Path dashboard : dashboards) {
      for (Object panel : panels(dashboard)) {
        if (Tree.text(panel, "type").equals("row")) {
          continue;
        }
        for (Object target : Tree.list(panel, "targets")) {
          String expression = Tree.text(target, "expr");
          List<String> names =
              METRIC.matcher(expression).results().map(match -> match.group()).toList();
          assertThat(names).as(expression).isNotEmpty();
          used.addAll(names);
        }
      }
    }

    assertThat(used).hasSizeGreaterThan(30);
    assertThat(used)
        .allSatisfy(
            name -> assertThat(documented).containsAnyOf(name, name.replaceFirst("_bucket$", "")));
  }

  private static List<Object> panels(Path dashboard) throws IOException {
    List<Object> panels =
        Tree.list(Charts.documents(Files.readString(dashboard)).getFirst(), "panels");
    assertThat(panels.stream().map(panel -> Tree.text(panel, "id"))).doesNotHaveDuplicates();
    return panels;
  }
}
