package dev.warmpath.envoy;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * An Envoy child process. It ends with this JVM, however that ends: a small shell ({@code
 * run-envoy.sh}) between the two holds the read end of a pipe and ends Envoy when the pipe closes.
 * Thread-safe.
 */
public final class EnvoyProcess implements AutoCloseable {
  private static final Duration POLL = Duration.ofMillis(20);

  private final Process shell;
  private final ProcessHandle envoy;
  private final EnvoyAdmin admin;
  private final Path logFile;
  private final Address adminAddress;

  private EnvoyProcess(
      Process shell, ProcessHandle envoy, Address adminAddress, EnvoyAdmin admin, Path logFile) {
    this.shell = shell;
    this.envoy = envoy;
    this.adminAddress = adminAddress;
    this.admin = admin;
    this.logFile = logFile;
  }

  /**
   * How to run it.
   *
   * @param runDirectory gets {@code envoy.yaml}, the files that it refers to, and {@code envoy.log}
   * @param concurrency worker threads
   * @param logLevel of Envoy: trace, debug, info, warning, error, critical, off
   */
  public record Options(
      EnvoyBinary binary,
      BootstrapOptions bootstrap,
      Path runDirectory,
      int concurrency,
      String logLevel) {

    public static Options of(EnvoyBinary binary, BootstrapOptions bootstrap, Path runDirectory) {
      int processors = Runtime.getRuntime().availableProcessors();
      return new Options(binary, bootstrap, runDirectory, Math.clamp(processors, 1, 16), "warning");
    }
  }

  /** Envoy did not come up; the message holds what it logged. */
  public static final class StartException extends IOException {
    private static final long serialVersionUID = 1L;

    StartException(String message) {
      super(message);
    }
  }

  /** Starts Envoy; returns when it is live. */
  public static EnvoyProcess start(Options options, Duration timeout)
      throws IOException, InterruptedException {
    Path directory = options.runDirectory();
    Files.createDirectories(directory);
    Path config = directory.resolve(BootstrapRenderer.FILE);
    for (var file : BootstrapRenderer.files(options.bootstrap()).entrySet()) {
      Files.writeString(directory.resolve(file.getKey()), file.getValue());
    }
    Path log = directory.resolve("envoy.log");
    Files.deleteIfExists(log);
    Files.createFile(log);
    Address adminAddress = options.bootstrap().admin();
    removeStaleSocket(adminAddress);
    removeStaleSocket(options.bootstrap().listen());

    List<String> command = new ArrayList<>();
    command.addAll(List.of("sh", "-c", BootstrapRenderer.resource("run-envoy.sh"), "run-envoy"));
    command.add(log.toString());
    command.add(options.binary().path().toString());
    // With hot restart on, Envoy is bound to shared memory segments and to its launcher's life.
    command.addAll(List.of("--disable-hot-restart", "-c", config.toString()));
    command.addAll(List.of("--concurrency", Integer.toString(options.concurrency())));
    command.addAll(List.of("-l", options.logLevel(), "--drain-time-s", "30"));
    Process shell =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();

    long pid = readPid(shell, log);
    ProcessHandle envoy = ProcessHandle.of(pid).orElse(shell.toHandle());
    EnvoyAdmin admin = new EnvoyAdmin(adminAddress);
    EnvoyProcess process = new EnvoyProcess(shell, envoy, adminAddress, admin, log);
    long deadline = System.nanoTime() + timeout.toNanos();
    while (!admin.isLive()) {
      if (!shell.isAlive()) {
        throw new StartException("Envoy ended at once:\n" + lastLines(log));
      }
      if (System.nanoTime() > deadline) {
        process.close();
        throw new StartException(
            "Envoy was not ready within " + timeout.toSeconds() + " s:\n" + lastLines(log));
      }
      try {
        Thread.sleep(POLL);
      } catch (InterruptedException e) {
        process.close();
        throw e;
      }
    }
    return process;
  }

  private static void removeStaleSocket(Address address) throws IOException {
    if (address instanceof Address.Pipe pipe) {
      Files.deleteIfExists(pipe.path());
    }
  }

  private static long readPid(Process shell, Path log) throws IOException {
    BufferedReader out =
        new BufferedReader(new InputStreamReader(shell.getInputStream(), StandardCharsets.UTF_8));
    String line = out.readLine();
    if (line == null) {
      throw new StartException("Envoy could not be started:\n" + lastLines(log));
    }
    return Long.parseLong(line.strip());
  }

  private static String lastLines(Path log) throws IOException {
    List<String> lines = Files.readAllLines(log);
    return String.join("\n", lines.subList(Math.max(0, lines.size() - 15), lines.size()));
  }

  /** Envoy's own process id, not the shell's. */
  public long pid() {
    return envoy.pid();
  }

  public boolean isAlive() {
    return shell.isAlive();
  }

  /** Completes with the exit code when Envoy has ended. */
  public CompletableFuture<Integer> onExit() {
    return shell.onExit().thenApply(Process::exitValue);
  }

  public EnvoyAdmin admin() {
    return admin;
  }

  public Path logFile() {
    return logFile;
  }

  /** The port that clients connect to. */
  public int port() throws IOException {
    return admin.listenerPort(BootstrapOptions.LISTENER);
  }

  /**
   * Ends Envoy. New connections are refused at once; requests in flight get {@code grace} to end.
   */
  public void stop(Duration grace) throws InterruptedException {
    if (shell.isAlive() && grace.isPositive()) {
      drain(grace);
    }
    close();
  }

  private void drain(Duration grace) throws InterruptedException {
    long deadline = System.nanoTime() + grace.toNanos();
    try {
      admin.post("/drain_listeners");
      while (System.nanoTime() < deadline
          && shell.isAlive()
          && admin.stat("http.warmpath.downstream_rq_active") > 0) {
        Thread.sleep(POLL);
      }
    } catch (IOException e) {
      // It ended by itself or hangs: both end in close().
    }
  }

  /** Ends Envoy without waiting for requests. Idempotent. */
  @Override
  public void close() {
    envoy.destroy();
    try {
      if (!shell.waitFor(5, TimeUnit.SECONDS)) {
        envoy.destroyForcibly();
        shell.waitFor(5, TimeUnit.SECONDS);
      }
    } catch (InterruptedException e) {
      envoy.destroyForcibly();
      Thread.currentThread().interrupt();
    }
    shell.destroyForcibly();
    try {
      removeStaleSocket(adminAddress);
    } catch (IOException e) {
      // A socket that cannot be deleted is no reason to fail a shutdown.
    }
  }
}
