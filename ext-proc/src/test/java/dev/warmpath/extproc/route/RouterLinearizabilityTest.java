package dev.warmpath.extproc.route;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.warmpath.crds.v1alpha1.PolicySpec;
import dev.warmpath.crds.v1alpha1.PoolSpec;
import dev.warmpath.extproc.candidate.ServedPool;
import dev.warmpath.extproc.inflight.InFlightRequest;
import dev.warmpath.extproc.inflight.InFlightRequest.Outcome;
import dev.warmpath.extproc.inflight.InFlightRequest.Usage;
import dev.warmpath.extproc.request.PromptFingerprint;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Test;

/**
 * Index and ledger as threads see them: whatever placements, first tokens, ends and restarts of
 * workers run at the same time, all results are those of some order of them.
 *
 * <p>The clock stands still and ties are drawn from a seed, so that one order has one result.
 */
@Param(name = "request", gen = IntGen.class, conf = "0:2")
@Param(name = "prefix", gen = IntGen.class, conf = "1:2")
@Param(name = "worker", gen = IntGen.class, conf = "0:2")
public class RouterLinearizabilityTest {
  private static final int BLOCK_TOKENS = 64;
  private static final int BLOCKS = 40;
  private static final long NOW = 1_000_000_000L;

  private final AtomicLong ids = new AtomicLong();
  private final PoolRouter router =
      new PoolRouter(1 << 20, () -> NOW, () -> Instant.EPOCH, new SplittableRandom(9));
  private final List<InFlightRequest> running = new ArrayList<>();

  public RouterLinearizabilityTest() {
    router.apply(Configurations.pool(3, PoolSpec.Algorithm.PredictedTTFT, 0), "v");
    for (int prefix = 0; prefix < 3; prefix++) {
      InFlightRequest request = placed(prefix).request();
      request.usage(new Usage(BLOCKS * BLOCK_TOKENS, 0, 5));
      running.add(request);
    }
  }

  private Placement.Placed placed(int prefix) {
    long[] chain = new long[BLOCKS];
    Arrays.setAll(chain, i -> prefix * 1_000L + i);
    ServedPool pool = requireNonNull(router.snapshot().pool(Configurations.CLUSTER));
    return (Placement.Placed)
        router.place(
            new Placement.Prompt(
                "d" + ids.incrementAndGet(),
                PromptFingerprint.ofTokens(chain, BLOCKS * BLOCK_TOKENS, BLOCK_TOKENS),
                true,
                List.of(List.of(Target.of(pool))),
                PolicySpec.Choose.PredictedTTFT,
                0));
  }

  /** Where it would go, and when it expects the first token; that depends on index and ledger. */
  @Operation
  public String place(@Param(name = "prefix") int prefix) {
    Placement.Placed placed = placed(prefix);
    return placed.destinations() + " " + placed.medianSeconds();
  }

  @Operation
  public void firstToken(@Param(name = "request") int request) {
    running.get(request).firstToken(NOW);
  }

  @Operation
  public void completed(@Param(name = "request") int request) {
    running.get(request).ended(Outcome.COMPLETED, NOW);
  }

  @Operation
  public void clientGone(@Param(name = "request") int request) {
    running.get(request).ended(Outcome.CLIENT_GONE, NOW);
  }

  @Operation
  public void restarted(@Param(name = "worker") int worker) {
    router.restarted(
        requireNonNull(router.snapshot().pool(Configurations.CLUSTER)).workers().get(worker).id());
  }

  /** Queued and decoding requests of each worker. */
  @Operation
  public String load() {
    StringBuilder load = new StringBuilder();
    router
        .workers()
        .forEach(w -> load.append(w.queuedPrompts()).append('/').append(w.decoding()).append(' '));
    return load.toString();
  }

  @Operation
  public long activeLeases() {
    return router.activeLeases();
  }

  @Test
  void resultsAreThoseOfSomeOrder() {
    assertThatCode(() ->
            new StressOptions()
                .iterations(10)
                .invocationsPerIteration(200)
                .threads(2)
                .actorsPerThread(4)
                .actorsBefore(1)
                .actorsAfter(2)
                .check(RouterLinearizabilityTest.class))
        .doesNotThrowAnyException();
  }
}
