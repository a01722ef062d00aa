package dev.warmpath.extproc.warmup;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.v1alpha1.BackendSpec;
import dev.warmpath.crds.v1alpha1.LocalRef;
import dev.warmpath.crds.v1alpha1.PoolSpec;
import dev.warmpath.crds.v1alpha1.WorkerSetSpec;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** A pool that does not exist, with addresses that are never dialled. */
final class SyntheticConfiguration {
  static final String MODEL = "warm-up";
  static final String CLUSTER = "pool/warm-up/warm-up";
  private static final int WORKERS = 4;
  private static final String NAME = "warm-up";
  private static final RoutingConfiguration.Id ID = new RoutingConfiguration.Id(NAME, NAME, 1);

  private SyntheticConfiguration() {}

  static RoutingConfiguration create() {
    WorkerSetSpec.Profile profile = new WorkerSetSpec.Profile(NAME, 2_000.0, 100_000L, 2_048);
    List<RoutingConfiguration.Worker> workers =
        IntStream.range(0, WORKERS)
            .mapToObj(i ->
                new RoutingConfiguration.Worker(
                    "w" + i,
                    "192.0.2." + (i + 1),
                    8000,
                    "",
                    RoutingConfiguration.Worker.State.READY))
            .toList();
    return new RoutingConfiguration(
        List.of(
            new RoutingConfiguration.WorkerSet(
                ID,
                WorkerSetSpec.Engine.vLLM,
                new WorkerSetSpec.Metrics("/metrics", Duration.ofSeconds(1)),
                new WorkerSetSpec.KvEvents(WorkerSetSpec.KvEvents.Mode.Off, 1, null, 1),
                profile,
                workers)),
        List.of(
            new RoutingConfiguration.Pool(
                ID,
                new PoolSpec(
                    MODEL,
                    List.of(new LocalRef(NAME)),
                    new PoolSpec.Objective(Duration.ofSeconds(8), 0.9),
                    new PoolSpec.Routing(PoolSpec.Algorithm.PredictedTTFT),
                    new PoolSpec.Limits(1_000),
                    null),
                CLUSTER)),
        List.of(),
        List.of(
            new RoutingConfiguration.Backend(
                ID,
                new BackendSpec(
                    List.of(MODEL, "alias"),
                    new LocalRef(NAME),
                    null,
                    Map.of(),
                    new BackendSpec.Capabilities(null, true, true),
                    null,
                    List.of()))),
        List.of(),
        List.of(),
        List.of());
  }
}
