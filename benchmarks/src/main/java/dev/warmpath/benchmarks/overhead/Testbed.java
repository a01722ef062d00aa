package dev.warmpath.benchmarks.overhead;

import dev.warmpath.envoy.Address;
import dev.warmpath.envoy.BootstrapOptions;
import dev.warmpath.envoy.EnvoyBinary;
import dev.warmpath.envoy.EnvoyProcess;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The processes of the comparison: one instant upstream; a plain Envoy in front of it; and the
 * product in front of it, its control plane, processor and Envoy each a process of its own, so that
 * their costs can be told apart.
 */
final class Testbed implements AutoCloseable {
  private static final Duration START = Duration.ofSeconds(90);
  private static final String MAIN = "dev.warmpath.cli.Main";

  private final Path folder;
  private final Deque<Part> parts = new ArrayDeque<>();

  final InetSocketAddress upstream;
  final InetSocketAddress plain;
  final InetSocketAddress product;
  final ProcessCost plainEnvoy;
  final ProcessCost productEnvoy;
  final ProcessCost processor;

  /**
   * @param envoyThreads worker threads of both Envoys
   */
  Testbed(int envoyThreads) throws Exception {
    folder = Files.createTempDirectory("warmpath-bench-");
    try {
      int upstreamPort = freePort();
      java("sim", "--port", "" + upstreamPort, "--profile", "instant", "--model", "bench");
      upstream = new InetSocketAddress(InetAddress.getLoopbackAddress(), upstreamPort);
      await(upstream);

      int plainPort = freePort();
      Process plainProcess = plainEnvoy(plainPort, upstreamPort, envoyThreads);
      plainEnvoy = new ProcessCost(plainProcess.pid());
      plain = new InetSocketAddress(InetAddress.getLoopbackAddress(), plainPort);
      await(plain);

      Path configuration = Files.createDirectory(folder.resolve("config"));
      Files.writeString(configuration.resolve("bench.yaml"), resources(upstreamPort));
      Path run = Files.createDirectory(folder.resolve("run"));
      Path xdsSocket = run.resolve(BootstrapOptions.XDS_SOCKET);
      java(
          "xds-server",
          "--config",
          configuration.toString(),
          "--run-dir",
          run.toString(),
          "--admin",
          "127.0.0.1:" + freePort());
      int adminPort = freePort();
      Process processorProcess =
          java(
              "ext-proc",
              "--run-dir",
              run.toString(),
              "--xds",
              "unix:" + xdsSocket,
              "--node-id",
              "bench",
              "--admin",
              "127.0.0.1:" + adminPort);
      processor = new ProcessCost(processorProcess.pid());
      EnvoyProcess envoy =
          EnvoyProcess.start(
              new EnvoyProcess.Options(
                  EnvoyBinary.find(),
                  BootstrapOptions.local("bench", new Address.Tcp("127.0.0.1", 0), run),
                  run,
                  envoyThreads,
                  "warning"),
              START);
      parts.push(envoy::close);
      productEnvoy = new ProcessCost(envoy.pid());
      product = new InetSocketAddress(InetAddress.getLoopbackAddress(), envoy.port());
      awaitServing();
    } catch (Exception e) {
      close();
      throw e;
    }
  }

  private static String resources(int port) {
    return """
    apiVersion: inference.warmpath.dev/v1alpha1
    kind: InferenceWorkerSet
    metadata: {name: bench}
    spec:
      engine: vLLM
      workers:
        addresses: [{name: w0, address: 127.0.0.1, port: %d}]
    ---
    apiVersion: inference.warmpath.dev/v1alpha1
    kind: InferencePool
    metadata: {name: bench}
    spec:
      model: bench
      workerSets: [{name: bench}]
      limits: {maxQueuedPromptsPerWorker: 10000}
    ---
    apiVersion: inference.warmpath.dev/v1alpha1
    kind: GatewayBackend
    metadata: {name: bench}
    spec:
      models: [bench]
      pool: {name: bench}
    """
        .formatted(port);
  }

  private Process plainEnvoy(int port, int upstreamPort, int threads) throws IOException {
    String template;
    try (InputStream in = Testbed.class.getResourceAsStream("plain-envoy.yaml")) {
      template =
          new String(
              Objects.requireNonNull(in, "plain-envoy.yaml").readAllBytes(),
              StandardCharsets.UTF_8);
    }
    Path file = folder.resolve("plain-envoy.yaml");
    Files.writeString(
        file,
        template
            .replace("${adminPort}", "" + freePort())
            .replace("${listenPort}", "" + port)
            .replace("${upstreamPort}", "" + upstreamPort));
    return start(
        List.of(
            EnvoyBinary.find().path().toString(),
            "-c",
            file.toString(),
            "--disable-hot-restart",
            "--concurrency",
            "" + threads,
            "--log-level",
            "warning"));
  }

  /** A command of this distribution in a JVM of its own, with the class path of this one. */
  private Process java(String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("--sun-misc-unsafe-memory-access=allow");
    command.add("-XX:+UseCompactObjectHeaders");
    String home = System.getProperty("warmpath.home");
    if (home != null) {
      command.add("-Dwarmpath.home=" + home);
    }
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(MAIN);
    command.addAll(List.of(arguments));
    return start(command);
  }

  private Process start(List<String> command) throws IOException {
    File log = folder.resolve("log-" + parts.size() + ".txt").toFile();
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(log)
            .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
            .start();
    parts.push(() -> stop(process));
    return process;
  }

  private static void stop(Process process) {
    process.destroy();
    try {
      if (!process.waitFor(10, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }

  /** Until the product answers a real request with 200. */
  private void awaitServing() throws IOException, InterruptedException {
    byte[] body = Bodies.chat(512, 1, 1).getFirst();
    long deadline = System.nanoTime() + START.toNanos();
    String last = "";
    while (System.nanoTime() < deadline) {
      try (LoadClient client = new LoadClient(product, OverheadBenchmark.PATH)) {
        LoadClient.Answer answer = client.post(body);
        if (answer.failure() == null) {
          return;
        }
        last = answer.failure();
      }
      Thread.sleep(100);
    }
    throw new IOException(
        "the gateway did not serve within " + START.toSeconds() + " s: " + last + "\n" + logs());
  }

  private static void await(InetSocketAddress address) throws IOException, InterruptedException {
    long deadline = System.nanoTime() + START.toNanos();
    while (true) {
      try (Socket socket = new Socket()) {
        socket.connect(address, 1000);
        return;
      } catch (IOException e) {
        if (System.nanoTime() > deadline) {
          throw new IOException("nothing listens on " + address, e);
        }
        Thread.sleep(50);
      }
    }
  }

  private String logs() throws IOException {
    StringBuilder all = new StringBuilder();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path log : files.filter(file -> file.toString().endsWith(".txt")).sorted().toList()) {
        String text = Files.readString(log);
        all.append(log.getFileName())
            .append(":\n")
            .append(text.substring(Math.max(0, text.length() - 2000)));
      }
    }
    return all.toString();
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  @Override
  public void close() throws IOException {
    while (!parts.isEmpty()) {
      parts.pop().close();
    }
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }

  /** Something to stop at the end. */
  private interface Part {
    void close();
  }
}
