package dev.warmpath.cli;

import dev.warmpath.cli.input.CommandException;
import dev.warmpath.envoy.Address;
import dev.warmpath.envoy.BootstrapOptions;
import dev.warmpath.envoy.EnvoyBinary;
import dev.warmpath.envoy.EnvoyProcess;
import dev.warmpath.extproc.ExtProcOptions;
import dev.warmpath.extproc.ExtProcServer;
import dev.warmpath.extproc.label.LabelWebhook;
import dev.warmpath.xds.XdsServer;
import dev.warmpath.xds.XdsServerOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The whole gateway on one machine: control plane and processor in this process, Envoy as a child;
 * Unix sockets between them. {@link #close} may be called from any thread and more than once.
 */
final class Standalone implements AutoCloseable {
  private static final Duration ENVOY_START = Duration.ofSeconds(60);
  private static final Duration LOADED = Duration.ofSeconds(30);
  private static final Duration READY = Duration.ofSeconds(60);

  private static final Duration ABANDON = Duration.ofSeconds(20);

  /** Also guards {@link #starter} and {@link #closing}. */
  private final Deque<AutoCloseable> parts = new ArrayDeque<>();

  private final Thread hook = new Thread(this::abandon, "stop-gateway");
  private @Nullable Thread starter = Thread.currentThread();
  private boolean closing;
  private final Path runDirectory;
  private final boolean ownDirectory;
  private @Nullable XdsServer xds;
  private @Nullable ExtProcServer processor;
  private @Nullable EnvoyProcess envoy;
  private Duration grace = Duration.ZERO;

  /**
   * How to start it.
   *
   * @param configuration folder with the resources
   * @param host and {@code port} that clients connect to; port 0 lets the system choose
   * @param admin where the processor's pages are; another port is taken if that one is in use
   * @param runDirectory for sockets and logs; null for a temporary one that is deleted at the end
   * @param concurrency Envoy's worker threads, 0 for one a core
   * @param labelWebhooks services that give labels
   * @param trustedIdentityHeader of a mesh in front; null for none
   */
  record Options(
      Path configuration,
      String host,
      int port,
      InetSocketAddress admin,
      @Nullable Path runDirectory,
      int concurrency,
      String envoyLogLevel,
      List<LabelWebhook> labelWebhooks,
      @Nullable String trustedIdentityHeader) {}

  private Standalone(@Nullable Path given) throws IOException {
    ownDirectory = given == null;
    runDirectory =
        given == null ? Files.createTempDirectory("warmpath-") : Files.createDirectories(given);
  }

  /** Starts everything; requests are served when this returns. */
  static Standalone start(Options options, Terminal terminal) throws Exception {
    EnvoyBinary binary;
    try {
      binary = EnvoyBinary.find();
    } catch (EnvoyBinary.MissingException e) {
      throw new CommandException(3, String.valueOf(e.getMessage()));
    }
    // Envoy itself would share the port with another Envoy, and each would get some connections.
    if (!isFree(new InetSocketAddress(options.host(), options.port()))) {
      throw new CommandException(
          "cannot listen on " + options.host() + ":" + options.port() + ": the port is in use");
    }
    Standalone gateway = new Standalone(options.runDirectory());
    // From here on, so that a signal during the start leaves nothing behind either.
    Runtime.getRuntime().addShutdownHook(gateway.hook);
    try {
      gateway.open(options, binary, terminal);
      gateway.started();
      return gateway;
    } catch (Exception e) {
      gateway.started();
      gateway.close();
      throw e instanceof InterruptedException
          ? new CommandException(130, "stopped while starting")
          : e;
    }
  }

  /** The start is over, well or not. */
  private void started() {
    synchronized (parts) {
      starter = null;
      parts.notifyAll();
    }
  }

  /** When the JVM is asked to end: stops a start that is going on, then closes. */
  private void abandon() {
    synchronized (parts) {
      closing = true;
      long deadline = System.nanoTime() + ABANDON.toNanos();
      while (starter != null && System.nanoTime() < deadline) {
        starter.interrupt();
        try {
          parts.wait(100);
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          break;
        }
      }
    }
    close();
  }

  private void open(Options options, EnvoyBinary binary, Terminal terminal) throws Exception {
    String nodeId = "standalone-" + ProcessHandle.current().pid();
    BootstrapOptions bootstrap =
        BootstrapOptions.local(
                nodeId, new Address.Tcp(options.host(), options.port()), runDirectory)
            .withTrustedIdentityHeader(options.trustedIdentityHeader());
    Path xdsSocket = runDirectory.resolve(BootstrapOptions.XDS_SOCKET);
    XdsServer control =
        terminal.step(
            "control plane",
            () -> {
              XdsServer server =
                  XdsServer.start(XdsServerOptions.standalone(options.configuration(), xdsSocket));
              own(server);
              if (!server.awaitReady(LOADED)) {
                throw new CommandException(
                    "the configuration in " + options.configuration() + " could not be loaded");
              }
              return server;
            });
    xds = control;
    ExtProcServer extProc =
        terminal.step(
            "processor",
            () -> {
              ExtProcServer server =
                  ExtProcServer.start(
                      ExtProcOptions.defaults(runDirectory, nodeId, bootstrap.nodeCluster())
                          .withControlPlane(new ExtProcOptions.ControlPlane.UnixSocket(xdsSocket))
                          .withAdminAddress(freeOr(options.admin()))
                          .withLabelWebhooks(options.labelWebhooks()));
              own(server);
              return server;
            });
    processor = extProc;
    EnvoyProcess child =
        terminal.step(
            "envoy",
            () -> {
              int cores = Runtime.getRuntime().availableProcessors();
              int threads = options.concurrency() > 0 ? options.concurrency() : cores;
              EnvoyProcess process =
                  startEnvoy(
                      new EnvoyProcess.Options(
                          binary, bootstrap, runDirectory, threads, options.envoyLogLevel()));
              own(() -> process.stop(grace));
              return process;
            });
    envoy = child;
    terminal.step(
        "ready",
        () -> {
          awaitServing(child);
          return true;
        });
  }

  /** The processor has a configuration and is warm, and Envoy knows it. */
  private static void awaitServing(EnvoyProcess envoy) throws Exception {
    long deadline = System.nanoTime() + READY.toNanos();
    URI health = URI.create("http://127.0.0.1:" + envoy.port() + "/health");
    try (HttpClient client = HttpClient.newHttpClient()) {
      HttpRequest probe = HttpRequest.newBuilder(health).timeout(READY).build();
      while (client.send(probe, HttpResponse.BodyHandlers.discarding()).statusCode() != 200) {
        if (System.nanoTime() > deadline) {
          throw new CommandException(
              "the gateway did not become ready within "
                  + READY.toSeconds()
                  + " s; Envoy's log is "
                  + envoy.logFile());
        }
        Thread.sleep(20);
      }
    }
  }

  static EnvoyProcess startEnvoy(EnvoyProcess.Options options) throws InterruptedException {
    try {
      return EnvoyProcess.start(options, ENVOY_START);
    } catch (IOException e) {
      throw new CommandException(String.valueOf(e.getMessage()));
    }
  }

  private void own(AutoCloseable part) {
    synchronized (parts) {
      parts.push(part);
      if (closing) {
        throw new CommandException(130, "stopped while starting");
      }
    }
  }

  /** That address if it is free, else any port of it. */
  static InetSocketAddress freeOr(InetSocketAddress wanted) {
    return isFree(wanted) ? wanted : new InetSocketAddress(wanted.getAddress(), 0);
  }

  private static boolean isFree(InetSocketAddress address) {
    try (ServerSocket probe = new ServerSocket()) {
      probe.setReuseAddress(true);
      probe.bind(address);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  XdsServer xds() {
    return started(xds);
  }

  ExtProcServer processor() {
    return started(processor);
  }

  EnvoyProcess envoy() {
    return started(envoy);
  }

  private static <T> T started(@Nullable T part) {
    if (part == null) {
      throw new IllegalStateException("not started");
    }
    return part;
  }

  /** Where clients connect, without a trailing slash. */
  URI endpoint(String host) throws IOException {
    String reachable = host.equals("0.0.0.0") || host.equals("::") ? "127.0.0.1" : host;
    return URI.create("http://" + new Address.Tcp(reachable, envoy().port()));
  }

  /** The processor's pages: decisions, workers, metrics. */
  URI adminPages() {
    return URI.create("http://127.0.0.1:" + processor().adminAddress().getPort());
  }

  /** The control plane's pages. */
  URI controlPages() {
    return URI.create("http://127.0.0.1:" + xds().adminPort());
  }

  Path runDirectory() {
    return runDirectory;
  }

  /** Completes if Envoy ends by itself. */
  CompletableFuture<Integer> envoyExit() {
    return envoy().onExit();
  }

  /** How long requests in flight may take to end when this is closed. */
  void grace(Duration value) {
    grace = value;
  }

  @Override
  public synchronized void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The JVM is ending: the hook runs, and finds nothing left to do.
    }
    while (true) {
      AutoCloseable part;
      synchronized (parts) {
        part = parts.poll();
      }
      if (part == null) {
        break;
      }
      try {
        part.close();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } catch (Exception e) {
        System.err.println("warmpath: while stopping: " + e);
      }
    }
    try {
      clean();
    } catch (IOException | UncheckedIOException e) {
      System.err.println("warmpath: could not delete " + runDirectory + ": " + e.getMessage());
    }
  }

  /** Sockets always; everything where the folder was made here. */
  private void clean() throws IOException {
    if (Files.isDirectory(runDirectory)) {
      try (Stream<Path> all = Files.walk(runDirectory)) {
        for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
          if (ownDirectory || path.toString().endsWith(".sock")) {
            Files.deleteIfExists(path);
          }
        }
      }
    }
  }
}
