package dev.warmpath.extproc.route;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.crds.v1alpha1.PolicySpec;
import dev.warmpath.extproc.candidate.ServedPool;
import dev.warmpath.extproc.candidate.WorkerGauges;
import dev.warmpath.extproc.candidate.WorkerId;
import dev.warmpath.extproc.inflight.InFlightRequest.Outcome;
import dev.warmpath.extproc.inflight.InFlightRequest.Usage;
import dev.warmpath.extproc.kvcache.CacheChange;
import dev.warmpath.extproc.kvcache.CacheKnowledge;
import dev.warmpath.extproc.kvcache.EventSink;
import dev.warmpath.extproc.prompt.TokenPrompt;
import dev.warmpath.extproc.request.PromptFingerprint;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the router expects of caches that their engines tell of, on a virtual clock. */
class ExactCachesTest {
  private static final long SECOND = 1_000_000_000L;
  private static final int BLOCK = 32;
  private static final int PREFIX = 40 * BLOCK;
  private static final int LENGTH = PREFIX + 50;

  private final AtomicLong clock = new AtomicLong(SECOND);
  private final PoolRouter router =
      new PoolRouter(
          8 << 20, clock::get, () -> Instant.EPOCH.plusNanos(clock.get()), new SplittableRandom(9));
  private final EventSink events = new CacheEvents(router);
  private final SplittableRandom random = new SplittableRandom(4);
  private long ids;
  private long hashes = 1;

  @BeforeEach
  void exactly_known() {
    begin(2);
  }

  private void begin(int workers) {
    router.apply(Configurations.withTokenizer(workers), "v");
    router.tokenizers(path -> "");
    for (int i = 0; i < workers; i++) {
      events.began(id(i), 0, 1, true);
      events.live(id(i), true, "");
      scraped(i, BLOCK);
    }
  }

  private void scraped(int worker, @Nullable Integer blockTokens) {
    router.scraped(
        id(worker), new WorkerGauges(0, 0, 0.0, 65_536L, blockTokens, null, null, clock.get()));
  }

  private ServedPool pool() {
    return requireNonNull(router.snapshot().pool(Configurations.CLUSTER));
  }

  private WorkerId id(int worker) {
    return pool().workers().get(worker).id();
  }

  private WorkerSlot slot(int worker) {
    return requireNonNull(router.state.workers.slot(pool().workers().get(worker)));
  }

  private int expectedBlocks(int worker) {
    return slot(worker).cache().expectedBlocks();
  }

  /** Token ids of a prompt: a shared beginning, and an end of its own. */
  private int[] tokens(int prefix) {
    int[] tokens = new int[LENGTH];
    Arrays.setAll(tokens, i -> i < PREFIX ? prefix * 7_919 + i : random.nextInt(1 << 20));
    return tokens;
  }

  private static PromptFingerprint fingerprint(int[] tokens) {
    long[] chain = new long[tokens.length / BLOCK];
    long name = 17;
    for (int i = 0; i < chain.length; i++) {
      for (int j = 0; j < BLOCK; j++) {
        name = 31 * name + tokens[i * BLOCK + j] + 1;
      }
      chain[i] = name;
    }
    return PromptFingerprint.ofTokens(chain, tokens.length, BLOCK);
  }

  /** A prompt where it went, and what was expected of the worker. */
  @SuppressWarnings("ArrayRecordComponent") // Never compared by its tokens.
  private record Sent(
      Placement.Placed placed, int worker, DecisionRecord.Candidate chosen, int[] tokens) {}

  private Sent send(int[] tokens) {
    return send(tokens, List.of(0, 1, 2), true);
  }

  private Sent send(int[] tokens, List<Integer> workers, boolean inTokens) {
    Target all = Target.of(pool());
    Target some =
        new Target(
            all.backend(),
            all.clusterName(),
            all.upstreamModel(),
            all.pool(),
            all.provider(),
            workers::contains,
            all.inputPricePerMillion());
    DecisionTrace trace = new DecisionTrace();
    Placement.Placed placed =
        (Placement.Placed)
            router.place(
                new Placement.Prompt(
                    "d" + ids++,
                    fingerprint(tokens),
                    true,
                    List.of(List.of(some)),
                    PolicySpec.Choose.PredictedTTFT,
                    0,
                    inTokens
                        ? Map.of(Configurations.TOKENIZER, new TokenPrompt(tokens, null))
                        : Map.of()),
                trace);
    DecisionRecord.Candidate chosen = trace.record().candidates().getFirst();
    return new Sent(placed, Integer.parseInt(chosen.worker().substring(1)), chosen, tokens);
  }

  /** Its engine has computed {@code blocks} of it, and says so. */
  private long[] told(Sent sent, int blocks) {
    long[] names = new long[blocks];
    Arrays.setAll(names, i -> hashes++);
    events.changed(
        id(sent.worker()),
        0,
        List.of(
            new CacheChange.Stored(
                names,
                true,
                0,
                Arrays.copyOf(sent.tokens(), blocks * BLOCK),
                BLOCK,
                0,
                new long[0])),
        clock.get());
    return names;
  }

  private void end(Sent sent, Outcome outcome) {
    sent.placed().request().ended(outcome, clock.get());
  }

  private void answer(Sent sent) {
    sent.placed().request().firstToken(clock.addAndGet(SECOND / 10));
    sent.placed().request().usage(new Usage(LENGTH, sent.chosen().cachedTokens(), 1));
    end(sent, Outcome.COMPLETED);
  }

  @Test
  void what_the_engine_told_is_expected_block_by_block() {
    Sent first = send(tokens(1));
    assertThat(first.chosen().cachedTokens()).isZero();
    assertThat(first.chosen().cacheKnowledge()).isEqualTo(CacheKnowledge.EXACT);
    long[] names = told(first, 41);
    answer(first);

    assertThat(send(tokens(1)).chosen())
        .satisfies(chosen -> {
          assertThat(chosen.worker()).isEqualTo(first.chosen().worker());
          assertThat(chosen.cachedTokens()).isEqualTo(PREFIX);
        });

    clock.addAndGet(60 * SECOND);
    events.changed(
        id(first.worker()),
        0,
        List.of(new CacheChange.Removed(Arrays.copyOfRange(names, 25, 41))),
        clock.get());
    router.scraped(
        id(1 - first.worker()),
        new WorkerGauges(0, 0, 0.0, 65_536L, BLOCK, null, null, clock.get()));
    // The second one still runs, so its blocks are there or on their way.
    assertThat(send(tokens(1), List.of(first.worker()), true).chosen().cachedTokens())
        .isEqualTo(PREFIX);
  }

  @Test
  void the_whole_prompt_is_never_a_hit() {
    int[] even = Arrays.copyOf(tokens(3), PREFIX);
    Sent first = send(even);
    told(first, 40);
    answer(first);

    assertThat(send(even).chosen().cachedTokens()).isEqualTo(PREFIX - BLOCK);
  }

  @Test
  void a_prompt_in_flight_counts_for_those_behind_it_from_the_very_first_on() {
    Sent first = send(tokens(1), List.of(0), true);
    Sent second = send(tokens(1), List.of(0), true);

    assertThat(first.chosen().cachedTokens()).isZero();
    assertThat(second.chosen().cachedTokens()).isEqualTo(PREFIX);
  }

  @ParameterizedTest(name = "in tokens: {0}")
  @ValueSource(booleans = {true, false})
  void a_prompt_leaves_after_the_one_that_computes_its_beginning(boolean inTokens) {
    Sent first = send(tokens(1), List.of(0), inTokens);
    clock.addAndGet(SECOND / 200);
    Sent behind = send(tokens(1), List.of(0), inTokens);
    Sent different = send(tokens(2), List.of(0), inTokens);
    Sent elsewhere = send(tokens(1), List.of(1), inTokens);
    clock.addAndGet(SECOND / 10);
    Sent later = send(tokens(1), List.of(0), inTokens);

    assertThat(first.placed().waitNanos()).isZero();
    assertThat(behind.placed().waitNanos())
        .as("a quarter of half a second, but not more than a tenth, after the first")
        .isEqualTo(SECOND / 10 - SECOND / 200);
    assertThat(different.placed().waitNanos())
        .as("as long as the first, it does not go before the one that waits")
        .isEqualTo(behind.placed().waitNanos());
    assertThat(elsewhere.placed().waitNanos()).isZero();
    assertThat(later.placed().waitNanos()).as("the first one is long there").isZero();
  }

  @ParameterizedTest(name = "in tokens: {0}")
  @ValueSource(booleans = {true, false})
  void nobody_waits_for_what_is_there_or_takes_no_time(boolean inTokens) {
    Sent first = send(tokens(1), List.of(0), inTokens);
    told(first, 41);
    answer(first);
    send(tokens(1), List.of(0), inTokens);
    assertThat(send(tokens(1), List.of(0), inTokens).placed().waitNanos())
        .as("both find it in the cache")
        .isZero();

    send(Arrays.copyOf(tokens(3), 3 * BLOCK), List.of(1), inTokens);
    assertThat(send(Arrays.copyOf(tokens(3), 3 * BLOCK), List.of(1), inTokens).placed().waitNanos())
        .as("a hundred tokens are computed at once")
        .isZero();
  }

  @Test
  void nothing_is_exact_before_the_size_of_a_block_is_known() {
    router.apply(Configurations.withTokenizer(3), "v2");
    events.began(id(2), 0, 1, true);
    events.live(id(2), true, "");
    scraped(2, null);
    Sent first = send(tokens(1), List.of(2), true);
    assertThat(first.chosen().cacheKnowledge()).isEqualTo(CacheKnowledge.ASSISTED);
    assertThat(send(tokens(1), List.of(2), true).chosen().cachedTokens())
        .as("as the index infers it")
        .isBetween(PREFIX - 2 * BLOCK, PREFIX);

    told(first, 41);
    assertThat(send(tokens(1), List.of(2), true).chosen())
        .satisfies(chosen -> {
          assertThat(chosen.cacheKnowledge()).isEqualTo(CacheKnowledge.EXACT);
          assertThat(chosen.cachedTokens()).isEqualTo(PREFIX);
        });
  }

  @Test
  void an_answer_that_ends_before_its_events_arrive_leaves_no_gap() {
    Sent first = send(tokens(1), List.of(0), true);
    answer(first);

    assertThat(send(tokens(1), List.of(0), true).chosen().cachedTokens()).isEqualTo(PREFIX);
    assertThat(expectedBlocks(0)).isPositive();
  }

  @Test
  void what_never_was_told_is_not_expected_for_long() {
    Sent first = send(tokens(1), List.of(0), true);
    answer(first);
    clock.addAndGet(2 * SECOND);

    Sent late = send(tokens(1), List.of(0), true);

    assertThat(late.chosen().cachedTokens()).isZero();
    answer(late);
    told(late, 41);
    clock.addAndGet(2 * SECOND);
    answer(send(tokens(9), List.of(0), true));
    clock.addAndGet(2 * SECOND);
    end(send(tokens(9), List.of(0), true), Outcome.CLIENT_GONE);
    assertThat(expectedBlocks(0)).isZero();
  }

  @ParameterizedTest
  @EnumSource(
      value = Outcome.class,
      names = {"COMPLETED"},
      mode = EnumSource.Mode.EXCLUDE)
  void a_request_without_an_answer_leaves_only_what_was_told(Outcome outcome) {
    Sent first = send(tokens(1), List.of(0), true);
    told(first, 10);
    end(first, outcome);

    assertThat(expectedBlocks(0)).isZero();
    assertThat(send(tokens(1), List.of(0), true).chosen().cachedTokens()).isEqualTo(10 * BLOCK);
  }

  @Test
  void a_retry_takes_its_blocks_along_to_the_other_worker() {
    Sent first = send(tokens(1));
    int other = 1 - first.worker();
    first.placed().request().attempted(first.placed().destinations().get(1), 2);

    assertThat(expectedBlocks(first.worker())).isZero();
    assertThat(expectedBlocks(other)).isEqualTo(41);
    assertThat(send(tokens(1), List.of(other), true).chosen().cachedTokens()).isEqualTo(PREFIX);
    assertThat(send(tokens(1), List.of(first.worker()), true).chosen().cachedTokens()).isZero();
  }

  @Test
  void a_restart_begins_with_nothing_and_what_is_sent_after_it_counts() {
    Sent first = send(tokens(1), List.of(0), true);
    told(first, 41);
    answer(first);
    answer(send(tokens(2), List.of(0), true));

    events.began(id(0), 0, 1, true);
    router.restarted(id(0));

    Sent after = send(tokens(1), List.of(0), true);
    assertThat(after.chosen().cachedTokens()).isZero();
    assertThat(send(tokens(2), List.of(0), true).chosen().cachedTokens())
        .as("an answer of the process before")
        .isZero();
    assertThat(send(tokens(1), List.of(0), true).chosen().cachedTokens()).isEqualTo(PREFIX);
  }

  @Test
  void a_clear_leaves_nothing() {
    Sent first = send(tokens(1), List.of(0), true);
    told(first, 41);
    answer(first);
    answer(send(tokens(2), List.of(0), true));

    events.changed(id(0), 0, List.of(new CacheChange.Cleared()), clock.get());

    assertThat(send(tokens(1), List.of(0), true).chosen().cachedTokens()).isZero();
    assertThat(send(tokens(2), List.of(0), true).chosen().cachedTokens()).isZero();
  }

  @Test
  void lost_events_make_it_assisted_and_say_why() {
    Sent first = send(tokens(1), List.of(0), true);
    told(first, 41);
    answer(first);

    events.lost(id(0), 0, "batches 7 to 9 were lost");

    DecisionRecord.Candidate chosen = send(tokens(1), List.of(0), true).chosen();
    assertThat(chosen.cacheKnowledge()).isEqualTo(CacheKnowledge.ASSISTED);
    assertThat(chosen.cachedTokens()).as("inferred").isBetween(PREFIX - 2 * BLOCK, PREFIX);
    assertThat(status(0).cacheKnowledge()).isEqualTo(CacheKnowledge.ASSISTED);
    assertThat(status(0).cacheReason()).isEqualTo("batches 7 to 9 were lost");
    assertThat(status(1).cacheKnowledge()).isEqualTo(CacheKnowledge.EXACT);

    events.changed(id(0), 0, List.of(new CacheChange.Cleared()), clock.get());
    assertThat(status(0).cacheKnowledge()).isEqualTo(CacheKnowledge.EXACT);
    assertThat(status(0).cacheReason()).isEmpty();
  }

  @Test
  void without_a_stream_it_is_approximate_and_says_why() {
    events.live(id(0), false, "the worker does not answer at tcp://10.0.0.1:5558");

    assertThat(send(tokens(1), List.of(0), true).chosen().cacheKnowledge())
        .isEqualTo(CacheKnowledge.APPROXIMATE);
    assertThat(status(0).cacheKnowledge()).isEqualTo(CacheKnowledge.APPROXIMATE);
    assertThat(status(0).cacheReason()).contains("does not answer");

    events.live(id(0), true, "");
    assertThat(status(0).cacheKnowledge()).isEqualTo(CacheKnowledge.ASSISTED);
  }

  @Test
  void a_prompt_that_is_not_told_in_tokens_is_known_as_well_as_its_prediction_was_made() {
    DecisionRecord.Candidate chosen = send(tokens(1), List.of(0), false).chosen();

    assertThat(chosen.cacheKnowledge()).isEqualTo(CacheKnowledge.ASSISTED);
    assertThat(status(0).cacheKnowledge()).isEqualTo(CacheKnowledge.EXACT);
  }

  @Test
  void a_tokenizer_that_cannot_be_read_makes_it_assisted_and_says_why() {
    router.tokenizers(path -> "tokenizer " + path + ": no such file");

    assertThat(status(0).cacheKnowledge()).isEqualTo(CacheKnowledge.ASSISTED);
    assertThat(status(0).cacheReason()).contains(Configurations.TOKENIZER);
  }

  private WorkerStatus status(int worker) {
    return router.workers().stream()
        .filter(status -> status.id().equals(id(worker)))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void a_request_whose_end_was_lost_leaves_nothing() {
    send(tokens(1), List.of(0), true);
    clock.addAndGet(2 * 3_600 * SECOND);

    scraped(0, BLOCK);

    assertThat(router.ledger().leaked()).isEqualTo(1);
    assertThat(expectedBlocks(0)).isZero();
  }

  @Test
  void whatever_happens_nothing_stays_expected() {
    begin(3);
    List<Sent> open = new ArrayList<>();
    int most = 0;
    for (int step = 0; step < 20_000; step++) {
      clock.addAndGet(random.nextLong(50_000_000));
      if (open.isEmpty() || (open.size() < 60 && random.nextBoolean())) {
        open.add(send(tokens(random.nextInt(12)), List.of(0, 1, 2), random.nextInt(8) > 0));
        continue;
      }
      Sent sent = open.get(random.nextInt(open.size()));
      int worker = random.nextInt(3);
      switch (random.nextInt(13)) {
        case 0, 1, 2 -> sent.placed().request().firstToken(clock.get());
        case 3 ->
            sent.placed()
                .request()
                .attempted(
                    sent.placed()
                        .destinations()
                        .get(random.nextInt(sent.placed().destinations().size())),
                    2);
        case 4 -> told(sent, 1 + random.nextInt(41));
        case 5 -> events.began(id(worker), 0, 1, true);
        case 6 -> router.restarted(id(worker));
        case 7 -> {
          if (step % 32 == 0) { // each of these is logged
            events.lost(id(worker), 0, "lost");
            events.live(id(worker), false, "gone");
            events.live(id(worker), true, "");
          }
          events.began(id(worker), 0, 1, random.nextBoolean());
        }
        case 8 -> events.changed(id(worker), 0, List.of(new CacheChange.Cleared()), clock.get());
        default -> {
          Outcome[] outcomes = Outcome.values();
          end(sent, outcomes[random.nextInt(outcomes.length)]);
          end(sent, Outcome.COMPLETED);
          sent.placed().request().attempted(sent.placed().destinations().getLast(), 2);
          open.remove(sent);
        }
      }
      most = Math.max(most, expectedBlocks(worker));
    }
    assertThat(most).isPositive().isLessThanOrEqualTo(60 * 41 + 1_024 * 41);
    open.forEach(sent -> end(sent, Outcome.CLIENT_GONE));
    clock.addAndGet(2 * SECOND);
    for (int worker = 0; worker < 3; worker++) {
      slot(worker).cache().expire(clock.get());
      assertThat(expectedBlocks(worker)).as("worker %d", worker).isZero();
    }
    assertThat(router.activeLeases()).isZero();
  }
}
