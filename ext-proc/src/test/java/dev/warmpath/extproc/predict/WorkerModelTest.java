package dev.warmpath.extproc.predict;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.crds.v1alpha1.WorkerSetSpec;
import dev.warmpath.extproc.candidate.WorkerGauges;
import dev.warmpath.extproc.index.PrefixIndex;
import dev.warmpath.extproc.lease.Lease;
import dev.warmpath.extproc.request.PromptFingerprint;
import org.junit.jupiter.api.Test;

/** What is predicted of one worker, with leases that the test makes. */
class WorkerModelTest {
  private static final long SECOND = 1_000_000_000L;
  private static final int BLOCK = 64;
  private static final double PER_BYTE = 0.25;

  private final KindModel kind =
      new KindModel(new WorkerSetSpec.Profile("L40S", 2_500.0, null, null));
  private final WorkerModel worker =
      new WorkerModel(kind, new PrefixIndex(1 << 20).newHolder(1_000), 100_000L);
  private final Forecast forecast = new Forecast();
  private long now = 10 * SECOND;

  private static PromptFingerprint prompt(long identity, int tokens) {
    long[] chain = new long[tokens / BLOCK];
    for (int i = 0; i < chain.length; i++) {
      chain[i] = identity * 1_000_003 + i;
    }
    return PromptFingerprint.ofTokens(chain, tokens, BLOCK);
  }

  private Forecast predict(PromptFingerprint prompt, int tokens, int cached) {
    worker.forecast(prompt, cached / BLOCK, tokens, cached, now, forecast);
    return forecast;
  }

  private Lease place(long identity, int tokens, int cached) {
    PromptFingerprint prompt = prompt(identity, tokens);
    predict(prompt, tokens, cached);
    Lease lease =
        worker
            .load()
            .reserve(
                prompt.chain(),
                prompt.blocks(),
                tokens,
                cached,
                forecast.claimTokens,
                forecast.baseWorkSeconds,
                true,
                now,
                now + (long) (forecast.frontEndSeconds * SECOND));
    if (forecast.rides) {
      lease.rides(forecast.ridersInFront);
    }
    return lease;
  }

  private void firstToken(Lease lease) {
    worker.firstToken(lease, now);
  }

  private void end(Lease lease) {
    worker.load().end(lease, now);
  }

  /** One long prompt, and a short one whose first token comes meanwhile, or afterwards. */
  private void longAndShort(boolean rides, int round) {
    Lease first = place(10 + round, 16_000, 0);
    now += SECOND;
    Lease second = place(1, 16_256, 16_000);
    now += SECOND;
    if (rides) {
      firstToken(second);
    }
    now += 4 * SECOND;
    firstToken(first);
    if (!rides) {
      now += SECOND / 5;
      firstToken(second);
    }
    now += 10 * SECOND;
    end(first);
    end(second);
    now += 10 * SECOND;
  }

  @Test
  void shortPromptsAreExpectedBesideLongOnesWhereTheyHaveBeenSeenToRide() {
    for (int i = 0; i < 6; i++) {
      longAndShort(true, i);
    }
    place(99, 16_000, 0);
    assertThat(predict(prompt(1, 16_256), 16_256, 16_000).rides).isTrue();
    assertThat(forecast.ttftSeconds).isCloseTo(1, within(0.5));
    assertThat(forecast.overtaken).as("the long one is delayed by it").isEqualTo(1);
    assertThat(predict(prompt(2, 16_000), 16_000, 0).rides).as("a long one").isFalse();
    assertThat(forecast.ttftSeconds).isGreaterThan(8);
  }

  @Test
  void shortPromptsWaitWhereTheyHaveBeenSeenToWait() {
    for (int i = 0; i < 6; i++) {
      longAndShort(true, i);
    }
    for (int i = 0; i < 6; i++) {
      longAndShort(false, i);
    }
    place(99, 16_000, 0);
    assertThat(predict(prompt(1, 16_256), 16_256, 16_000).rides).isFalse();
    assertThat(forecast.ttftSeconds).isGreaterThan(5);
  }

  @Test
  void nobodyRidesBesideThePromptThatComputesItsPrefix() {
    for (int i = 0; i < 6; i++) {
      longAndShort(true, i);
    }
    place(1, 16_256, 0);
    assertThat(predict(prompt(1, 16_256), 16_256, 16_000).rides).isFalse();
    assertThat(forecast.ttftSeconds).isGreaterThan(5);
  }

  @Test
  void aLongPromptThatWasOvertakenGoesOnBeingComputed() {
    Lease first = place(10, 16_000, 0);
    now += SECOND;
    Lease second = place(1, 16_256, 16_000);
    now += 3 * SECOND;
    firstToken(second);
    assertThat(first.state()).isEqualTo(Lease.State.RESERVED);
    double before = predict(prompt(2, 16_000), 16_000, 0).queueSeconds;
    assertThat(before).as("four of 6.4 seconds have passed").isLessThan(3.2);
  }

  private void scrape(double used) {
    worker.scraped(new WorkerGauges(1, 0, used, 100_000L, 16, null, null, now));
  }

  @Test
  void roomComesBackAsAnswersAreProducedWhichIsSlowBesidePrompts() {
    for (int i = 0; i < 100; i++) {
      kind.decode().learn(i % 7, 10 - i % 7, 1.5 * (i % 7) + 25 * (10 - i % 7));
    }
    double answerSeconds = kind.decode().meanTokens() / 25;
    for (int i = 0; i < 5; i++) {
      Lease lease = place(i, 16_000, 0);
      now += 7 * SECOND;
      firstToken(lease);
    }
    scrape(0.95);
    assertThat(predict(prompt(50, 16_000), 16_000, 0).memorySeconds)
        .as("the oldest has stood still beside four long prompts")
        .isBetween(0.3 * answerSeconds, 1.1 * answerSeconds);
    scrape(0.5);
    assertThat(predict(prompt(50, 16_000), 16_000, 0).memorySeconds).isZero();
    scrape(0.95);
    assertThat(predict(prompt(3, 16_256), 16_256, 16_000).memorySeconds)
        .as("its prefix is in use already")
        .isZero();
  }

  @Test
  void aWorkerThatGetsNothingIsCheapToPutWorkOn() {
    WorkerModel other =
        new WorkerModel(kind, new PrefixIndex(1 << 20).newHolder(1_000), 1_000_000L);
    ArrivalRate arrivals = new ArrivalRate();
    for (int i = 0; i < 200; i++) {
      arrivals.arrived(i * SECOND);
      worker.placed(arrivals, 2, 0.4);
    }
    PromptFingerprint cold = prompt(7, 6_400);
    predict(cold, 6_400, 0);
    worker.othersForecast(cold, PER_BYTE, arrivals, 2, 0, forecast);
    double here = forecast.othersSeconds;
    other.forecast(cold, 0, 6_400, 0, now, forecast);
    other.othersForecast(cold, PER_BYTE, arrivals, 2, 0, forecast);
    assertThat(requireNonNull(forecast).othersSeconds).isLessThan(here / 3);
  }

  @Test
  void answersThatWouldStandStillMakeAChoiceDearerAndLongPromptsMost() {
    ArrivalRate arrivals = new ArrivalRate();
    double[] alone = {others(1_600, arrivals), others(12_800, arrivals)};
    for (int i = 0; i < 5; i++) {
      Lease lease = place(20 + i, 64, 0);
      now += SECOND;
      firstToken(lease);
    }
    assertThat(worker.load().decoding()).isEqualTo(5);
    assertThat(others(1_600, arrivals)).isGreaterThan(alone[0]);
    assertThat(others(12_800, arrivals) - alone[1])
        .isGreaterThan(6 * (others(1_600, arrivals) - alone[0]));
  }

  private double others(int tokens, ArrivalRate arrivals) {
    PromptFingerprint cold = prompt(7, tokens);
    predict(cold, tokens, 0);
    worker.othersForecast(cold, PER_BYTE, arrivals, 2, 0, forecast);
    return forecast.othersSeconds;
  }
}
