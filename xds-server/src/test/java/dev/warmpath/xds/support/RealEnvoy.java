package dev.warmpath.xds.support;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * An Envoy process with a bootstrap of the product's shape (delta ADS on a Unix socket, cluster and
 * plan routes), in which a small Lua filter stands for the processor: it takes the decision from
 * request headers.
 */
public final class RealEnvoy implements AutoCloseable {
  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final Process process;
  private final Path log;
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final URI admin;
  private final URI listener;

  private RealEnvoy(Process process, Path log, URI admin, URI listener) {
    this.process = process;
    this.log = log;
    this.admin = admin;
    this.listener = listener;
  }

  /** Starts Envoy; returns once its listener is open. */
  public static RealEnvoy start(Path folder, String nodeId, Path adsSocket) throws IOException {
    Path config = folder.resolve(nodeId + ".json");
    Path adminPort = folder.resolve(nodeId + ".admin");
    Files.deleteIfExists(adminPort);
    String bootstrap =
        new String(
                RealEnvoy.class.getResourceAsStream("envoy.json").readAllBytes(),
                java.nio.charset.StandardCharsets.UTF_8)
            .replace("@NODE@", nodeId)
            .replace("@ADS@", adsSocket.toAbsolutePath().toString());
    Files.writeString(config, bootstrap);
    Path log = folder.resolve(nodeId + ".log");
    Process process =
        new ProcessBuilder(
                EnvoyBinary.path(),
                "--config-path",
                config.toString(),
                "--admin-address-path",
                adminPort.toString(),
                "--concurrency",
                "1",
                "--disable-hot-restart",
                "--log-level",
                "warning")
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    URI admin = null;
    try {
      await()
          .atMost(PATIENCE)
          .pollInterval(Duration.ofMillis(20))
          .until(() -> {
            if (!process.isAlive()) {
              throw new IllegalStateException("Envoy ended:\n" + Files.readString(log));
            }
            return Files.exists(adminPort) && !Files.readString(adminPort).isBlank();
          });
      admin = URI.create("http://" + Files.readString(adminPort).strip());
      RealEnvoy envoy = new RealEnvoy(process, log, admin, admin);
      URI found = admin;
      await().atMost(PATIENCE).until(() -> envoy.status("/ready") == 200);
      String listeners = envoy.page("/listeners?format=json");
      int port =
          JSON.readTree(listeners)
              .path("listener_statuses")
              .path(0)
              .path("local_address")
              .path("socket_address")
              .path("port_value")
              .asInt();
      return new RealEnvoy(process, log, found, URI.create("http://127.0.0.1:" + port));
    } catch (RuntimeException e) {
      process.destroyForcibly();
      throw e;
    }
  }

  public URI listener() {
    return listener;
  }

  public HttpClient client() {
    return client;
  }

  public HttpResponse<String> post(String path, String body, String... headers) {
    try {
      return client.send(
          HttpRequest.newBuilder(listener.resolve(path))
              .headers(headers)
              .timeout(PATIENCE)
              .POST(HttpRequest.BodyPublishers.ofString(body))
              .build(),
          HttpResponse.BodyHandlers.ofString());
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Clusters that are active and came by CDS. */
  public Set<String> clusters() {
    Set<String> names = new TreeSet<>();
    for (JsonNode config : JSON.readTree(page("/config_dump")).path("configs")) {
      for (JsonNode cluster : config.path("dynamic_active_clusters")) {
        names.add(cluster.path("cluster").path("name").asString());
      }
    }
    return names;
  }

  /** {@code ip:port health} of the hosts of a cluster. */
  public Set<String> hosts(String cluster) {
    Set<String> hosts = new TreeSet<>();
    for (JsonNode status : JSON.readTree(page("/clusters?format=json")).path("cluster_statuses")) {
      if (!status.path("name").asString().equals(cluster)) {
        continue;
      }
      for (JsonNode host : status.path("host_statuses")) {
        JsonNode address = host.path("address").path("socket_address");
        hosts.add(
            address.path("address").asString()
                + ":"
                + address.path("port_value").asInt()
                + " "
                + host.path("health_status").path("eds_health_status").asString());
      }
    }
    return hosts;
  }

  public long stat(String name) {
    for (String line : page("/stats?filter=" + name.replace(".", "%5C.")).lines().toList()) {
      if (line.startsWith(name + ": ")) {
        return Long.parseLong(line.substring(name.length() + 2).strip());
      }
    }
    return 0;
  }

  public String page(String path) {
    return get(path).body();
  }

  private int status(String path) {
    try {
      return get(path).statusCode();
    } catch (java.io.UncheckedIOException e) {
      return 0;
    }
  }

  private HttpResponse<String> get(String path) {
    try {
      return client.send(
          HttpRequest.newBuilder(admin.resolve(path)).timeout(PATIENCE).build(),
          HttpResponse.BodyHandlers.ofString());
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** What Envoy wrote, for messages. */
  public String log() {
    try {
      return Files.readString(log);
    } catch (IOException e) {
      return e.toString();
    }
  }

  @Override
  public void close() {
    process.destroy();
    try {
      if (!process.waitFor(5, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
