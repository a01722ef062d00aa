package dev.warmpath.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.warmpath.e2e.support.ConfigFolder;
import dev.warmpath.e2e.support.Json;
import dev.warmpath.e2e.support.ScriptedWorker;
import dev.warmpath.e2e.support.SlowStream;
import dev.warmpath.e2e.support.Stack;
import dev.warmpath.e2e.support.StreamLoad;
import dev.warmpath.e2e.support.WireClient;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Policies change a hundred times while streams run: none fails, and no decision mixes two. */
class PoliciesUnderLoadE2E {

  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final int CHANGES = 100;
  private static final int STREAMS = 16;

  @TempDir private Path folder;

  /** Both policies of one version carry its number; a decision must never match unequal ones. */
  private static String policies(int version) {
    String one =
        """
        apiVersion: inference.warmpath.dev/v1alpha1
        kind: InferencePolicy
        metadata: {name: NAME}
        spec:
          priority: PRIORITY
          constraints:
          - {name: of-version-%d, when: "request.promptTokens > 1000000 + %d", exclude: "true", message: never}
        """
            .formatted(version, version);
    return one.replace("NAME", "first-v" + version).replace("PRIORITY", "100")
        + "---\n"
        + one.replace("NAME", "second-v" + version).replace("PRIORITY", "50")
        + "---\n"
        + one.replace("NAME", "steady").replace("PRIORITY", "10");
  }

  @Test
  void nothing_fails_and_each_decision_is_by_one_generation() throws Exception {
    try (ScriptedWorker first =
            ScriptedWorker.start("tiny", new SlowStream(4, Duration.ofMillis(20)));
        ScriptedWorker second =
            ScriptedWorker.start("tiny", new SlowStream(4, Duration.ofMillis(20)))) {
      ConfigFolder config =
          new ConfigFolder(folder.resolve("config"))
              .workerSet(
                  "w",
                  List.of(
                      new ConfigFolder.Worker("w0", first.port()),
                      new ConfigFolder.Worker("w1", second.port())))
              .pool("tiny", "tiny", "w")
              .poolBackend("tiny", "tiny", "tiny")
              .write("policies.yaml", policies(0));
      Set<String> seen = new TreeSet<>();
      int decisions = 0;
      try (Stack stack = Stack.run(folder, config);
          StreamLoad load =
              StreamLoad.start(stack.gateway(), STREAMS, PoliciesUnderLoadE2E::body)) {
        for (int version = 1; version <= CHANGES; version++) {
          config.write("policies.yaml", policies(version));
          int before = load.completed();
          // Some versions are in force for a moment only, others replaced before they are.
          int least = version % 5 == 0 ? STREAMS : 1;
          await("traffic goes on").atMost(PATIENCE).until(() -> load.completed() >= before + least);
          decisions += check(stack, seen);
        }
        String last = "first-v" + CHANGES;
        await("the last version is in force")
            .atMost(PATIENCE)
            .untilAsserted(() -> {
              check(stack, seen);
              assertThat(seen).anyMatch(name -> name.contains(last));
            });
        load.finish();
        assertThat(load.failures().stream().limit(5)).isEmpty();
        assertThat(load.completed()).isGreaterThan(CHANGES);
      }
      assertThat(decisions).isGreaterThan(CHANGES);
      assertThat(seen).as("versions that decided").hasSizeGreaterThan(10);
    }
  }

  private static String body(int number) {
    return "{\"model\":\"tiny\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"number "
        + number
        + "\"}]}";
  }

  /** Looks at the newest decisions; returns how many. */
  private static int check(Stack stack, Set<String> seen) throws IOException {
    JsonNode records =
        Json.MAPPER.readTree(WireClient.get(stack.admin(), "/decisions?last=200").text());
    int count = 0;
    for (JsonNode record : records) {
      Set<String> versions = new HashSet<>();
      Set<String> names = new TreeSet<>();
      for (JsonNode matched : record.path("policy").path("matched")) {
        String name = matched.asString("");
        assertThat(name).as("name#generation").matches("default/[a-z0-9-]+#[0-9]+");
        names.add(name);
        if (name.contains("-v")) {
          versions.add(name.substring(name.indexOf("-v"), name.indexOf('#')));
        }
      }
      assertThat(names).as(record.toString()).hasSize(3);
      assertThat(versions).as(record.toString()).hasSize(1);
      seen.add(names.toString());
      count++;
    }
    return count;
  }
}
