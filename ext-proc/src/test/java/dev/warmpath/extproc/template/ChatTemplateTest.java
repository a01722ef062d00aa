package dev.warmpath.extproc.template;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class ChatTemplateTest {
  /** What Python's Jinja 3.1 made of the same templates and variables, configured as engines do. */
  @TestFactory
  Stream<DynamicTest> rendersAsTheOriginal() throws IOException {
    JsonNode file;
    try (InputStream in = ChatTemplateTest.class.getResourceAsStream("/prompt/templates.json")) {
      file = JsonMapper.shared().readTree(Objects.requireNonNull(in));
    }
    Map<String, @Nullable Object> variables = object(file.path("variables"));
    List<DynamicTest> tests = new ArrayList<>();
    for (JsonNode test : file.path("cases")) {
      String template = test.path("template").stringValue();
      tests.add(
          DynamicTest.dynamicTest(
              template,
              () ->
                  assertThat(ChatTemplate.parse(template).render(variables))
                      .isEqualTo(test.path("expected").stringValue())));
    }
    assertThat(tests).hasSizeGreaterThan(40);
    return tests.stream();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{% macro m() %}{% endmacro %}",
        "{{ x | selectattr('a') }}",
        "{{ x.title() }}",
        "{{ strftime_now('%d') }}",
        "{% include 'a' %}",
        "{% for x in y %}{% break %}{% endfor %}",
        "{{ x is divisibleby 3 }}",
        "{% if x %}",
        "{% endif %}",
        "{{ 1 < 2 < 3 }}",
        "{{ 'a }}"
      })
  void whatIsNotKnownIsRefusedWhenItIsRead(String template) {
    assertThatThrownBy(() -> ChatTemplate.parse(template)).isInstanceOf(TemplateException.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{{ raise_exception('no') }}",
        "{{ x.y }}",
        "{{ [1, 2] }}",
        "{{ 'a' * 3 }}",
        "{{ 1.5 + 1 }}",
        "{% for x in 3 %}{% endfor %}"
      })
  void whatCannotBeRenderedExactlyIsRefusedWhenItIsRendered(String template) {
    ChatTemplate parsed = ChatTemplate.parse(template);

    assertThatThrownBy(() -> parsed.render(Map.of())).isInstanceOf(TemplateException.class);
  }

  @Test
  void templatesThatGoThroughPartsAreTold() {
    assertThat(
            ChatTemplate.parse(
                    "{% for m in messages %}{% if m.content is string %}{{ m.content }}{% else %}"
                        + "{% for p in m['content'] %}{{ p.text }}{% endfor %}{% endif %}{% endfor %}")
                .readsParts())
        .isTrue();
    assertThat(
            ChatTemplate.parse("{% for m in messages %}{{ m.content }}{% endfor %}").readsParts())
        .isFalse();
  }

  private static Map<String, @Nullable Object> object(JsonNode node) {
    Map<String, @Nullable Object> members = new LinkedHashMap<>();
    node.properties().forEach(member -> members.put(member.getKey(), value(member.getValue())));
    return members;
  }

  private static @Nullable Object value(JsonNode node) {
    if (node.isNull()) {
      return null;
    }
    if (node.isArray()) {
      List<@Nullable Object> items = new ArrayList<>();
      node.forEach(item -> items.add(value(item)));
      return items;
    }
    if (node.isObject()) {
      return object(node);
    }
    if (node.isIntegralNumber()) {
      return node.canConvertToLong() ? (Object) node.longValue() : node.bigIntegerValue();
    }
    return node.isNumber()
        ? (Object) node.doubleValue()
        : node.isBoolean() ? (Object) node.booleanValue() : node.stringValue();
  }
}
