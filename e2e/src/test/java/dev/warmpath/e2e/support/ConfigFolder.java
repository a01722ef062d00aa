package dev.warmpath.e2e.support;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.StringJoiner;

/** A folder of resources as a user keeps it; each write takes effect as a whole. */
public final class ConfigFolder {

  /** A worker's name and port on the loopback address. */
  public record Worker(String name, int port) {}

  private static final String HEAD =
      "apiVersion: inference.warmpath.dev/v1alpha1\nkind: %s\nmetadata: {name: %s}\nspec:\n";

  private final Path folder;

  public ConfigFolder(Path folder) throws IOException {
    this.folder = Files.createDirectories(folder);
  }

  public Path path() {
    return folder;
  }

  /** Puts a file in place by a rename, so that no reader sees half of it. */
  public ConfigFolder write(String file, String text) throws IOException {
    Path target = folder.resolve(file);
    Files.createDirectories(target.getParent());
    Path draft = Files.createTempFile(folder.toAbsolutePath().getParent(), "draft", ".tmp");
    Files.writeString(draft, text, UTF_8);
    Files.move(draft, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    return this;
  }

  public ConfigFolder delete(String file) throws IOException {
    Files.delete(folder.resolve(file));
    return this;
  }

  /** A worker set of listed addresses, in the file of its name. */
  public ConfigFolder workerSet(String name, List<Worker> workers) throws IOException {
    StringJoiner lines = new StringJoiner("\n", "", "\n");
    for (Worker worker : workers) {
      lines.add(
          "    - {name: %s, address: 127.0.0.1, port: %d}".formatted(worker.name(), worker.port()));
    }
    return write(
        "workers-" + name + ".yaml",
        HEAD.formatted("InferenceWorkerSet", name)
            + "  engine: vLLM\n  workers:\n    addresses:\n"
            + lines
            + "  metrics: {path: /metrics, interval: 1s}\n");
  }

  /** A pool that takes the bursts of a test: its limit of waiting prompts is far away. */
  public ConfigFolder pool(String name, String model, String... workerSets) throws IOException {
    StringJoiner sets = new StringJoiner(", ", "[", "]");
    for (String set : workerSets) {
      sets.add("{name: " + set + "}");
    }
    return write(
        "pool-" + name + ".yaml",
        HEAD.formatted("InferencePool", name)
            + "  model: "
            + model
            + "\n  workerSets: "
            + sets
            + "\n  limits: {maxQueuedPromptsPerWorker: 1000}\n");
  }

  public ConfigFolder poolBackend(String name, String pool, String... models) throws IOException {
    return write(
        "backend-" + name + ".yaml",
        HEAD.formatted("GatewayBackend", name)
            + "  models: ["
            + String.join(", ", models)
            + "]\n  pool: {name: "
            + pool
            + "}\n");
  }

  /** An OpenAI-compatible provider whose key lies in {@code secrets/SECRET/KEY}. */
  public ConfigFolder provider(String name, String endpoint, String secret, String key)
      throws IOException {
    return write(
        "provider-" + name + ".yaml",
        HEAD.formatted("InferenceProvider", name)
            + "  type: OpenAICompatible\n  endpoint: "
            + endpoint
            + "\n  credentials: {apiKey: {secret: {name: "
            + secret
            + ", key: "
            + key
            + "}}}\n");
  }

  public ConfigFolder providerBackend(
      String name, String provider, String providerModel, String... models) throws IOException {
    return write(
        "backend-" + name + ".yaml",
        HEAD.formatted("GatewayBackend", name)
            + "  models: ["
            + String.join(", ", models)
            + "]\n  provider: {name: "
            + provider
            + ", model: "
            + providerModel
            + "}\n");
  }

  /** A tenant with one key, in {@code secrets/SECRET/KEY}, that may use models of that glob. */
  public ConfigFolder tenant(String name, String secret, String key, String modelGlob)
      throws IOException {
    return write(
        "tenant-" + name + ".yaml",
        HEAD.formatted("InferenceTenant", name)
            + "  apiKeys: [{secret: {name: "
            + secret
            + ", key: "
            + key
            + "}}]\n  models: {allow: [\""
            + modelGlob
            + "\"]}\n");
  }
}
