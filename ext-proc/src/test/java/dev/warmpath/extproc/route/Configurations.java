package dev.warmpath.extproc.route;

import dev.warmpath.crds.config.RoutingConfiguration;
import dev.warmpath.crds.v1alpha1.BackendSpec;
import dev.warmpath.crds.v1alpha1.LocalRef;
import dev.warmpath.crds.v1alpha1.PoolSpec;
import dev.warmpath.crds.v1alpha1.WorkerSetSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Routing configurations for tests. */
final class Configurations {
  static final String MODEL = "Qwen/Qwen3.8-27B-FP8";
  static final String CLUSTER = "pool/default/qwen";

  private Configurations() {}

  /** Folder of a tokenizer; nothing is read from it. */
  static final String TOKENIZER = "/models/qwen";

  /** One pool of like workers, asked for as "qwen-27b" or by its own name. */
  static RoutingConfiguration pool(int workers, PoolSpec.Algorithm algorithm, int maxQueued) {
    return pool(workers, algorithm, maxQueued, null);
  }

  /** The same with a tokenizer. */
  static RoutingConfiguration withTokenizer(int workers) {
    return pool(workers, PoolSpec.Algorithm.PredictedTTFT, 0, new PoolSpec.Tokenizer(TOKENIZER));
  }

  private static RoutingConfiguration pool(
      int workers,
      PoolSpec.Algorithm algorithm,
      int maxQueued,
      PoolSpec.@Nullable Tokenizer tokenizer) {
    List<RoutingConfiguration.Worker> list = new ArrayList<>();
    for (int i = 0; i < workers; i++) {
      list.add(
          new RoutingConfiguration.Worker(
              "w" + i,
              "10.0." + i / 250 + "." + (i % 250 + 1),
              8000,
              "",
              RoutingConfiguration.Worker.State.READY));
    }
    return new RoutingConfiguration(
        List.of(
            new RoutingConfiguration.WorkerSet(
                new RoutingConfiguration.Id("default", "l40s", 1),
                WorkerSetSpec.Engine.vLLM,
                new WorkerSetSpec.Metrics("/metrics", Duration.ofSeconds(1)),
                new WorkerSetSpec.KvEvents(WorkerSetSpec.KvEvents.Mode.Off, 5557, null, 1),
                new WorkerSetSpec.Profile("L40S", 2600.0, 150_000L, 2048),
                list)),
        List.of(
            new RoutingConfiguration.Pool(
                new RoutingConfiguration.Id("default", "qwen", 1),
                new PoolSpec(
                    MODEL,
                    List.of(new LocalRef("l40s")),
                    new PoolSpec.Objective(Duration.ofSeconds(8), 0.9),
                    new PoolSpec.Routing(algorithm),
                    new PoolSpec.Limits(maxQueued),
                    tokenizer),
                CLUSTER)),
        List.of(),
        List.of(
            new RoutingConfiguration.Backend(
                new RoutingConfiguration.Id("default", "qwen-local", 1),
                new BackendSpec(
                    List.of("qwen-27b", MODEL),
                    new LocalRef("qwen"),
                    null,
                    Map.of(),
                    new BackendSpec.Capabilities(null, true, false),
                    null,
                    List.of()))),
        List.of(),
        List.of(),
        List.of());
  }
}
