package dev.warmpath.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import tools.jackson.databind.json.JsonMapper;

/** The command line as a user meets it, without starting anything. */
final class CommandLineTest {
  private static final String SOME_ID = "4w9c6qk2m0x7rj5t8ynhz3dfpa";

  private record Outcome(int exit, String out, String err) {}

  private static Outcome execute(String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine line = Main.commandLine(arguments);
    line.setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
    int exit = line.execute(arguments);
    return new Outcome(exit, out.toString(), err.toString());
  }

  @Test
  void versionNamesProductEnvoyAndJvm() {
    Outcome outcome = execute("version");
    assertThat(outcome.exit()).isZero();
    assertThat(outcome.out()).contains("warmpath ", "envoy ", "java ").doesNotContain("${");
  }

  @Test
  void everyCommandHasHelpWithAnExample() {
    for (CommandLine command : Main.commandLine().getSubcommands().values()) {
      String name = command.getCommandName();
      if (name.equals("generate-completion") || command.getCommandSpec().usageMessage().hidden()) {
        continue;
      }
      Outcome help = execute(name, "--help");
      assertThat(help.exit()).as(name).isZero();
      assertThat(help.out()).as(name).contains("Usage: warmpath " + name);
      if (command.getSubcommands().isEmpty()) {
        assertThat(help.out()).as(name).contains("xample");
      }
    }
  }

  @Test
  void bootstrapIsWrittenToAFileAsItIsPrinted(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("envoy.yaml");
    String[] printed = {"envoy", "render", "--run-dir", "/run/wp", "--stats", "0.0.0.0:9902"};
    String[] written = {
      "envoy", "render", "--run-dir", "/run/wp", "--stats", "0.0.0.0:9902", "--output", "" + file
    };
    assertThat(execute(written).out()).isEmpty();
    assertThat(Files.readString(file))
        .isEqualTo(execute(printed).out())
        .contains("warmpath_stats", "envoy-admin.sock");
  }

  @Test
  void checkWaitsForPagesAndNamesTheOneThatIsMissing() throws Exception {
    AtomicInteger asked = new AtomicInteger();
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/late",
        exchange -> {
          exchange.sendResponseHeaders(asked.incrementAndGet() < 3 ? 503 : 200, -1);
          exchange.close();
        });
    server.start();
    try {
      String base = "http://127.0.0.1:" + server.getAddress().getPort();
      assertThat(execute("check", base + "/late").exit()).isZero();
      assertThat(asked).hasValue(3);
      Outcome missing = execute("check", base + "/late", base + "/nowhere", "--timeout", "0s");
      assertThat(missing.exit()).isEqualTo(1);
      assertThat(missing.err()).contains("/nowhere: 404");
    } finally {
      server.stop(0);
    }
  }

  @Test
  void drainOfAnEnvoyThatIsNotThereFailsAndStillTellsWhoWaits(@TempDir Path folder) {
    Path done = folder.resolve("done");
    Outcome drain = execute("envoy", "drain", "--run-dir", "" + folder, "--done", "" + done);
    assertThat(drain.exit()).isNotZero();
    assertThat(done).exists();
  }

  @Test
  void unknownCommandAndOptionAreNamed() {
    assertThat(execute("serve").exit()).isEqualTo(2);
    assertThat(execute("serve").err()).contains("serve");
    assertThat(execute("run", "--config", "x", "--prot", "1").err()).contains("--prot");
  }

  @Test
  void completionScriptKnowsTheCommands() {
    Outcome outcome = execute("generate-completion");
    assertThat(outcome.exit()).isZero();
    assertThat(outcome.out()).contains("explain", "xds-server", "--time-scale");
  }

  @Test
  void validateSaysWhatIsWrongAndWhere(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("pool.yaml");
    Files.writeString(
        file,
        """
        apiVersion: inference.warmpath.dev/v1alpha1
        kind: InferencePool
        metadata: {name: qwen}
        spec:
          modle: m
          workerSets: [{name: absent}]
        """);
    ValidateCommand.Report report = ValidateCommand.check(List.of(folder));
    assertThat(report.hasErrors()).isTrue();
    assertThat(report.problems())
        .anySatisfy(problem -> {
          assertThat(problem.toString()).contains("pool.yaml:5", "modle");
        });
    assertThat(execute("validate", folder.toString()).exit()).isEqualTo(1);
  }

  @Test
  void validateNeedsSomethingToRead(@TempDir Path folder) {
    assertThat(execute("validate").exit()).isEqualTo(2);
    assertThat(execute("validate", folder.toString()).err()).contains("no *.yaml");
    assertThat(execute("validate", folder.resolve("absent").toString()).err()).contains("absent");
  }

  @Test
  void validateOfFilesWithoutAnyResourceIsExitCode2(@TempDir Path folder) throws IOException {
    Path file = folder.resolve("a.yaml");
    for (String text : List.of("", "\n", "# later\n", "---\n---\n", "---\n# a\n...\n")) {
      Files.writeString(file, text);
      for (Path source : List.of(file, folder)) {
        Outcome outcome = execute("validate", source.toString());
        assertThat(outcome.exit()).as("'" + text + "'").isEqualTo(2);
        assertThat(outcome.err()).contains("nothing to check: no resource in " + source);
      }
    }
    Files.writeString(
        folder.resolve("b.yaml"),
        """
        apiVersion: inference.warmpath.dev/v1alpha1
        kind: InferenceTenant
        metadata: {name: team}
        spec: {apiKeys: [{secret: {name: s, key: k}}]}
        """);
    assertThat(execute("validate", folder.toString()).exit())
        .as("comments beside a resource")
        .isNotEqualTo(2);
  }

  @Test
  void validateChecksTheOtherFilesWhereSomeCantBeRead(@TempDir Path temporary) throws Exception {
    Path folder = Files.createDirectory(temporary.resolve("folder"));
    Files.write(
        folder.resolve("a-latin1.yaml"), "# caf\u00e9\n".getBytes(StandardCharsets.ISO_8859_1));
    Files.write(folder.resolve("b-utf16.yaml"), "kind: X\n".getBytes(StandardCharsets.UTF_16));
    Files.createSymbolicLink(folder.resolve("c-nothing.yaml"), folder.resolve("gone"));
    Files.createSymbolicLink(folder.resolve("d-loop.yaml"), folder.resolve("d-loop.yaml"));
    // A file that opens and can't be read, for every user.
    Files.createSymbolicLink(folder.resolve("e-broken.yaml"), Path.of("/proc/self/mem"));
    Files.writeString(folder.resolve("f-cut.yaml"), "kind: InferencePool\nspec: {model: [1, ");
    Files.write(folder.resolve("g-zeros.yaml"), new byte[8]);
    Files.createDirectory(folder.resolve("h-folder.yaml"));
    Files.writeString(
        folder.resolve("z-pool.yaml"),
        """
        apiVersion: inference.warmpath.dev/v1alpha1
        kind: InferencePool
        metadata: {name: qwen}
        spec: {modle: m, workerSets: [{name: absent}]}
        """);
    Path absent = temporary.resolve("absent");

    ValidateCommand.Report report = ValidateCommand.check(List.of(absent, folder));
    Outcome outcome = execute("validate", folder.toString(), "-f", absent.toString());

    assertThat(report.unreadable())
        .hasSize(6)
        .anySatisfy(fault -> assertThat(fault).endsWith("a-latin1.yaml: not UTF-8 text"))
        .anySatisfy(fault -> assertThat(fault).endsWith("b-utf16.yaml: not UTF-8 text"))
        .anySatisfy(fault ->
            assertThat(fault).endsWith("c-nothing.yaml: a link to a file that is not there"))
        .anySatisfy(fault -> assertThat(fault).contains("d-loop.yaml: can't be read: "))
        .anySatisfy(fault -> assertThat(fault).contains("e-broken.yaml: can't be read: "))
        .contains("no such file or folder: " + absent);
    assertThat(report.problems())
        .anySatisfy(problem -> assertThat(problem.toString()).contains("f-cut.yaml:2"))
        .anySatisfy(problem -> assertThat(problem.toString()).contains("g-zeros.yaml:1"))
        .anySatisfy(problem -> assertThat(problem.toString()).contains("z-pool.yaml:4", "modle"));
    assertThat(outcome.exit()).isEqualTo(2);
    assertThat(outcome.err())
        .contains("warmpath: " + folder + "/a-latin1.yaml: not UTF-8 text")
        .contains("warmpath: no such file or folder: " + absent)
        .doesNotContain("Exception");
  }

  static List<String> commandsThatReadAFile() {
    return List.of(
        "validate FILE",
        "validate -f FILE",
        "validate FOLDER",
        "run --config FOLDER",
        "policy test -f FILE --request GOOD",
        "policy test -f FOLDER --request GOOD",
        "policy test -f GOOD --request GOOD --state FILE",
        "policy diff FILE GOOD --requests GOOD",
        "policy diff GOOD GOOD --requests FILE",
        "envoy validate FILE");
  }

  @ParameterizedTest
  @MethodSource("commandsThatReadAFile")
  void aFileThatIsNoTextIsNamed(String command, @TempDir Path temporary) throws Exception {
    Path folder = Files.createDirectory(temporary.resolve("folder"));
    Path file = folder.resolve("latin1.yaml");
    Files.write(file, "# caf\u00e9\n".getBytes(StandardCharsets.ISO_8859_1));
    Path good = Path.of("..", "crds", "examples", "recipes", "burst-to-cloud.yaml");

    Outcome outcome =
        execute(
            command
                .replace("FILE", file.toString())
                .replace("FOLDER", folder.toString())
                .replace("GOOD", good.toString())
                .split(" "));

    assertThat(outcome.exit()).as(outcome.err()).isEqualTo(2);
    assertThat(outcome.err())
        .contains("latin1.yaml: not UTF-8 text")
        .doesNotContain("Usage:", "Exception");
  }

  @Test
  void aTraceThatIsNoTextIsNamed(@TempDir Path folder) throws Exception {
    Path trace = folder.resolve("trace.jsonl");
    Files.write(trace, new byte[] {'{', (byte) 0xe9, '}', '\n'});

    Outcome outcome = execute("replay", "--trace", trace.toString());

    assertThat(outcome.exit()).isNotZero();
    assertThat(outcome.err()).contains("trace.jsonl: not UTF-8 text").doesNotContain("Malformed");
  }

  @Test
  void aFileThatIsNotThereIsNamed(@TempDir Path folder) throws Exception {
    for (String command : commandsThatReadAFile()) {
      String absent = folder.resolve("absent").toString();
      Outcome outcome =
          execute(
              command
                  .replace("FILE", absent)
                  .replace("FOLDER", absent)
                  .replace("GOOD", absent)
                  .split(" "));
      assertThat(outcome.exit()).as(command).isEqualTo(2);
      assertThat(outcome.err()).as(command).contains("no such", absent).doesNotContain("Usage:");
    }
  }

  @Test
  void pagesAreAUrlOrAHostAndPort() throws Exception {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/decisions",
        exchange -> {
          exchange.sendResponseHeaders(200, 2);
          exchange.getResponseBody().write("[]".getBytes(StandardCharsets.UTF_8));
          exchange.close();
        });
    server.start();
    try {
      String address = "127.0.0.1:" + server.getAddress().getPort();
      for (String pages : List.of(address, "http://" + address, "http://" + address + "/")) {
        assertThat(execute("explain", "--last", "3", "--admin", pages).exit()).as(pages).isZero();
      }
    } finally {
      server.stop(0);
    }
    assertThat(PagesConverter.ofEnvironment("WARMPATH_ADMIN", "localhost:9901"))
        .isEqualTo(URI.create("http://localhost:9901"));
    assertThat(PagesConverter.ofEnvironment("WARMPATH_ADMIN", "[::1]:9901"))
        .isEqualTo(URI.create("http://[::1]:9901"));
    for (String wrong : List.of("ftp://x:1", "unix:/run/x.sock", ":9901", "a b:1")) {
      assertThatThrownBy(() -> PagesConverter.ofEnvironment("WARMPATH_ADMIN", wrong))
          .hasMessageContaining("WARMPATH_ADMIN: '" + wrong + "' is neither HOST:PORT nor a URL");
      assertThat(execute("explain", "--last", "3", "--admin", wrong).err()).contains(wrong);
    }
  }

  @Test
  void aTextThatIsNoIdIsSaidToBeNone() {
    for (String text :
        List.of(
            "nonsense",
            "3b6f2f0e-6a54-4f0c-9b3f-0f1f8f2c7d11",
            SOME_ID + "0",
            SOME_ID.toUpperCase(Locale.ROOT),
            "../workers",
            "4w9c6qk2m0x7rj5t8ynhz3dfpi")) {
      Outcome outcome = execute("explain", text, "--admin", "http://127.0.0.1:1");
      assertThat(outcome.exit()).as(text).isEqualTo(2);
      assertThat(outcome.err())
          .contains("'" + text + "' is no id of a decision", "x-warmpath-decision")
          .doesNotContain("no gateway");
    }
  }

  @Test
  void failuresAreSentencesNotStackTraces(@TempDir Path folder) {
    Outcome run = execute("run", "--config", folder.resolve("absent").toString());
    assertThat(run.exit()).isEqualTo(2);
    assertThat(run.err()).contains("no such folder").doesNotContain("\tat ");
    Outcome explain = execute("explain", SOME_ID, "--admin", "http://127.0.0.1:1");
    assertThat(explain.exit()).isEqualTo(1);
    assertThat(explain.err())
        .contains("no gateway at http://127.0.0.1:1 (nobody listens)")
        .doesNotContain("\tat ");
    assertThat(execute("explain").exit()).isEqualTo(2);
    assertThat(execute("xds-server", "--config", folder.toString()).err()).contains("--run-dir");
    assertThat(execute("envoy", "render", "--body-limit", "10").err()).contains("1048576");
  }

  @Test
  void renderPrintsTheBootstrapWithTheGivenAddresses() {
    Outcome outcome = execute("envoy", "render", "--listen", "0.0.0.0:80", "--run-dir", "/run/wp");
    assertThat(outcome.exit()).isZero();
    assertThat(outcome.out())
        .contains(
            "address: \"0.0.0.0\", port_value: 80", "/run/wp/ext-proc.sock", "/run/wp/xds.sock");
  }

  @Test
  void durationsAreReadAsInResources() {
    DurationConverter converter = new DurationConverter();
    assertThat(converter.convert("250ms")).isEqualTo(Duration.ofMillis(250));
    assertThat(converter.convert("1.5s")).isEqualTo(Duration.ofMillis(1500));
    assertThat(converter.convert("2m")).isEqualTo(Duration.ofMinutes(2));
    assertThat(execute("run", "--config", "x", "--grace", "soon").err()).contains("no duration");
  }

  @Test
  void numbersThatMakeNoSenseAreRefused() {
    for (String[] line :
        new String[][] {
          {"replay", "--workload", "control", "--workers", "0"},
          {"replay", "--workload", "control", "--requests", "0"},
          {"replay", "--workload", "control", "--trials", "-1"},
          {"replay", "--workload", "control", "--kv-cache-tokens", "100"},
          {"replay", "--workload", "control", "--kv-cache-tokens", "-5"},
          {"demo", "--once", "--requests", "-5"},
          {"demo", "--once", "--workers", "0"},
          {"demo", "--once", "--rate", "0"},
          {"explain", "--last", "0"},
          {"explain", "--last", "-3"},
          {"replay", "--workload", "control", "--rate", "-1"},
          {"replay", "--workload", "control", "--rate", "NaN"},
          {"replay", "--workload", "control", "--rate", "Infinity"},
          {"replay", "--workload", "control", "--rate", "1e-300"},
          {"replay", "--workload", "control", "--rate", "1e300"},
          {"replay", "--workload", "control", "--concurrency", "0"},
          {"replay", "--workload", "control", "--mode", "closed", "--concurrency", "4,-1"},
          {"replay", "--workload", "control", "--noise", "-1"},
          {"replay", "--workload", "control", "--noise", "NaN"},
          {"replay", "--workload", "control", "--noise", "1e300"},
          {"replay", "--workload", "control", "--stretch", "-1"},
          {"replay", "--workload", "control", "--stretch", "NaN"}
        }) {
      Outcome outcome = execute(line);
      assertThat(outcome.exit()).as(String.join(" ", line)).isEqualTo(2);
      assertThat(outcome.err())
          .as(String.join(" ", line))
          .contains(line[line.length - 2])
          .doesNotContain("maxBatchedTokens");
    }
  }

  @Test
  void theSmallestRateThatIsTakenComesToAnEnd() {
    for (String workload : List.of("control", "multi-turn", "churn")) {
      Outcome outcome = execute("replay", "--workload", workload, "--rate", "0.001");
      assertThat(outcome.exit()).as(workload + outcome.err()).isZero();
    }
  }

  @Test
  void aFolderThatReplayCantUseIsNamedInASentence(@TempDir Path folder) throws IOException {
    Path file = Files.writeString(folder.resolve("file"), "");
    Path missing = folder.resolve("missing");
    Path empty = Files.createDirectory(folder.resolve("empty"));
    String[] suite = {"replay", "--suite", "all", "--traces"};
    for (var fault :
        Map.of(
                missing, "no such file or folder: " + missing,
                file, file + ": is a file, not a folder",
                empty, "no *.jsonl or *.csv file in " + empty)
            .entrySet()) {
      Outcome outcome = execute(suite[0], suite[1], suite[2], suite[3], "" + fault.getKey());
      assertThat(outcome.exit()).isEqualTo(2);
      assertThat(outcome.err())
          .isEqualToNormalizingNewlines("warmpath: " + fault.getValue() + "\n");
    }
    Outcome written =
        execute("replay", "--workload", "control", "--requests", "2", "--out", "" + file);
    assertThat(written.exit()).isEqualTo(2);
    assertThat(written.err()).contains(file + ": is a file, not a folder");
  }

  @Test
  void explainTakesAnIdOrANumberAndSaysWhichIsWrong() {
    assertThat(execute("explain").err()).contains("which decision?");
    Outcome both = execute("explain", "4w9c6qk2m0x7rj5t8ynhz3dfpa", "--last", "2");
    assertThat(both.exit()).isEqualTo(2);
    assertThat(both.err()).contains("the id of a decision or --last N, not both");
  }

  @Test
  void aBackendThatWasLeftOutIsToldWithCauseAndGeneration() {
    assertThat(
            one(
                """
                {"id":"d1","at":"t","model":"m","promptTokens":1,"candidates":[],"removed":[
                 {"backend":"default/qwen-local#3","cause":"UNAVAILABLE","by":"",
                  "detail":"none of its 2 workers is ready"},
                 {"backend":"default/cloud","cause":"CONSTRAINT","by":"default/pii#12",
                  "detail":"stays #1"},
                 {"backend":"default/other","cause":"ENDPOINT_FILTER","by":"","detail":""}],
                 "policy":{"decidedBy":"default/pii#12","failures":["default/pii#12 when: no #5"]},
                 "attempts":[],"outcome":"COMPLETED"}
                """))
        .contains(
            """
            left out default/qwen-local (generation 3): unavailable: none of its 2 workers is ready
            left out default/cloud: constraint by default/pii (generation 12): stays #1
            left out default/other: endpoint filter
            policy   default/pii (generation 12)
            failed   default/pii (generation 12) when: no #5\
            """);
  }

  @Test
  void aTraceThatCantBeReadIsNamed(@TempDir Path folder) throws IOException {
    Path missing = folder.resolve("none.jsonl");
    assertThat(execute("replay", "--trace", missing.toString()).err())
        .contains("no such file: " + missing);
    for (String[] file :
        new String[][] {
          {"a.jsonl", "{bad"},
          {"b.jsonl", "{\"timestamp\": 1}"},
          {"c.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\nyesterday,1,2\n"},
          {"d.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.97,x,2\n"},
          {"e.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.97\n"}
        }) {
      Path trace = Files.writeString(folder.resolve(file[0]), file[1]);
      assertThat(execute("replay", "--trace", trace.toString()).err())
          .contains(trace + ": request 1 is not one of this format")
          .doesNotContain("Exception");
    }
  }

  @Test
  void decisionIsReadable() {
    String record =
        """
        {"id":"d1","requestId":"r","at":"2026-11-29T20:12:55.760Z","operation":"/v1/chat/completions",
         "tenant":"team-a","model":"qwen","upstreamModel":"Qwen/Q","promptTokens":16269,
         "candidates":[
          {"worker":"w0","rank":1,"inFlight":2,"cachedTokens":15680,
           "cacheKnowledge":"EXACT","queueSeconds":0.0,
           "workSeconds":0.022,"frontEndSeconds":0.03,"stepSeconds":0.004,"predictedSeconds":0.0568,
           "medianSeconds":0.0517},
          {"worker":"w2","rank":2,"inFlight":6,"cachedTokens":0,
           "cacheKnowledge":"APPROXIMATE","queueSeconds":1.5,
           "workSeconds":0.244,"predictedSeconds":1.779}],
         "candidateCount":3,"removed":[],"algorithm":"PredictedTTFT","policy":{"labels":{}},
         "attempts":[{"worker":"w0"}],"decisionMicros":265.5,"outcome":"COMPLETED",
         "predictedTtftSeconds":0.0517,"actualTtftSeconds":0.0633,"totalSeconds":0.633,
         "usage":{"promptTokens":16269,"cachedTokens":15680,"completionTokens":256}}
        """;
    String text = String.join("\n", DecisionView.one(JsonMapper.shared().readTree(record)));
    assertThat(text)
        .contains(
            "decision d1",
            "completed",
            "tenant team-a",
            "->  w0",
            "1.78 s",
            "chosen by PredictedTTFT among 3",
            "first token after 63.3 ms (predicted 51.7 ms)",
            "15680 of them cached")
        .containsPattern("->  w0 +51.7 ms +15680  exact .* 34.0 ms +56.8 ms")
        .containsPattern(" 2  w2 +1.78 s +0  approximate ");
    String list =
        String.join("\n", DecisionView.list(JsonMapper.shared().readTree("[" + record + "]")));
    assertThat(list).contains("20:12:55.760", "d1", "w0", "51.7 ms", "completed");
    assertThat(DecisionView.list(JsonMapper.shared().readTree("[]")))
        .containsExactly("no decision yet");
  }

  @Test
  void aRequestThatWasNeverReadIsToldInASentence() {
    String refused =
        """
        {"id":"d1","at":"2026-11-29T20:12:55.760Z","operation":"%s","tenant":"%s","model":"",
         "promptTokens":0,"candidates":[],"algorithm":"PredictedTTFT","attempts":[],
         "refusal":{"status":%d,"code":"%s","message":"No."}}
        """;
    assertThat(one(refused.formatted("/v1/chat/completions", "", 401, "invalid_api_key")))
        .isEqualTo(
            """
            decision d1  2026-11-29T20:12:55.760Z  refused: invalid_api_key
            request  /v1/chat/completions, refused before its model and prompt were known
            refused  401 invalid_api_key: No.\
            """);
    assertThat(one(refused.formatted("", "", 404, "unknown_path")))
        .contains("\nrequest  refused before its model and prompt were known\n");
    assertThat(one(refused.formatted("/v1/messages/count_tokens", "a", 400, "invalid_json")))
        .contains(
            "\nrequest  /v1/messages/count_tokens, refused before its model and prompt were known,"
                + " tenant a\n");
    String left =
        refused
            .formatted("/v1/messages", "", 400, "x")
            .replaceFirst("\"refusal\":.*", "\"outcome\":\"CLIENT_GONE\"}");
    assertThat(one(left))
        .isEqualTo(
            """
            decision d1  2026-11-29T20:12:55.760Z  client gone
            request  /v1/messages, ended before its body was complete: the client left, or sent\
             more than the limit\
            """);
    assertThat(
            DecisionView.list(
                JsonMapper.shared()
                    .readTree("[" + refused.formatted("", "", 404, "unknown_path") + "]")))
        .last()
        .asString()
        .contains("d1", "(not read)", "refused: unknown_path")
        .doesNotContain(" 0 ");
  }

  private static String one(String record) {
    return String.join("\n", DecisionView.one(JsonMapper.shared().readTree(record)));
  }

  @Test
  void failedRequestsNeverLookFast() {
    List<DemoLoad.Sample> samples =
        List.of(
            new DemoLoad.Sample(1_000_000, 2_000_000, 10, 5, null),
            new DemoLoad.Sample(3_000_000, 4_000_000, 10, 5, null),
            new DemoLoad.Sample(10, 10, 0, 0, "503"),
            new DemoLoad.Sample(10, 10, 0, 0, "503"));
    DemoResult result = DemoResult.of(samples);
    assertThat(result.failed()).isEqualTo(2);
    assertThat(result.ttftP50Millis()).isEqualTo(3.0);
    assertThat(result.cachedRatio()).isEqualTo(0.5);
  }

  @Test
  void demoWorkloadFollowsFromItsSeed() {
    DemoWorkload one = new DemoWorkload(7, 40, 6);
    DemoWorkload same = new DemoWorkload(7, 40, 6);
    assertThat(one.requests())
        .isEqualTo(same.requests())
        .isNotEqualTo(new DemoWorkload(8, 40, 6).requests());
    assertThat(one.body(one.requests().getFirst()))
        .isEqualTo(same.body(same.requests().getFirst()))
        .hasSizeGreaterThan(64_000);
    long last = one.requests().getLast().arrivalNanos();
    assertThat(last / 1e9).isBetween(3.0, 14.0);
  }

  @Test
  void plainTextToOtherMachinesHasToBeAskedFor(@TempDir Path temporary) {
    String folder = temporary.toString();
    Outcome open = execute("xds-server", "--config", folder, "--listen", "0.0.0.0:0");
    assertThat(open.exit()).isEqualTo(2);
    assertThat(open.err()).contains("--tls-cert", "--insecure");

    Outcome anyone =
        execute(
            "xds-server",
            "--config",
            folder,
            "--listen",
            "127.0.0.1:0",
            "--tls-cert",
            "c",
            "--tls-key",
            "k");
    assertThat(anyone.exit()).isEqualTo(2);
    assertThat(anyone.err()).contains("--tls-client-ca or --token-file");

    Outcome half =
        execute("xds-server", "--config", folder, "--listen", "127.0.0.1:0", "--tls-key", "k");
    assertThat(half.exit()).isEqualTo(2);
    assertThat(half.err()).contains("needs its");

    Outcome missing =
        execute(
            "xds-server",
            "--config",
            folder,
            "--listen",
            "127.0.0.1:0",
            "--tls-cert",
            folder + "/c",
            "--tls-key",
            folder + "/k",
            "--tls-client-ca",
            folder + "/a");
    assertThat(missing.exit()).isEqualTo(2);
    assertThat(missing.err()).contains(folder + "/c: there is no such file");

    for (String command : new String[] {"ext-proc", "envoy render"}) {
      List<String> line = new ArrayList<>(List.of(command.split(" ")));
      line.addAll(List.of("--run-dir", folder, "--xds", "xds.example:18000"));
      Outcome remote = execute(line.toArray(String[]::new));
      assertThat(remote.exit()).as(command).isEqualTo(2);
      assertThat(remote.err()).as(command).contains("--xds-ca", "--insecure");
    }
  }

  @Test
  void aBootstrapWithCertificatesComesWithTheFilesItRefersTo(@TempDir Path folder) {
    Path out = folder;
    Outcome rendered =
        execute(
            "envoy",
            "render",
            "--xds",
            "xds.example:18000",
            "--xds-ca",
            "/tls/ca.crt",
            "--xds-cert",
            "/tls/tls.crt",
            "--xds-key",
            "/tls/tls.key",
            "--xds-token-file",
            "/tls/token",
            "--sds-dir",
            "/etc/envoy",
            "--output",
            out.resolve("envoy.yaml").toString());
    assertThat(rendered.exit()).as(rendered.err()).isZero();
    assertThat(out)
        .isDirectoryContaining("glob:**/envoy.yaml")
        .isDirectoryContaining("glob:**/warmpath_xds_authorities.yaml")
        .isDirectoryContaining("glob:**/warmpath_xds_certificate.yaml")
        .isDirectoryContaining("glob:**/warmpath_xds_token.yaml");
    assertThat(out.resolve("envoy.yaml"))
        .content()
        .contains("\"/etc/envoy/warmpath_xds_authorities.yaml\"", "sni: \"xds.example\"");
  }
}
