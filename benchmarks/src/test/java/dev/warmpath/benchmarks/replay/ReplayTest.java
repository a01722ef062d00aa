package dev.warmpath.benchmarks.replay;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.simulator.engine.EngineProfile;
import dev.warmpath.simulator.engine.EngineProfiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReplayTest {
  private static final EngineProfile ENGINE = EngineProfiles.named(EngineProfiles.DEFAULT + "-kv8");

  private static Result run(Suite.Row row, String algorithm) {
    return new Replay(
            row.scenario(),
            row.workload().get(),
            algorithm,
            requireNonNull(Suite.algorithms().get(algorithm), algorithm))
        .run();
  }

  @Test
  void everyRuleServesEveryWorkloadAndTheSameSeedGivesTheSameRun() {
    for (String workload : Workloads.names()) {
      for (String algorithm : Suite.algorithms().keySet()) {
        Result first = run(Suite.poisson(workload, 3, ENGINE, 60, 0, 7), algorithm);
        Result second = run(Suite.poisson(workload, 3, ENGINE, 60, 0, 7), algorithm);
        assertThat(first.requests()).as(workload + " " + algorithm).isBetween(50, 60);
        assertThat(first.ttftSeconds())
            .as(workload + " " + algorithm)
            .isEqualTo(second.ttftSeconds());
        if (!workload.equals("churn")) {
          assertThat(first.failed()).as(workload + " " + algorithm).isZero();
        }
      }
    }
  }

  @Test
  void predictionBeatsRandomByTheFactorThatTheProductPromises() {
    Result random = run(Suite.poisson("shared-prefix", 3, ENGINE, 480, 0, 1), "random");
    Result ours = run(Suite.poisson("shared-prefix", 3, ENGINE, 480, 0, 1), "predicted-ttft");
    assertThat(random.ttftP50()).isBetween(6.5, 7.0);
    assertThat(ours.ttftP50()).isLessThanOrEqualTo(0.35);
    assertThat(ours.e2eP50()).isLessThanOrEqualTo(12);
    assertThat(requireNonNull(ours.predictionMedianApe())).isLessThan(0.10);
  }

  @Test
  void aClosedLoopHoldsItsConcurrency() {
    Result result = run(Suite.closed("control", 3, ENGINE, 4, 40, 1), "round-robin");
    assertThat(result.requests()).isEqualTo(40);
    assertThat(result.concurrency()).isEqualTo(4);
  }

  /** Baseline and product are given the same conversations, in whatever order turns end. */
  @Test
  void whatIsSaidDoesNotDependOnTheOrderInWhichTurnsEnd() {
    for (boolean closed : List.of(true, false)) {
      List<List<Integer>> firstServedFirst = conversations(closed, true);
      assertThat(firstServedFirst).hasSize(12).allSatisfy(turns -> assertThat(turns).hasSize(8));
      assertThat(firstServedFirst.stream().distinct().count()).isEqualTo(12);
      assertThat(conversations(closed, false)).isEqualTo(firstServedFirst);
    }
  }

  /** Prompt tokens turn by turn, of conversations in the order in which they began. */
  private static List<List<Integer>> conversations(boolean closed, boolean firstServedFirst) {
    Workload workload =
        closed
            ? Workloads.closed("multi-turn", 4, 96, 5)
            : Workloads.poisson("multi-turn", 3, 96, 0, 5);
    Deque<ReplayRequest> open = new ArrayDeque<>();
    Map<Long, List<Integer>> told = new LinkedHashMap<>();
    Workload.Schedule schedule =
        (atNanos, request) -> {
          open.addLast(request);
          told.computeIfAbsent(request.session(), any -> new ArrayList<>())
              .add(request.prompt().tokens());
        };
    workload.start(schedule);
    while (!open.isEmpty()) {
      workload.ended(firstServedFirst ? open.removeFirst() : open.removeLast(), 0, schedule);
    }
    return List.copyOf(told.values());
  }

  @Test
  void aWorkersCacheIsAsLargeAsAsked() {
    Result small = run(Suite.poisson("shared-prefix", 3, withCache(40_000), 240, 0, 1), "random");
    Result large = run(Suite.poisson("shared-prefix", 3, withCache(800_000), 240, 0, 1), "random");
    assertThat(small.cachedRatio()).isLessThan(0.3);
    assertThat(large.cachedRatio()).isGreaterThan(0.6);
  }

  private static EngineProfile withCache(long tokens) {
    return ENGINE.withCache(ENGINE.cache().withCapacityTokens(tokens));
  }

  @Test
  void failedRequestsCountAgainstTheObjective() {
    Tally tally = new Tally(8);
    for (int i = 0; i < 8; i++) {
      tally.completed(1, 2, 10, 0, 1, null);
    }
    tally.failed(2);
    tally.failed(2);
    Result result = tally.result("w", "poisson", 0, "a", 1, 1, new double[] {1}, 0);
    assertThat(result.failed()).isEqualTo(2);
    assertThat(result.requests()).isEqualTo(10);
    assertThat(result.sloMet()).isFalse();
  }

  @Test
  void equalPrefixesGiveEqualChainsAndADifferenceChangesAllThatFollows() {
    Prompt shared = Prompt.empty().plus(5, 1000);
    long[] a = shared.plus(6, 300).chain(64);
    long[] b = shared.plus(7, 300).chain(64);
    for (int i = 0; i < a.length; i++) {
      if ((i + 1) * 64 <= 1000) {
        assertThat(a[i]).isEqualTo(b[i]);
      } else {
        assertThat(a[i]).isNotEqualTo(b[i]);
      }
    }
    // Where the cut between segments lies must matter: 1000 + 300 is not 999 + 301.
    assertThat(Prompt.empty().plus(5, 999).plus(6, 301).chain(64)[15]).isNotEqualTo(a[15]);
  }

  @Test
  void readsBothTraceFormats(@TempDir Path folder) throws IOException {
    Path mooncake = folder.resolve("mooncake.jsonl");
    Files.writeString(
        mooncake,
        """
        {"timestamp": 0, "input_length": 1100, "output_length": 5, "hash_ids": [0, 1, 2]}
        {"timestamp": 3000, "input_length": 1030, "output_length": 6, "hash_ids": [0, 1, 3]}
        """);
    Path azure = folder.resolve("azure.csv");
    Files.writeString(
        azure,
        """
        TIMESTAMP,ContextTokens,GeneratedTokens
        2023-11-16 18:17:03.9799600,4808,10
        2023-11-16 18:17:04.0319600,3180,8
        """);
    for (Path file : List.of(mooncake, azure)) {
      Result result = run(Suite.trace(file, 2, ENGINE, 10, 1, 1), "predicted-ttft");
      assertThat(result.requests()).isEqualTo(2);
      assertThat(result.failed()).isZero();
    }
    // The second request repeats the first two blocks of 512 tokens.
    Result one = run(Suite.trace(mooncake, 1, ENGINE, 10, 1, 1), "random");
    assertThat(one.cachedRatio()).isEqualTo(1024 / 2130.0);
  }

  @Test
  void chartsNameEveryRule() {
    Result random = run(Suite.closed("shared-prefix", 3, ENGINE, 4, 30, 1), "random");
    Result ours = run(Suite.closed("shared-prefix", 3, ENGINE, 4, 30, 1), "predicted-ttft");
    assertThat(Charts.goodput("goodput", List.of(random, ours)))
        .startsWith("<svg")
        .contains("random", "predicted-ttft")
        .doesNotContain("NaN");
    assertThat(Charts.distribution("ttft", List.of(random, ours)))
        .contains("random", "predicted-ttft")
        .doesNotContain("NaN");
  }
}
