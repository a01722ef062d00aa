package dev.warmpath.cli.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.cli.Main;
import dev.warmpath.extproc.policy.review.Expectation;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** The four recipes of the documentation, as a user's CI would check them. */
class PolicyCommandTest {
  private static final Path RECIPES = Path.of("..", "crds", "examples", "recipes");
  private static final String PLAIN = "Summarise the plot of Hamlet, act by act, for a class.";
  private static final String CARD = "my card is 4111 1111 1111 1111";

  @TempDir private Path folder = Path.of("");

  private final StringWriter out = new StringWriter();

  @BeforeEach
  void writeStates() throws IOException {
    Files.writeString(
        folder.resolve("busy.yaml"),
        "pools: {qwen: [{name: w0, queuedPrompts: 9, kvCacheUsage: 0.9}]}\n");
    Files.writeString(folder.resolve("down.yaml"), "pools: {qwen: [{name: w0, ready: false}]}\n");
    Files.writeString(
        folder.resolve("warm.yaml"),
        """
        pools:
          qwen: [{name: w0, cachedTokens: 4000, predictedTtft: 90ms}]
          qwen-small: [{name: s0, predictedTtft: 300ms}]
        """);
    Files.writeString(folder.resolve("unknown.yaml"), "labels: {pii: unknown}\n");
  }

  @Test
  void burstToCloud() throws IOException {
    assertPasses("burst-to-cloud", PLAIN, null, "backend=qwen-local", "policy=burst-to-cloud");
    assertPasses("burst-to-cloud", PLAIN, "busy", "backend=qwen-cloud", "never=qwen-local");
    assertPasses("burst-to-cloud", PLAIN, "down", "backend=qwen-cloud");
  }

  @Test
  void piiStaysLocal() throws IOException {
    assertPasses("pii-stays-local", CARD, null, "backend=qwen-local", "never=qwen-cloud");
    assertPasses("pii-stays-local", CARD, "down", "status=503", "never=qwen-cloud");
    assertPasses("pii-stays-local", PLAIN, "unknown", "never=qwen-cloud");
  }

  @Test
  void simpleToCheaper() throws IOException {
    String simple = "What is the capital of France?";
    assertPasses("simple-to-cheaper", simple, null, "policy=simple-to-cheaper");
    assertPasses("simple-to-cheaper", simple, "warm", "backend=qwen-local");
    assertPasses(
        "simple-to-cheaper", "Prove step by step that it is optimal.", null, "policy=default");
  }

  @Test
  void batchOnIdle() throws IOException {
    assertPassesFor("nightly", "batch-on-idle", PLAIN, null, "backend=qwen-local");
    assertPassesFor("nightly", "batch-on-idle", PLAIN, "busy", "queued=true");
    assertPassesFor("interactive", "batch-on-idle", PLAIN, "busy", "backend=qwen-local");
  }

  @Test
  void aWrongExpectationIsExitCode1AndSaysWhatIsInstead() throws IOException {
    int exit = test("burst-to-cloud", null, PLAIN, null, "backend=qwen-cloud");

    assertThat(exit).isEqualTo(1);
    assertThat(out.toString()).contains("FAILED    expected backend=qwen-cloud, got qwen-local");
  }

  @Test
  void everyExpectationIsShownWithWhatWasGot() throws IOException {
    int exit =
        test(
            "burst-to-cloud",
            null,
            PLAIN,
            "busy",
            "backend=qwen-cloud",
            "never=qwen-local",
            "never=qwen-cloud",
            "status=503",
            "status=200",
            "queued=true",
            "policy=default");

    assertThat(exit).isEqualTo(1);
    assertThat(out.toString())
        .endsWith(
            """
            passed    backend=qwen-cloud
            passed    never=qwen-local, got qwen-cloud of qwen-cloud
            FAILED    expected never=qwen-cloud, got qwen-cloud of qwen-cloud
            FAILED    expected status=503, got 200
            passed    status=200
            FAILED    expected queued=true, got false
            FAILED    expected policy=default, got burst-to-cloud
            """);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "status=abc",
        "status=99",
        "status=2000",
        "status=queued",
        "status=20x",
        "queued=yes",
        "nonsense",
        "backend=",
        "=x",
        "colour=red"
      })
  void anExpectationThatNothingCouldMeetIsAWrongOption(String expectation) throws IOException {
    assertThat(test("burst-to-cloud", null, PLAIN, null, expectation)).isEqualTo(2);
    assertThat(out.toString()).contains("'" + expectation + "' is no expectation", "Usage:");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "pools: {qwne: []} | pools.qwne: the configuration has no pool 'qwne'; there are: default/qwen",
        "pools: {other/qwen: []} | pools.other/qwen: the configuration has no pool 'other/qwen'",
        "pools: {qwen: } | pools.qwen takes a list of workers ([] for none), not nothing",
        "pools: {qwen: {name: w0}} | pools.qwen takes a list of workers ([] for none), not fields",
        "pools: {qwen: [w0]} | pools.qwen[0] takes the fields cachedTokens,",
        "pools: {qwen: [{queued: 1}]} | pools.qwen[0] has no 'queued'; known are [cachedTokens,",
        "pools: {qwen: [{}, {queuedPrompts: -1}]} | pools.qwen[1].queuedPrompts takes a whole number, 0 or more, not -1",
        "pools: {qwen: [{queuedPrompts: 1.5}]} | queuedPrompts takes a whole number, 0 or more, not 1.5",
        "pools: {qwen: [{queuedPrompts: many}]} | queuedPrompts takes a whole number, 0 or more, not 'many'",
        "pools: {qwen: [{queuedPrompts: 99999999999999999999}]} | queuedPrompts takes a whole number",
        "pools: {qwen: [{runningRequests: -2}]} | runningRequests takes a whole number, 0 or more, not -2",
        "pools: {qwen: [{cachedTokens: [1]}]} | cachedTokens takes a whole number, 0 or more, not a list",
        "pools: {qwen: [{kvCacheUsage: 1.1}]} | kvCacheUsage takes a number from 0 to 1, not 1.1",
        "pools: {qwen: [{kvCacheUsage: -0.1}]} | kvCacheUsage takes a number from 0 to 1, not -0.1",
        "pools: {qwen: [{kvCacheUsage: .nan}]} | kvCacheUsage takes a number from 0 to 1",
        "pools: {qwen: [{kvCacheUsage: 90%}]} | kvCacheUsage takes a number from 0 to 1, not '90%'",
        "pools: {qwen: [{ready: maybe}]} | pools.qwen[0].ready takes true or false, not 'maybe'",
        "pools: {qwen: [{ready: 1}]} | ready takes true or false, not 1",
        "pools: {qwen: [{ready: }]} | ready takes true or false, not nothing",
        "pools: {qwen: [{name: }]} | name takes a text, not nothing",
        "pools: {qwen: [{set: h200}]} | pools.qwen[0].set: the configuration has no worker set 'h200'; there are: default/",
        "pools: {qwen: [{predictedTtft: soon}]} | pools.qwen[0].predictedTtft takes a duration (400ms, 2s), not 'soon'",
        "pools: {qwen: [{predictedTtft: -1s}]} | predictedTtft takes a duration (400ms, 2s), not '-1s'",
        "providers: {cluod: {}} | providers.cluod: the configuration has no provider 'cluod'; there are: default/",
        "providers: [cloud] | providers takes names with values, not a list",
        "labels: {pii: [a]} | labels.pii takes a text, not a list",
        "labels: absent | labels takes names with values, not 'absent'",
        "workers: {} | the state has no 'workers'; known are [labels, pools, providers]",
        "busy | the state takes the fields labels, pools, providers, not 'busy'"
      })
  void aStateThatCannotBeMeantIsRefusedByFieldAndReason(String text, String reason)
      throws IOException {
    Files.writeString(folder.resolve("wrong.yaml"), text);
    assertThat(test("burst-to-cloud", null, PLAIN, "wrong")).as(text).isEqualTo(2);
    assertThat(out.toString())
        .contains(folder.resolve("wrong.yaml") + ": ", reason)
        .doesNotContain("Exception", "Usage:");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "# all idle",
        "pools: ",
        "pools: {default/qwen: [{name: 0, ready: true, kvCacheUsage: 1, queuedPrompts: 0}]}",
        "pools: {qwen: [{}]}\nlabels: {pii: absent, code: true}"
      })
  void aStateMayLeaveOutWhatIsIdle(String text) throws IOException {
    Files.writeString(folder.resolve("right.yaml"), text);
    assertThat(test("burst-to-cloud", null, PLAIN, "right")).as(out::toString).isZero();
  }

  @Test
  void helpNamesEverythingThatCanBeExpected() {
    assertThat(run("test", "--help")).isZero();
    for (Expectation.Subject subject : Expectation.Subject.values()) {
      assertThat(out.toString()).contains(subject.name().toLowerCase(Locale.ROOT) + "=");
    }
    assertThat(out.toString())
        .contains("backend=none", "policy=default", "queued=true", "queued=false");
  }

  @Test
  void whatWasRemovedIsToldWithCausePolicyAndReason() throws IOException {
    assertThat(test("pii-stays-local", null, CARD, "down")).isZero();
    assertThat(out.toString())
        .containsPattern("removed   tier 1: qwen-local, unavailable: [a-z]")
        .containsPattern("removed   tier [12]: qwen-cloud, constraint of pii-stays-local: [a-z]");
  }

  @Test
  void anExpectationOfAPolicyThatIsNotThereNamesThoseThatAre() throws IOException {
    assertThat(test("burst-to-cloud", null, PLAIN, null, "policy=burst")).isEqualTo(2);
    assertThat(out.toString()).contains("no policy 'burst'", "burst-to-cloud, and default");
  }

  @Test
  void aTenantThatIsNotThereIsToldThoseThatAre() throws IOException {
    assertThat(test("batch-on-idle", "ghost", PLAIN, null)).isEqualTo(2);
    assertThat(out.toString())
        .contains("no tenant 'ghost'; there are: default/interactive, default/nightly");
    out.getBuffer().setLength(0);
    assertThat(test("burst-to-cloud", "ghost", PLAIN, null)).isEqualTo(2);
    assertThat(out.toString()).contains("no tenant 'ghost'; the configuration has none");
  }

  @Test
  void anExpectationOfABackendThatIsNotThereIsExitCode2() throws IOException {
    assertThat(test("burst-to-cloud", null, PLAIN, null, "never=cloud")).isEqualTo(2);
    assertThat(test("burst-to-cloud", null, PLAIN, null, "backend=qwen-locl")).isEqualTo(2);
    assertThat(test("burst-to-cloud", null, PLAIN, null, "never=qwen-cloud")).isEqualTo(1);
  }

  @Test
  void whatCannotBeReadIsExitCode2() throws IOException {
    assertThat(test("burst-to-cloud", null, PLAIN, null, "nonsense")).isEqualTo(2);
    assertThat(out.toString()).as("a wrong option shows how it is used").contains("Usage:");
    out.getBuffer().setLength(0);

    assertThat(test("burst-to-cloud", "nobody", PLAIN, null)).isEqualTo(2);
    assertThat(test("no-such-recipe", null, PLAIN, null)).isEqualTo(2);
    assertThat(out.toString())
        .as("wrong data is a sentence")
        .contains("nobody", "no-such-recipe.yaml")
        .doesNotContain("Usage:", "Exception");
  }

  @Test
  void diffShowsWhatWouldGoElsewhere() throws IOException {
    Path next = folder.resolve("next.yaml");
    Files.writeString(
        next,
        Files.readString(RECIPES.resolve("burst-to-cloud.yaml"))
            + """
            ---
            apiVersion: inference.warmpath.dev/v1alpha1
            kind: InferencePolicy
            metadata: {name: pii}
            spec:
              constraints: [{name: stays, when: "labels.pii != 'absent'", exclude: backend.external}]
            """);
    Path recorded = folder.resolve("recorded.jsonl");
    Files.writeString(recorded, body(PLAIN) + "\n{\"body\":" + body(CARD) + "}\n\n");

    int exit =
        run(
            "diff",
            RECIPES.resolve("burst-to-cloud.yaml").toString(),
            next.toString(),
            "--requests",
            recorded.toString());

    assertThat(exit).isEqualTo(1);
    assertThat(out.toString())
        .isEqualToNormalizingNewlines(
            """
            request 2: qwen-local of qwen-local, then qwen-cloud  =>  qwen-local of qwen-local
            1 of 2 requests would be treated otherwise
            """);
    out.getBuffer().setLength(0);
    assertThat(run("diff", next.toString(), next.toString(), "--requests", recorded.toString()))
        .isZero();
  }

  private void assertPasses(String recipe, String text, @Nullable String state, String... expected)
      throws IOException {
    assertPassesFor(null, recipe, text, state, expected);
  }

  private void assertPassesFor(
      @Nullable String tenant,
      String recipe,
      String text,
      @Nullable String state,
      String... expected)
      throws IOException {
    assertThat(test(recipe, tenant, text, state, expected)).as(out::toString).isZero();
  }

  private int test(
      String recipe,
      @Nullable String tenant,
      String text,
      @Nullable String state,
      String... expected)
      throws IOException {
    Path request = folder.resolve("request.json");
    Files.writeString(request, body(text));
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "test",
                "-f",
                RECIPES.resolve(recipe + ".yaml").toString(),
                "--request",
                request.toString()));
    if (tenant != null) {
      arguments.addAll(List.of("--tenant", tenant));
    }
    if (state != null) {
      arguments.addAll(List.of("--state", folder.resolve(state + ".yaml").toString()));
    }
    for (String expectation : expected) {
      arguments.addAll(List.of("--expect", expectation));
    }
    return run(arguments.toArray(String[]::new));
  }

  private static String body(String text) {
    return "{\"model\":\"qwen-27b\",\"messages\":[{\"role\":\"user\",\"content\":\""
        + text
        + "\"}]}";
  }

  private int run(String... arguments) {
    List<String> all = new ArrayList<>(List.of("policy"));
    all.addAll(List.of(arguments));
    CommandLine line = Main.commandLine(all.toArray(String[]::new));
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(out, true));
    return line.execute(all.toArray(String[]::new));
  }
}
