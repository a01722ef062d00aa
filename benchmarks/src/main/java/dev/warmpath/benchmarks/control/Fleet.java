package dev.warmpath.benchmarks.control;

/**
 * A configuration of many pools, each with a worker set and a backend of its own, as YAML. Every
 * other pool has two workers, so that {@code 2 n} pools have {@code 3 n} workers.
 *
 * @param pools number of pools; resources are three times as many
 */
public record Fleet(int pools) {

  /** 2,001 resources and 1,000 workers. */
  public static Fleet ofTwoThousand() {
    return new Fleet(667);
  }

  public int resources() {
    return 3 * pools;
  }

  public int workers() {
    return pools + pools / 2;
  }

  public static String name(int pool) {
    return "p" + pool;
  }

  /**
   * The worker set of a pool.
   *
   * @param more workers beside those that it has from the start
   */
  public String workerSet(int pool, int more) {
    StringBuilder workers = new StringBuilder();
    for (int i = 0; i < 1 + pool % 2 + more; i++) {
      workers.append(
          "    - {name: w%d, address: 10.0.%d.%d, port: %d}%n"
              .formatted(i, pool / 250, pool % 250, 8000 + i));
    }
    return """
    apiVersion: inference.warmpath.dev/v1alpha1
    kind: InferenceWorkerSet
    metadata: {name: %s}
    spec:
      workers:
        addresses:
    %s\
    """
        .formatted(name(pool), workers);
  }

  public String pool(int pool) {
    return """
    apiVersion: inference.warmpath.dev/v1alpha1
    kind: InferencePool
    metadata: {name: %1$s}
    spec:
      model: model-%1$s
      workerSets: [{name: %1$s}]
    """
        .formatted(name(pool));
  }

  public String backend(int pool) {
    return """
    apiVersion: inference.warmpath.dev/v1alpha1
    kind: GatewayBackend
    metadata: {name: %1$s}
    spec:
      models: [model-%1$s]
      pool: {name: %1$s}
    """
        .formatted(name(pool));
  }

  /** All three documents of a pool. */
  public String file(int pool, int more) {
    return workerSet(pool, more) + "---\n" + pool(pool) + "---\n" + backend(pool);
  }
}
