package dev.warmpath.e2e.support;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A child process whose output goes to a file; its descendants die with it. */
public final class ManagedProcess implements AutoCloseable {

  private static final Duration STOP_PATIENCE = Duration.ofSeconds(30);

  private final String name;
  private final Process process;
  private final Path log;

  private ManagedProcess(String name, Process process, Path log) {
    this.name = name;
    this.process = process;
    this.log = log;
  }

  public static ManagedProcess start(
      String name, Path folder, Map<String, String> environment, List<String> command)
      throws IOException {
    Path log = folder.resolve(name + ".log");
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().putAll(environment);
    builder.redirectErrorStream(true);
    builder.redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
    builder.redirectInput(Path.of("/dev/null").toFile());
    return new ManagedProcess(name, builder.start(), log);
  }

  public String name() {
    return name;
  }

  public long pid() {
    return process.pid();
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  public String log() {
    try {
      return Files.exists(log) ? Files.readString(log, UTF_8) : "";
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  /** The end of the log, for failure messages. */
  public String tail() {
    String text = log();
    return name
        + " said:\n"
        + (text.length() > 6000 ? "…" + text.substring(text.length() - 6000) : text);
  }

  /** This process and everything it has started, as long as they live. */
  public List<ProcessHandle> family() {
    return Stream.concat(Stream.of(process.toHandle()), process.descendants()).toList();
  }

  /** SIGTERM, as an operator or Kubernetes sends it. */
  public void terminate() {
    process.destroy();
  }

  /** SIGINT, as Ctrl-C sends it. */
  public void interrupt() throws IOException, InterruptedException {
    signal("INT");
  }

  /** Any signal by name, for example STOP and CONT. */
  public void signal(String signal) throws IOException, InterruptedException {
    new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid())).start().waitFor();
  }

  /** SIGKILL to this process alone. */
  public void kill() throws InterruptedException {
    process.destroyForcibly();
    process.waitFor();
  }

  public int waitForExit(Duration patience) throws InterruptedException {
    if (!process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS)) {
      throw new AssertionError(name + " still runs after " + patience + "\n" + tail());
    }
    return process.exitValue();
  }

  @Override
  public void close() {
    List<ProcessHandle> family = family();
    process.destroy();
    try {
      if (!process.waitFor(STOP_PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    family.forEach(ProcessHandle::destroyForcibly);
  }
}
