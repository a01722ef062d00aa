package dev.warmpath.xds.support;

import java.util.List;

/** Resources as a user writes them. */
public final class Yaml {
  private Yaml() {}

  public static String workerSet(String name, List<String> hostPorts) {
    StringBuilder text =
        new StringBuilder(
            """
            apiVersion: inference.warmpath.dev/v1alpha1
            kind: InferenceWorkerSet
            metadata: {name: %s}
            spec:
              workers:
                addresses:
            """
                .formatted(name));
    for (int i = 0; i < hostPorts.size(); i++) {
      String hostPort = hostPorts.get(i);
      int colon = hostPort.lastIndexOf(':');
      text.append(
          "    - {name: w%d, address: \"%s\", port: %s}%n"
              .formatted(i, hostPort.substring(0, colon), hostPort.substring(colon + 1)));
    }
    return text.toString();
  }

  public static String pool(String name, String model, String workerSet) {
    return """
    ---
    apiVersion: inference.warmpath.dev/v1alpha1
    kind: InferencePool
    metadata: {name: %s}
    spec:
      model: %s
      workerSets: [{name: %s}]
    """
        .formatted(name, model, workerSet);
  }

  public static String backend(String name, String model, String pool) {
    return """
    ---
    apiVersion: inference.warmpath.dev/v1alpha1
    kind: GatewayBackend
    metadata: {name: %s}
    spec:
      models: [%s]
      pool: {name: %s}
    """
        .formatted(name, model, pool);
  }

  /** A provider whose key is secret NAME/key and whose authorities are secret NAME/ca. */
  public static String provider(String name, String type, String endpoint) {
    return """
    ---
    apiVersion: inference.warmpath.dev/v1alpha1
    kind: InferenceProvider
    metadata: {name: %s}
    spec:
      type: %s
      endpoint: %s
      credentials: {apiKey: {secret: {name: %s, key: key}}}
      tls: {caBundle: {secret: {name: %s, key: ca}}}
    """
        .formatted(name, type, endpoint, name, name);
  }

  /** A worker set, a pool and a backend, all of one name. */
  public static String served(String name, String... hostPorts) {
    return workerSet(name, List.of(hostPorts)) + pool(name, name, name) + backend(name, name, name);
  }
}
