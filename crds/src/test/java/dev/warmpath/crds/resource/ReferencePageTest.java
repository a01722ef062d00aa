package dev.warmpath.crds.resource;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.crds.cel.CelEnvironments;
import dev.warmpath.crds.resource.RecordSchema.Field;
import dev.warmpath.crds.resource.RecordSchema.Limits;
import dev.warmpath.crds.resource.RecordSchema.Shape;
import io.fabric8.generator.annotation.ValidationRule;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The reference of the fields is what the records say. After a change of a record:
 *
 * <pre>bin/mvn -q -pl crds -Dtest=ReferencePageTest -Dcrds.update=true test</pre>
 */
class ReferencePageTest {
  private static final Path PAGE = Path.of("../docs/resources.md");
  private static final String BEGIN = "<!-- generated from the records: begin -->\n";
  private static final String END = "<!-- generated from the records: end -->\n";

  @Test
  void thePageIsWhatTheRecordsSay() throws IOException {
    String page = Files.readString(PAGE);
    int begin = page.indexOf(BEGIN) + BEGIN.length();
    int end = page.indexOf(END);
    String generated = "\n" + reference();
    if (Boolean.getBoolean("crds.update")) {
      page = page.substring(0, begin) + generated + page.substring(end);
      Files.writeString(PAGE, page);
      end = page.indexOf(END);
    }

    assertThat(page.substring(begin, end)).isEqualTo(generated);
  }

  @Test
  void everyFieldIsDescribed() {
    for (Kind kind : Kind.values()) {
      for (Row row : rows(kind)) {
        assertThat(row.field.description()).as(row.path).isNotBlank();
      }
    }
  }

  private record Row(String path, Field field) {}

  private static String reference() {
    StringBuilder text = new StringBuilder();
    for (Kind kind : Kind.values()) {
      text.append("## ").append(kind.kindName()).append("\n\n");
      text.append("`kubectl get ").append(kind.shortName()).append("`. Fields of `spec`:\n\n");
      text.append("| field | type | default | meaning |\n| --- | --- | --- | --- |\n");
      List<Row> rows = rows(kind);
      for (Row row : rows) {
        text.append(
            "| `%s` | %s | %s | %s |\n"
                .formatted(
                    row.path,
                    type(row.field),
                    defaultOf(row.field),
                    cell(row.field.description())));
      }
      text.append(rules(kind)).append('\n');
    }
    text.append("## What expressions see\n\n| field | variables |\n| --- | --- |\n");
    for (CelEnvironments.Scope scope : CelEnvironments.Scope.values()) {
      text.append(
          "| `%s` | %s |\n"
              .formatted(place(scope), "`" + String.join("`, `", scope.variables()) + "`"));
    }
    text.append("\n## Reasons\n\n| reason | condition | meaning |\n| --- | --- | --- |\n");
    for (Reason reason : Reason.values()) {
      text.append(
          "| `%s` | %s | %s |\n".formatted(reason, reason.condition(), cell(reason.description())));
    }
    return text.append('\n').toString();
  }

  private static String place(CelEnvironments.Scope scope) {
    return switch (scope) {
      case MATCH_CONDITION -> "spec.match.condition";
      case WHEN -> "spec.constraints[].when";
      case EXCLUDE -> "spec.constraints[].exclude";
      case ENDPOINTS -> "spec.route.tiers[].endpoints";
    };
  }

  private static List<Row> rows(Kind kind) {
    List<Row> rows = new ArrayList<>();
    collect("", RecordSchema.of(kind.specType()), rows);
    return rows;
  }

  private static void collect(String path, RecordSchema schema, List<Row> rows) {
    for (Field field : schema.fields().values()) {
      String fieldPath = path.isEmpty() ? field.name() : path + "." + field.name();
      rows.add(new Row(fieldPath, field));
      switch (field.shape()) {
        case Shape.Nested nested -> collect(fieldPath, RecordSchema.of(nested.type()), rows);
        case Shape.ListOf list when list.item() instanceof Shape.Nested nested ->
            collect(fieldPath + "[]", RecordSchema.of(nested.type()), rows);
        default -> {}
      }
    }
  }

  private static String type(Field field) {
    String type =
        switch (field.shape()) {
          case Shape.ListOf list -> "list of " + plural(list.item());
          case Shape shape -> name(shape);
        };
    return type + bounds(field.limits());
  }

  private static String name(Shape shape) {
    return switch (shape) {
      case Shape.Text text -> "text";
      case Shape.WholeNumber number -> "whole number";
      case Shape.DecimalNumber number -> "number";
      case Shape.Bool bool -> "`true` or `false`";
      case Shape.DurationText duration -> "duration";
      case Shape.Choice choice ->
          choice.names().stream().map(n -> "`" + n + "`").collect(Collectors.joining(", "));
      case Shape.Nested nested -> "fields";
      case Shape.ListOf list -> "list";
      case Shape.MapOfText map -> "map of text";
      case Shape.Opaque opaque -> "anything";
    };
  }

  private static String plural(Shape shape) {
    return switch (shape) {
      case Shape.Text text -> "texts";
      case Shape.Nested nested -> "fields";
      default -> name(shape);
    };
  }

  private static String bounds(Limits limits) {
    List<String> bounds = new ArrayList<>();
    if (limits.min() != null) {
      bounds.add((limits.min().inclusive() ? "≥ " : "> ") + SpecBinder.plain(limits.min().value()));
    }
    if (limits.max() != null) {
      bounds.add((limits.max().inclusive() ? "≤ " : "< ") + SpecBinder.plain(limits.max().value()));
    }
    if (limits.size() != null && limits.size().max() < Long.MAX_VALUE) {
      bounds.add("length " + limits.size().min() + "–" + limits.size().max());
    }
    return bounds.isEmpty() ? "" : "; " + String.join(", ", bounds);
  }

  private static String defaultOf(Field field) {
    if (field.required()) {
      return "**required**";
    }
    String text = field.defaultText();
    if (text != null) {
      return text.equals("{}") ? "as below" : "`" + cell(text) + "`";
    }
    return field.absent() != null ? "empty" : "absent";
  }

  private static String rules(Kind kind) {
    List<String> messages = new ArrayList<>();
    collectRules("spec", kind.specType(), messages);
    if (messages.isEmpty()) {
      return "";
    }
    return messages.stream().collect(Collectors.joining("\n- ", "\nRules:\n\n- ", "\n"));
  }

  private static void collectRules(
      String path, Class<? extends Record> type, List<String> messages) {
    RecordSchema schema = RecordSchema.of(type);
    for (ValidationRule rule : schema.rules()) {
      messages.add("`" + path + rule.fieldPath() + "`: " + rule.message());
    }
    for (Field field : schema.fields().values()) {
      Stream.of(field.shape())
          .map(shape -> shape instanceof Shape.ListOf list ? list.item() : shape)
          .filter(Shape.Nested.class::isInstance)
          .map(Shape.Nested.class::cast)
          .forEach(nested ->
              collectRules(
                  path + "." + field.name() + (field.shape() instanceof Shape.ListOf ? "[]" : ""),
                  nested.type(),
                  messages));
    }
  }

  private static String cell(String text) {
    return text.replace("|", "\\|").replace("*", "\\*");
  }
}
