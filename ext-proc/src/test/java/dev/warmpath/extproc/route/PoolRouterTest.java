package dev.warmpath.extproc.route;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.crds.v1alpha1.PolicySpec;
import dev.warmpath.crds.v1alpha1.PoolSpec;
import dev.warmpath.extproc.candidate.ServedPool;
import dev.warmpath.extproc.candidate.WorkerGauges;
import dev.warmpath.extproc.inflight.InFlightRequest;
import dev.warmpath.extproc.inflight.InFlightRequest.Outcome;
import dev.warmpath.extproc.inflight.InFlightRequest.Usage;
import dev.warmpath.extproc.request.PromptFingerprint;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** The router on a virtual clock: bursts, leaks, overload, stalls, slow workers, many threads. */
class PoolRouterTest {
  private static final long SECOND = 1_000_000_000L;
  private static final int BLOCK_TOKENS = 64;

  private final AtomicLong clock = new AtomicLong(SECOND);
  private final SplittableRandom random = new SplittableRandom(5);
  private final PoolRouter router =
      new PoolRouter(
          8 << 20, clock::get, () -> Instant.EPOCH.plusNanos(clock.get()), new SplittableRandom(9));
  private long ids;

  private void workers(int count) {
    router.apply(Configurations.pool(count, PoolSpec.Algorithm.PredictedTTFT, 0), "v");
  }

  private ServedPool pool() {
    return requireNonNull(router.snapshot().pool(Configurations.CLUSTER));
  }

  private PromptFingerprint prompt(long prefix, int prefixTokens, int uniqueTokens) {
    int blocks = (prefixTokens + uniqueTokens) / BLOCK_TOKENS;
    long[] chain = new long[blocks];
    long unique = random.nextLong();
    for (int i = 0; i < blocks; i++) {
      chain[i] = (i + 1) * BLOCK_TOKENS <= prefixTokens ? prefix * 1_000_003 + i : unique + i;
    }
    return PromptFingerprint.ofTokens(chain, prefixTokens + uniqueTokens, BLOCK_TOKENS);
  }

  private Placement.Placed place(PromptFingerprint prompt) {
    return (Placement.Placed) tryPlace(prompt);
  }

  private Placement tryPlace(PromptFingerprint prompt) {
    return tryPlace(prompt, new DecisionTrace());
  }

  private Placement tryPlace(PromptFingerprint prompt, DecisionTrace trace) {
    return router.place(
        new Placement.Prompt(
            "d" + ids++,
            prompt,
            true,
            List.of(List.of(Target.of(pool()))),
            PolicySpec.Choose.PredictedTTFT,
            0),
        trace);
  }

  private int worker(Placement.Placed placed) {
    for (int i = 0; i < pool().workers().size(); i++) {
      if (pool().workers().get(i).endpoint().equals(placed.destinations().getFirst())) {
        return i;
      }
    }
    throw new IllegalStateException("no such worker");
  }

  @Test
  void burstOfEqualCostSpreadsEvenly() {
    workers(8);
    int[] share = new int[8];
    for (int i = 0; i < 500; i++) {
      clock.addAndGet(2_000); // 500 in a millisecond
      share[worker(place(prompt(1_000_000 + i, 0, 2_048)))]++;
    }
    assertThat(Arrays.stream(share).max().orElse(0)).isLessThanOrEqualTo((int) (500 / 8.0 * 1.25));
  }

  @Test
  void aColdPrefixIsComputedTwiceAtMostUnlessSpreadingIsFaster() {
    workers(8);
    Set<Integer> computed = new HashSet<>();
    int[] share = new int[8];
    for (int i = 0; i < 500; i++) {
      clock.addAndGet(2_000); // 500 in a millisecond
      DecisionTrace trace = new DecisionTrace();
      int chosen = worker((Placement.Placed) tryPlace(prompt(7, 16_000, 256), trace));
      share[chosen]++;
      if (computed.add(chosen) && computed.size() > 2) {
        assertThat(seconds(trace, false)).isLessThanOrEqualTo(1.02 * seconds(trace, true));
      }
      // A few tails wait less for each other than one computation takes.
      if (i < 7) {
        assertThat(computed.size()).as("sibling %d", i).isLessThanOrEqualTo(2);
      }
    }
    // 500 tails are 49 s of work for one worker, so in the end all of them have computed it, and
    // none has got much more than its share.
    assertThat(computed).hasSize(8);
    assertThat(Arrays.stream(share).max().orElse(0)).isLessThanOrEqualTo(2 * 500 / 8);
  }

  /** Those that leave a little later, behind the first one, keep their order among themselves. */
  @Test
  void siblingsOfAColdPromptArePredictedOneBehindTheOther() {
    workers(1);
    double before = 0;
    for (int i = 0; i < 40; i++) {
      clock.addAndGet(1_000_000);
      DecisionTrace trace = new DecisionTrace();
      Placement.Placed placed = (Placement.Placed) tryPlace(prompt(7, 16_000, 256), trace);
      DecisionRecord.Candidate only = trace.record().candidates().getFirst();
      assertThat(only.queueSeconds() + only.frontEndSeconds())
          .as("sibling %d", i)
          .isGreaterThan(before);
      if (i > 0) {
        assertThat(placed.waitNanos()).as("sibling %d", i).isPositive();
        assertThat(only.frontEndSeconds()).isGreaterThan(placed.waitNanos() * 1e-9);
      }
      before = only.queueSeconds() + only.frontEndSeconds();
    }
  }

  /** In a burst, the second of a pair does not end up behind all that comes while it waits. */
  @Test
  void longPromptsDoNotGoBeforeASiblingThatWaits() {
    workers(1);
    place(prompt(7, 16_000, 256));
    Placement.Placed sibling = place(prompt(7, 16_000, 256));
    long leaves = clock.get() + sibling.waitNanos();
    double inFront = 0;
    for (int i = 0; i < 5; i++) {
      clock.addAndGet(1_000_000);
      DecisionTrace trace = new DecisionTrace();
      Placement.Placed other = (Placement.Placed) tryPlace(prompt(20 + i, 16_000, 256), trace);
      assertThat(clock.get() + other.waitNanos()).as("prompt %d", i).isGreaterThanOrEqualTo(leaves);
      DecisionRecord.Candidate only = trace.record().candidates().getFirst();
      double front = only.queueSeconds() + only.frontEndSeconds();
      assertThat(front).as("prompt %d", i).isGreaterThan(inFront + 1);
      inFront = front;
    }
  }

  /** Earliest first token predicted on a worker that holds the prefix, or that does not. */
  private static double seconds(DecisionTrace trace, boolean holding) {
    return trace.record().candidates().stream()
        .filter(candidate -> (candidate.cachedTokens() > 0) == holding)
        .mapToDouble(DecisionRecord.Candidate::predictedSeconds)
        .min()
        .orElseThrow();
  }

  @Test
  void ledgerReturnsToZeroWhateverHappens() {
    workers(4);
    List<Placement.Placed> open = new ArrayList<>();
    for (int step = 0; step < 100_000; step++) {
      clock.addAndGet(random.nextLong(20_000_000));
      if (open.isEmpty() || (open.size() < 200 && random.nextBoolean())) {
        open.add(place(prompt(random.nextInt(30), 4_000, 200)));
        continue;
      }
      int at = random.nextInt(open.size());
      Placement.Placed placed = open.get(at);
      InFlightRequest request = placed.request();
      switch (random.nextInt(10)) {
        case 0, 1, 2 -> request.firstToken(clock.get());
        case 3 ->
            request.attempted(
                placed.destinations().get(random.nextInt(placed.destinations().size())),
                1 + random.nextInt(3));
        case 4 -> request.attempted("203.0.113.9:1", 2);
        case 5 -> request.usage(new Usage(4_200, random.nextBoolean() ? 3_968 : null, 50));
        case 6 -> router.restarted(pool().workers().get(random.nextInt(4)).id());
        default -> {
          Outcome[] outcomes = Outcome.values();
          request.ended(outcomes[random.nextInt(outcomes.length)], clock.get());
          if (random.nextBoolean()) {
            request.ended(Outcome.COMPLETED, clock.get());
            request.firstToken(clock.get());
            request.attempted(placed.destinations().getLast(), 2);
          }
          open.remove(at);
        }
      }
      if (step % 10_000 == 0) {
        workers(3 + random.nextInt(3));
      }
      assertThat(router.activeLeases()).isEqualTo(open.size());
    }
    open.forEach(placed -> placed.request().ended(Outcome.LOST, clock.get()));
    assertThat(router.activeLeases()).isZero();
    assertThat(router.ledger().promptTokens()).isZero();
    assertThat(router.ledger().leaked()).isZero();
    for (int i = 0; i < 50; i++) {
      Placement.Placed placed = place(prompt(3, 0, 640));
      assertThat(placed.medianSeconds()).isLessThan(5 + i);
      placed.request().ended(Outcome.CLIENT_GONE, clock.get());
    }
  }

  /** One request that runs through an engine. */
  private record Running(
      Placement.Placed placed, long atNanos, boolean first, int tokens, int cached) {}

  /** Runs arrivals through serial engines until nothing is left. */
  private final class Fleet {
    private final SerialEngine[] engines;
    private final List<Set<Long>> cached = new ArrayList<>();
    private final PriorityQueue<Running> events =
        new PriorityQueue<>(Comparator.comparingLong(Running::atNanos));
    final List<Double> errors = new ArrayList<>();
    long refused;
    double lastTtftSeconds;

    Fleet(int count) {
      engines = new SerialEngine[count];
      for (int i = 0; i < count; i++) {
        engines[i] = new SerialEngine();
        cached.add(new HashSet<>());
      }
    }

    int arrive(long prefix, int prefixTokens, int uniqueTokens) {
      Placement placement = tryPlace(prompt(prefix, prefixTokens, uniqueTokens));
      if (!(placement instanceof Placement.Placed placed)) {
        refused++;
        return -1;
      }
      int worker = worker(placed);
      int hit = cached.get(worker).add(prefix) ? 0 : prefixTokens;
      SerialEngine.Job job = engines[worker].submit(prefixTokens + uniqueTokens - hit, clock.get());
      events.add(new Running(placed, job.firstTokenNanos, true, prefixTokens + uniqueTokens, hit));
      double actual = (job.firstTokenNanos - clock.get()) * 1e-9;
      errors.add(placed.medianSeconds() / actual);
      lastTtftSeconds = actual;
      return worker;
    }

    void until(long nanos) {
      while (!events.isEmpty() && events.peek().atNanos() <= nanos) {
        Running event = events.remove();
        clock.set(Math.max(clock.get(), event.atNanos()));
        if (event.first()) {
          event.placed().request().firstToken(event.atNanos());
          events.add(
              new Running(
                  event.placed(), event.atNanos() + SECOND, false, event.tokens(), event.cached()));
        } else {
          event.placed().request().usage(new Usage(event.tokens(), event.cached(), 25));
          event.placed().request().ended(Outcome.COMPLETED, event.atNanos());
        }
      }
      clock.set(Math.max(clock.get(), nanos));
    }
  }

  @Test
  void followsAWorkerThatBecomesThreeTimesSlower() {
    workers(1);
    Fleet fleet = new Fleet(1);
    for (int i = 0; i < 60; i++) {
      fleet.arrive(1_000 + i, 0, 5_000);
      fleet.until(clock.get() + 12 * SECOND);
    }
    assertThat(fleet.errors.getLast()).isCloseTo(1, within(0.05));
    fleet.engines[0].nanosPerToken *= 3;
    for (int i = 0; i < 20; i++) {
      fleet.arrive(2_000 + i, 0, 5_000);
      fleet.until(clock.get() + 12 * SECOND);
    }
    assertThat(fleet.errors.getLast()).isCloseTo(1, within(0.15));
  }

  @Test
  void oneStallDoesNotPoisonThePredictor() {
    workers(1);
    Fleet fleet = new Fleet(1);
    for (int i = 0; i < 60; i++) {
      fleet.arrive(1_000 + i, 0, 5_000);
      fleet.until(clock.get() + 12 * SECOND);
    }
    fleet.engines[0].stallUntil(clock.get() + 90 * SECOND);
    for (int i = 0; i < 10; i++) {
      fleet.arrive(2_000 + i, 0, 5_000);
      fleet.until(clock.get() + SECOND);
    }
    fleet.until(clock.get() + 200 * SECOND);
    fleet.arrive(3_000, 0, 5_000);
    assertThat(fleet.errors.getLast()).isCloseTo(1, within(0.2));
  }

  @Test
  void aStalledWorkerRepels() {
    workers(3);
    Fleet fleet = new Fleet(3);
    for (int i = 0; i < 30; i++) {
      fleet.arrive(1_000 + i, 0, 5_000);
      fleet.until(clock.get() + 3 * SECOND);
    }
    fleet.until(clock.get() + 60 * SECOND);
    fleet.engines[0].stallUntil(clock.get() + 90 * SECOND);
    int toStalled = 0;
    for (int i = 0; i < 60; i++) {
      toStalled += fleet.arrive(2_000 + i, 0, 5_000) == 0 ? 1 : 0;
      fleet.until(clock.get() + SECOND + SECOND / 2);
    }
    assertThat(toStalled).isLessThanOrEqualTo(4);
  }

  @Test
  void overloadIsForgottenWithinTwoMinutes() {
    router.apply(Configurations.pool(3, PoolSpec.Algorithm.PredictedTTFT, 24), "v");
    Fleet fleet = new Fleet(3);
    // 5,000 uncached tokens are 2 s, so three workers take 1.5 a second.
    long end = clock.get() + 600 * SECOND;
    for (int i = 0; clock.get() < end; i++) {
      fleet.arrive(100_000 + i, 0, 5_000);
      fleet.until(clock.get() + SECOND / 3);
    }
    assertThat(fleet.refused).isGreaterThan(500);
    // Then half of what they can take.
    for (int i = 0; i < 90; i++) {
      fleet.arrive(900_000 + i, 0, 5_000);
      fleet.until(clock.get() + SECOND * 4 / 3);
    }
    for (int i = 0; i < 10; i++) {
      fleet.arrive(990_000 + i, 0, 5_000);
      assertThat(fleet.lastTtftSeconds).isLessThan(4.5);
      fleet.until(clock.get() + SECOND * 4 / 3);
    }
    fleet.until(clock.get() + 60 * SECOND);
    assertThat(router.activeLeases()).isZero();
  }

  @Test
  void lostEndsAreFoundThroughTheWorkersOwnCounts() {
    workers(2);
    Placement.Placed lost = place(prompt(1, 0, 640));
    int at = worker(lost);
    clock.addAndGet(2 * 3_600 * SECOND);
    router.scraped(
        pool().workers().get(at).id(),
        new WorkerGauges(1, 0, null, null, null, null, null, clock.get()));
    assertThat(router.activeLeases()).as("slow, but the worker still has it").isEqualTo(1);
    assertThat(router.ledger().promptTokens()).isPositive();
    router.scraped(
        pool().workers().get(at).id(),
        new WorkerGauges(0, 0, null, null, null, null, null, clock.get()));
    assertThat(router.activeLeases()).isZero();
    assertThat(router.ledger().leaked()).isEqualTo(1);
  }

  @Test
  void threadsSeeOneLedger() throws InterruptedException {
    workers(5);
    int threads = 4;
    CountDownLatch start = new CountDownLatch(1);
    AtomicLong unique = new AtomicLong();
    try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
      for (int t = 0; t < threads; t++) {
        int seed = t;
        executor.execute(() -> hammer(start, unique, new SplittableRandom(seed)));
      }
      start.countDown();
      executor.shutdown();
      assertThat(executor.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
    }
    assertThat(unique.get()).isEqualTo(threads * 2_000L);
    assertThat(router.activeLeases()).isZero();
    assertThat(router.ledger().reserved()).isEqualTo(threads * 2_000L);
  }

  private void hammer(CountDownLatch start, AtomicLong unique, SplittableRandom own) {
    try {
      start.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return;
    }
    for (int i = 0; i < 2_000; i++) {
      long[] chain = new long[20];
      Arrays.setAll(chain, k -> k < 10 ? k : own.nextLong());
      Placement placement =
          router.place(
              new Placement.Prompt(
                  "t" + unique.incrementAndGet(),
                  PromptFingerprint.ofTokens(chain, 1_300, BLOCK_TOKENS),
                  true,
                  List.of(List.of(Target.of(pool()))),
                  PolicySpec.Choose.PredictedTTFT,
                  0));
      InFlightRequest request = ((Placement.Placed) placement).request();
      request.firstToken(clock.addAndGet(1_000_000));
      request.usage(new Usage(1_300, 640, 5));
      request.ended(Outcome.COMPLETED, clock.addAndGet(1_000_000));
    }
  }
}
