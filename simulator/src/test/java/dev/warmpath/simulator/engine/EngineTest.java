package dev.warmpath.simulator.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class EngineTest {
  private static final long MILLI = 1_000_000;
  private static final long SECOND = 1_000 * MILLI;

  private final EngineProfile l40s = EngineProfiles.named(EngineProfiles.DEFAULT);

  /**
   * Same arrivals, same times, whether each step is an event or whole runs are taken in closed
   * form.
   */
  @Test
  void runsInClosedFormGiveTheTimesOfSingleSteps() {
    for (String profile : List.of("l40s-qwen27b-fp8", "l40s-qwen27b-fp8-checkpoints", "a100-8b")) {
      for (double noise : new double[] {0, 0.05}) {
        for (long seed = 1; seed <= 5; seed++) {
          EngineProfile noisy = EngineProfiles.named(profile).withNoise(noise);
          List<EngineRequest> single = traffic(noisy, seed, true);
          List<EngineRequest> closed = traffic(noisy, seed, false);
          for (int i = 0; i < single.size(); i++) {
            EngineRequest a = single.get(i);
            EngineRequest b = closed.get(i);
            String what = profile + " noise " + noise + " seed " + seed + " request " + i;
            assertThat(b.state()).as(what).isEqualTo(a.state());
            assertThat(b.cachedTokens()).as(what).isEqualTo(a.cachedTokens());
            // Rounding to nanoseconds happens once per run and once per step.
            assertThat(b.firstTokenNanos() - a.firstTokenNanos())
                .as(what)
                .isCloseTo(0, within(20_000L));
            assertThat(b.finishNanos() - a.finishNanos()).as(what).isCloseTo(0, within(20_000L));
          }
        }
      }
    }
  }

  @Test
  void prefillsAreServedOneAfterTheOther() {
    Engine engine = new Engine(l40s, EngineListener.NONE);
    List<EngineRequest> requests = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      requests.add(submit(engine, 100 + i, 16_256, 1, i * MILLI));
    }

    engine.advanceTo(Long.MAX_VALUE);

    // The last chunk of one shares its step with the first of the next.
    for (int i = 0; i < 3; i++) {
      assertThat(requests.get(i).firstTokenNanos() / 1e9)
          .isCloseTo(0.1 + (i + 1) * 6.82, within(0.3 * (i + 1)));
    }
  }

  @Test
  void secondOfTwoEqualColdPromptsUsesWhatTheFirstHasStored() {
    Engine engine = new Engine(l40s, EngineListener.NONE);
    submit(engine, 7, 16_256, 1, 0);
    EngineRequest second = submit(engine, 7, 16_256, 1, MILLI);

    engine.advanceTo(Long.MAX_VALUE);

    assertThat(second.cachedTokens()).isEqualTo(15_680);
    assertThat(second.firstTokenNanos() / 1e9).isLessThan(7.4);
  }

  @Test
  void withCheckpointsALongUniqueSuffixHitsFromTheThirdRequest() {
    Engine engine =
        new Engine(EngineProfiles.named("l40s-qwen27b-fp8-checkpoints"), EngineListener.NONE);
    List<Integer> cached = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      long[] chain = BlockChain.ofSegments(new long[] {1, 50 + i}, new int[] {8_000, 4_000}, 784);
      EngineRequest request = new EngineRequest(chain, 12_000, 1, null);
      engine.submit(request, 100L * i * SECOND);
      engine.advanceTo(Long.MAX_VALUE);
      cached.add(request.cachedTokens());
    }

    assertThat(cached).containsExactly(0, 0, 8_000 / 784 * 784);
  }

  /** A hit uses the checkpoint as well: it must not be forgotten while the prefix is in demand. */
  @Test
  void withCheckpointsAPrefixInDemandOutlivesThePromptsThatComeOnce() {
    for (String name :
        List.of("l40s-qwen27b-fp8-checkpoints", "l40s-qwen27b-fp8-kv8-checkpoints")) {
      EngineProfile profile = EngineProfiles.named(name);
      int block = profile.cache().blockTokens();
      Engine engine = new Engine(profile, EngineListener.NONE);
      for (int i = 0; i < 60; i++) {
        // Every third prompt has the prefix; the others would fill the pool several times over.
        long prefix = i % 3 == 0 ? 1 : 1_000 + i;
        long[] chain =
            BlockChain.ofSegments(new long[] {prefix, 5_000 + i}, new int[] {16_000, 256}, block);
        EngineRequest request = new EngineRequest(chain, 16_256, 2, null);
        engine.submit(request, 100L * i * SECOND);
        engine.advanceTo(Long.MAX_VALUE);
        int expected = i > 0 && prefix == 1 ? 16_000 / block * block : 0;
        assertThat(request.cachedTokens()).as(name + " " + i).isEqualTo(expected);
      }
      assertThat(engine.usedRatio()).as(name).isZero();
    }
  }

  /** Random traffic: whatever a request takes for its state comes back, and no pool runs over. */
  @Test
  void withCheckpointsEveryBlockComesBack() {
    for (String name :
        List.of("l40s-qwen27b-fp8-checkpoints", "l40s-qwen27b-fp8-kv8-checkpoints")) {
      EngineProfile profile = EngineProfiles.named(name);
      SplittableRandom random = new SplittableRandom(11);
      Engine engine = new Engine(profile, EngineListener.NONE);
      long now = 0;
      int sent = 400;
      for (int i = 0; i < sent; i++) {
        long[] chain =
            BlockChain.ofSegments(
                new long[] {random.nextInt(24), 5_000 + i},
                new int[] {16_000, 256},
                profile.cache().blockTokens());
        now += random.nextLong(2 * SECOND);
        engine.advanceTo(now);
        engine.submit(new EngineRequest(chain, 16_256, 1 + random.nextInt(300), null), now);
      }
      engine.advanceTo(Long.MAX_VALUE);
      assertThat(engine.stats().finished()).as(name).isEqualTo(sent);
      assertThat(engine.usedRatio()).as(name).isZero();
    }
  }

  @Test
  void pendingPrefillDelaysTokensOfADecoderByOneChunkStep() {
    List<Long> gaps = new ArrayList<>();
    EngineListener recorder =
        new EngineListener() {
          @Override
          public void onSteps(
              long steps, int decoders, long prefillTokens, long firstGapNanos, long lastGapNanos) {
            if (decoders == 1 && prefillTokens > 0) {
              gaps.add(firstGapNanos);
            }
          }
        };
    Engine engine = new Engine(l40s, recorder);
    submit(engine, 1, 1_000, 500, 0);
    submit(engine, 2, 16_256, 1, 5 * SECOND);

    engine.advanceTo(Long.MAX_VALUE);

    assertThat(gaps)
        .hasSize(11)
        .allSatisfy(gap -> assertThat(gap).isBetween(200 * MILLI, 720 * MILLI));
  }

  @Test
  void abortGivesBlocksBackAndFreesTheQueue() {
    Engine engine = new Engine(l40s, EngineListener.NONE);
    EngineRequest first = submit(engine, 1, 16_256, 256, 0);
    EngineRequest second = submit(engine, 2, 16_256, 256, 0);
    EngineRequest third = submit(engine, 3, 16_256, 1, 0);
    engine.advanceTo(SECOND);

    engine.abort(first, SECOND);
    engine.abort(second, SECOND);
    engine.advanceTo(Long.MAX_VALUE);

    assertThat(first.state()).isEqualTo(EngineRequest.State.ABORTED);
    assertThat(second.state()).isEqualTo(EngineRequest.State.ABORTED);
    assertThat(third.firstTokenNanos() / 1e9).isBetween(7.0, 8.5);
    assertThat(engine.usedRatio()).isZero();
    assertThat(engine.liveRequests()).isZero();
    assertThat(engine.stats().aborted()).isEqualTo(2);
  }

  @Test
  void fullQueueRejectsABurstLateAndASteadyStreamAtTheDoor() {
    List<EngineRequest> rejected = new ArrayList<>();
    EngineListener recorder =
        new EngineListener() {
          @Override
          public void onRejected(EngineRequest request, long atNanos) {
            rejected.add(request);
          }
        };
    Engine engine = new Engine(l40s.withMaxQueued(2), recorder);
    for (int i = 0; i < 18; i++) {
      submit(engine, i, 16_256, 1, 0);
    }
    engine.advanceTo(2 * SECOND);
    assertThat(rejected).hasSize(15);

    EngineRequest late = new EngineRequest(new long[0], 100, 1, null);
    assertThat(engine.submit(late, 2 * SECOND)).isEqualTo(Engine.Admission.QUEUE_FULL);
    assertThat(engine.stats().rejected()).isEqualTo(16);
  }

  @Test
  void sequencesThatOutgrowThePoolArePreemptedAndStillFinish() {
    EngineProfile small =
        EngineProfiles.named("a100-8b").withCache(new CacheModel(16, 64, false, 0, true));
    Engine engine = new Engine(small, EngineListener.NONE);
    List<EngineRequest> requests = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      requests.add(submit(engine, i, 200, 400, 0));
    }

    engine.advanceTo(Long.MAX_VALUE);

    assertThat(engine.stats().preemptions()).isPositive();
    assertThat(requests)
        .allSatisfy(request -> assertThat(request.state()).isEqualTo(EngineRequest.State.FINISHED))
        .allSatisfy(request -> assertThat(request.generatedTokens()).isEqualTo(400));
    assertThat(engine.usedRatio()).isZero();
  }

  @Test
  void stalledEngineGoesOnWhenTheStallEnds() {
    Engine engine = new Engine(l40s, EngineListener.NONE);
    EngineRequest request = submit(engine, 1, 16_256, 10, 0);
    engine.stallUntil(Long.MAX_VALUE, 0);
    engine.advanceTo(50 * SECOND);
    assertThat(request.state()).isEqualTo(EngineRequest.State.RUNNING);
    assertThat(engine.nextEventNanos()).isEqualTo(Long.MAX_VALUE);

    engine.stallUntil(50 * SECOND, 50 * SECOND);
    engine.advanceTo(Long.MAX_VALUE);

    assertThat(request.firstTokenNanos() / 1e9).isCloseTo(56.8, within(0.1));
  }

  @Test
  void restartLosesRequestsAndCache() {
    List<EngineRequest> lost = new ArrayList<>();
    EngineListener recorder =
        new EngineListener() {
          @Override
          public void onLost(EngineRequest request, long atNanos) {
            lost.add(request);
          }
        };
    Engine engine = new Engine(l40s, recorder);
    EngineRequest first = submit(engine, 1, 16_256, 256, 0);
    engine.advanceTo(10 * SECOND);

    engine.restart(10 * SECOND);
    EngineRequest again = submit(engine, 1, 16_256, 1, 11 * SECOND);
    engine.advanceTo(Long.MAX_VALUE);

    assertThat(lost).containsExactly(first);
    assertThat(again.cachedTokens()).isZero();
    assertThat(engine.epoch()).isEqualTo(1);
  }

  @Test
  void gaugesShowANewRequestOnlyAfterTheStepThatIsRunning() {
    Engine engine = new Engine(l40s, EngineListener.NONE);
    submit(engine, 1, 16_256, 1, 0);
    engine.advanceTo(200 * MILLI);
    assertThat(engine.stats().shownRunning()).isZero();

    engine.advanceTo(1_000 * MILLI);
    assertThat(engine.stats().shownRunning()).isEqualTo(1);

    engine.freezeMetrics(true);
    engine.advanceTo(Long.MAX_VALUE);
    assertThat(engine.stats().shownRunning()).isEqualTo(1);
    engine.freezeMetrics(false);
    assertThat(engine.stats().shownRunning()).isZero();
  }

  @Test
  void oracleForeseesTheFirstTokenOfARequestThatIsThenSubmitted() {
    for (String name : List.of("l40s-qwen27b-fp8", "a100-8b")) {
      EngineProfile profile = EngineProfiles.named(name);
      for (long seed = 1; seed <= 20; seed++) {
        SplittableRandom random = new SplittableRandom(seed);
        Engine engine = new Engine(profile, EngineListener.NONE);
        Oracle oracle = new Oracle(engine);
        long now = 0;
        for (int i = 0; i < 12; i++) {
          now += random.nextLong(600 * MILLI);
          engine.advanceTo(now);
          engine.submit(sequence(profile, random), now);
        }
        now += random.nextLong(600 * MILLI);
        engine.advanceTo(now);
        EngineRequest asked = sequence(profile, random);

        int cached = oracle.cachedTokens(asked.chain(), asked.promptTokens(), now);
        long ttft = oracle.ttftNanos(asked.chain(), asked.promptTokens(), now);
        long backlog = oracle.backlogNanos(now);
        engine.submit(asked, now);
        engine.advanceTo(Long.MAX_VALUE);

        String what = name + " seed " + seed;
        assertThat(asked.cachedTokens()).as(what).isEqualTo(cached);
        double actual = asked.firstTokenNanos() - now;
        assertThat(ttft / actual).as(what).isCloseTo(1, within(0.02));
        assertThat(backlog).as(what).isLessThanOrEqualTo(ttft + SECOND);
      }
    }
  }

  private static EngineRequest sequence(EngineProfile profile, SplittableRandom random) {
    int prefix = random.nextInt(4);
    int suffix = 50 + random.nextInt(400);
    int output = 1 + random.nextInt(300);
    int prefixTokens = 2_000 + prefix * 1_500;
    long[] chain =
        BlockChain.ofSegments(
            new long[] {prefix, random.nextLong(), random.nextLong()},
            new int[] {prefixTokens, suffix, output},
            profile.cache().blockTokens());
    return new EngineRequest(chain, prefixTokens + suffix, output, null);
  }

  private static List<EngineRequest> traffic(
      EngineProfile profile, long seed, boolean tokenEvents) {
    SplittableRandom random = new SplittableRandom(seed);
    Engine engine = new Engine(profile, seed, EngineListener.NONE, CacheListener.NONE, tokenEvents);
    List<EngineRequest> requests = new ArrayList<>();
    long now = 0;
    for (int i = 0; i < 60; i++) {
      now += random.nextLong(1_500 * MILLI);
      engine.advanceTo(now);
      EngineRequest request = sequence(profile, random);
      requests.add(request);
      engine.submit(request, now);
      if (random.nextInt(8) == 0) {
        long at = now + 500 * MILLI;
        engine.advanceTo(at);
        engine.abort(request, at);
        now = at;
      }
    }
    engine.advanceTo(Long.MAX_VALUE);
    return requests;
  }

  private static EngineRequest submit(
      Engine engine, long identity, int prompt, int output, long atNanos) {
    long[] chain =
        BlockChain.ofSegments(
            new long[] {identity},
            new int[] {prompt + output},
            engine.profile().cache().blockTokens());
    EngineRequest request = new EngineRequest(chain, prompt, output, null);
    assertThat(engine.submit(request, atNanos)).isEqualTo(Engine.Admission.ACCEPTED);
    return request;
  }
}
