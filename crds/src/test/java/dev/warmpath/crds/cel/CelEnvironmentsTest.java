package dev.warmpath.crds.cel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.crds.cel.CelEnvironments.Scope;
import java.time.Duration;
import java.time.Instant;
import java.util.AbstractMap;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class CelEnvironmentsTest {
  private static final CelOutcome TRUE = new CelOutcome.Answer(true);
  private static final CelOutcome FALSE = new CelOutcome.Answer(false);

  private final List<String> asked = new ArrayList<>();

  @Test
  void everyVariableOfTheDocumentationCanBeRead() {
    for (String expression :
        List.of(
            "request.model == 'qwen-27b' && request.path == '/v1/chat/completions'",
            "request.dialect in ['openai', 'anthropic']",
            "request.promptTokens < 2000 && request.maxTokens == 100",
            "request.stream && !request.tools && request.images == 0 && request.priority >= -5",
            "request.header('X-Team') == 'blue' && request.header('x-none') == ''",
            "tenant.name == 'team-a' && tenant.labels.tier == 'free'",
            "labels.pii != 'absent' && labels['pii'] == 'unknown' && 'pii' in labels",
            "now > timestamp('2026-01-01T00:00:00Z') && now.getHours() < 24",
            "backend.name == 'b' && backend.model == 'm' && backend.labels.tier == 'x'",
            "!backend.external && backend.pool == 'p' && backend.provider == ''",
            "backend.pricing.inputPerMillion < 1 && backend.pricing.currency == 'USD'",
            "backend.pricing.outputPerMillion > 0.1 && !has(backend.pricing.cachedInputPerMillion)",
            "pool.queuedPrompts < 8 && pool.runningRequests == 3 && pool.readyWorkers > 0",
            "pool.kvCacheUsage < 0.7 && pool.kvCacheUsage < 1",
            "endpoint.name == 'w0' && endpoint.set == 'l40s' && endpoint.hardware == 'L40S'",
            "endpoint.queuedPrompts < 8 && endpoint.runningRequests == 2",
            "endpoint.kvCacheUsage < 0.7 && endpoint.cachedTokens >= 1024",
            "endpoint.predictedTtft < duration('2s')")) {
      assertThat(evaluate(expression, Scope.ENDPOINTS)).as(expression).isEqualTo(TRUE);
    }
  }

  @Test
  void aMissingValueFailsUnlessTheOtherSideDecides() {
    assertThat(evaluate("tenant.labels.none == 'a'", Scope.WHEN))
        .isInstanceOf(CelOutcome.Failed.class);
    assertThat(evaluate("backend.pricing.cachedInputPerMillion < 1", Scope.EXCLUDE))
        .isInstanceOf(CelOutcome.Failed.class);
    assertThat(evaluate("tenant.labels.none == 'a' && false", Scope.WHEN)).isEqualTo(FALSE);
    assertThat(evaluate("tenant.labels.none == 'a' || true", Scope.WHEN)).isEqualTo(TRUE);
    assertThat(evaluate("has(tenant.labels.none)", Scope.WHEN)).isEqualTo(FALSE);
    assertThat(evaluate("request.promptTokens / 0 > 1", Scope.WHEN))
        .isInstanceOf(CelOutcome.Failed.class);
  }

  @Test
  void aLabelIsAskedForOnlyWhenItDecides() {
    evaluate("request.stream || labels.pii == 'present'", Scope.WHEN);
    assertThat(asked).isEmpty();

    evaluate("labels.pii == 'present' || labels.lang == 'de'", Scope.WHEN);
    // Whether there is one is asked apart from which one it is; bindings remember.
    assertThat(new LinkedHashSet<>(asked)).containsExactly("pii", "lang");
  }

  /** A failed side is no value: taken for one, it would make a constraint let something through. */
  @Test
  void aFailureIsNotAValueThatCanBeCompared() {
    String failed = "(tenant.labels.none == 'a' || false)";
    for (String expression :
        List.of(
            failed + " == true",
            failed + " != true",
            "(tenant.labels.none == 'a' && true) == false",
            failed + " in [false]",
            "[" + failed + "].size() == 1",
            failed + " ? true : false",
            "!" + failed)) {
      assertThat(evaluate(expression, Scope.WHEN))
          .as(expression)
          .isInstanceOf(CelOutcome.Failed.class);
    }
  }

  @Test
  void aCompiledExpressionKnowsWhatItReads() {
    Compiled compiled =
        compiled(
            "labels.pii == 'x' || labels['lang'] == 'de' || 'user' in labels || request.stream",
            Scope.EXCLUDE);
    assertThat(compiled.variables()).containsExactlyInAnyOrder("labels", "request");
    assertThat(compiled.labelKeys()).containsExactlyInAnyOrder("pii", "lang", "user");
    assertThat(compiled.readsAnyLabel()).isFalse();
    assertThat(compiled("labels[tenant.name] == 'x'", Scope.WHEN).readsAnyLabel()).isTrue();
  }

  @Test
  void faultsAreNamedWithTheirPlace() {
    Map<String, String> expected =
        Map.ofEntries(
            Map.entry("request.promptTokens <", "1:23"),
            Map.entry(
                "endpoint.queuedPrompts < 8",
                "1:1: endpoint is not known in this field; known are request, tenant, labels, now"),
            Map.entry(
                "reqest.stream",
                "1:1: reqest is not known; known are request, tenant, labels, now"),
            Map.entry("request.promptToken < 8", "1:8: there is no field promptToken"),
            Map.entry("request.model < 8", "1:15: the operator < does not take (string, int)"),
            Map.entry("request.model", "1:1: must be true or false, but has type string"),
            Map.entry("true &&\n  labels.x == 3", "2:12"),
            Map.entry("request.header('authorization') == ''", "1:15: header takes the literal"),
            Map.entry("request.header('X-Api-Key') == ''", "1:15: header takes the literal"),
            Map.entry("request.header(request.model) == ''", "1:15: header takes the literal"),
            Map.entry("'a' + 'b' == 'ab'", "1:5: the operator + does not take (string, string)"),
            Map.entry("[1] + [2] == [1]", "1:5: the operator + does not take"),
            Map.entry("request.model.matches('(')", "1:"),
            Map.entry("", "1:1"));
    expected.forEach((expression, message) ->
        assertThat(CelEnvironments.compile(expression, Scope.WHEN).toString())
            .as(expression)
            .startsWith(message));
  }

  @Test
  void syntaxErrorsSayWhatIsThereAndHowItIsWritten() {
    Map<String, String> expected =
        Map.ofEntries(
            Map.entry("", "1:1: is empty"),
            Map.entry("request.promptTokens <", "1:23: ends where a value is expected"),
            Map.entry("labels.pii = 'present'", "1:12: unexpected =: a comparison is written =="),
            Map.entry("labels.pii === 'x'", "1:12: unexpected ===: a comparison is written =="),
            Map.entry("request.promptTokens => 8", "1:22: unexpected =>: at least is written >="),
            Map.entry("labels.pii <> 'a'", "1:12: unexpected <>: unequal is written !="),
            Map.entry("true & false", "1:6: unexpected &: and is written &&"),
            Map.entry("true | false", "1:6: unexpected |: or is written ||"),
            Map.entry("true and false", "1:6: unexpected and: and is written &&"),
            Map.entry("not true", "1:5: unexpected true: not is written !"),
            Map.entry("true &&\n  (false", "2:9: ) is missing"),
            Map.entry("true)", "1:5: unexpected ): an operator is expected"),
            Map.entry("true && && false", "1:9: unexpected &&: a value is expected"),
            Map.entry("1 2", "1:3: unexpected 2: an operator is expected"),
            Map.entry(
                "'abc", "1:1: text that is not closed, or an escape in it that does not exist"),
            Map.entry(
                "request.model == \u201cx\u201d",
                "1:18: unexpected \u201c: text is quoted with \" or '"),
            Map.entry(
                "true;", "1:5: unexpected ;: there is one expression, without a sign at its end"),
            Map.entry("if true", "1:1: if is a reserved word"),
            Map.entry("request..model", "1:9: unexpected ."),
            Map.entry("a ? b", "1:6: is not complete"));
    expected.forEach((expression, message) ->
        assertThat(CelEnvironments.compile(expression, Scope.WHEN).toString())
            .as(expression)
            .isEqualTo(message));
  }

  @Test
  void noMessageShowsTheParsersOwnTokens() {
    List<String> good =
        List.of(
            "labels.pii != 'absent' && request.promptTokens > 100",
            "request.model in ['a', \"b\"] || !(tenant.name == 'x')",
            "['a', 'b'].exists(n, n == tenant.name) ? true : 1.5 < 2.0",
            "request.header('x-team') == 'a' // why");
    for (String expression : good) {
      assertThat(CelEnvironments.compile(expression, Scope.WHEN)).isInstanceOf(Compiled.class);
      for (int i = 0; i <= expression.length(); i++) {
        List<String> broken = new ArrayList<>(List.of(expression.substring(0, i)));
        for (String sign : List.of("'", "=", ")", "{", "@", "and ", "..", "?")) {
          broken.add(expression.substring(0, i) + sign + expression.substring(i));
        }
        for (String text : broken) {
          if (CelEnvironments.compile(text, Scope.WHEN) instanceof CelProblem problem) {
            assertThat(problem.message())
                .as(text)
                .isNotBlank()
                .doesNotContain("<EOF>", "NUM_", "IDENTIFIER", "expecting {", "token recognition");
            assertThat(problem.line()).as(text).isEqualTo(1);
            assertThat(problem.column()).as(text).isBetween(1, text.length() + 1);
          }
        }
      }
    }
  }

  @Test
  void whatAnExpressionCostsIsBounded() {
    String list = "[0,1,2,3,4,5,6,7,8,9]";
    String loops =
        list.concat(".all(a, LIST.all(b, LIST.all(c, LIST.all(d, a + b + c + d >= 0))))")
            .replace("LIST", list);
    assertThat(evaluate(loops, Scope.WHEN)).isInstanceOf(CelOutcome.Failed.class);
    for (String expression :
        List.of(
            "!".repeat(5000) + "true",
            "(".repeat(200) + "true" + ")".repeat(200),
            "true" + " && true".repeat(1200),
            "request.model.matches('" + "(a{900}){900}" + "')")) {
      CelResult result = CelEnvironments.compile(expression, Scope.WHEN);
      if (result instanceof Compiled compiled) {
        assertThat(compiled.evaluate(this::variable)).isInstanceOf(CelOutcome.Failed.class);
      } else {
        assertThat(result).isInstanceOf(CelProblem.class);
      }
    }
  }

  @Test
  void credentialsAndInternalHeadersCannotBeRead() {
    for (String name :
        List.of(
            "authorization",
            "cookie",
            "x-api-key",
            "X-WP-Cluster",
            "x-envoy-peer",
            ":path",
            "proxy-authorization",
            "x-")) {
      assertThat(CelEnvironments.mayReadHeader(name)).as(name).isFalse();
    }
    for (String name : List.of("user-agent", "X-Team", "x-request-class")) {
      assertThat(CelEnvironments.mayReadHeader(name)).as(name).isTrue();
    }
  }

  private CelOutcome evaluate(String expression, Scope scope) {
    return compiled(expression, scope).evaluate(this::variable);
  }

  private static Compiled compiled(String expression, Scope scope) {
    CelResult result = CelEnvironments.compile(expression, scope);
    assertThat(result).as(expression + " -> " + result).isInstanceOf(Compiled.class);
    return (Compiled) result;
  }

  private @Nullable Object variable(String name) {
    return switch (name) {
      case "request" ->
          lazy(
              Map.of(
                  "model",
                  "qwen-27b",
                  "path",
                  "/v1/chat/completions",
                  "dialect",
                  "openai",
                  "promptTokens",
                  1000L,
                  "maxTokens",
                  100L,
                  "stream",
                  true,
                  "tools",
                  false,
                  "images",
                  0L,
                  "priority",
                  -5L,
                  CelEnvironments.HEADERS_KEY,
                  Map.of("x-team", "blue")));
      case "tenant" -> lazy(Map.of("name", "team-a", "labels", Map.of("tier", "free")));
      case "labels" -> new LazyLabels(asked);
      case "now" -> Instant.parse("2026-11-29T12:00:00Z");
      case "backend" ->
          lazy(
              Map.of(
                  "name", "b",
                  "model", "m",
                  "labels", Map.of("tier", "x"),
                  "external", false,
                  "pool", "p",
                  "provider", "",
                  "pricing",
                      lazy(
                          Map.of(
                              "currency",
                              "USD",
                              "inputPerMillion",
                              0.2,
                              "outputPerMillion",
                              0.6))));
      case "pool" ->
          lazy(
              Map.of(
                  "queuedPrompts",
                  4L,
                  "runningRequests",
                  3L,
                  "kvCacheUsage",
                  0.5,
                  "readyWorkers",
                  2L));
      case "endpoint" ->
          lazy(
              Map.of(
                  "name",
                  "w0",
                  "set",
                  "l40s",
                  "hardware",
                  "L40S",
                  "queuedPrompts",
                  1L,
                  "runningRequests",
                  2L,
                  "kvCacheUsage",
                  0.5,
                  "cachedTokens",
                  2048L,
                  "predictedTtft",
                  Duration.ofMillis(300)));
      default -> null;
    };
  }

  private static Map<String, Object> lazy(Map<String, Object> values) {
    return new LazyMap() {
      @Override
      public @Nullable Object get(@Nullable Object key) {
        return values.get(key);
      }
    };
  }

  private abstract static class LazyMap extends AbstractMap<String, Object> {
    @Override
    public boolean containsKey(@Nullable Object key) {
      return get(key) != null;
    }

    @Override
    public Set<Entry<String, Object>> entrySet() {
      throw new UnsupportedOperationException("only get and containsKey are called");
    }
  }

  private static final class LazyLabels extends LazyMap {
    private final List<String> asked;

    LazyLabels(List<String> asked) {
      this.asked = asked;
    }

    @Override
    public @Nullable Object get(@Nullable Object key) {
      asked.add(String.valueOf(key));
      return "unknown";
    }
  }
}
