package dev.warmpath.e2e.support;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The {@code warmpath} command, run from the classes of this build. */
public final class Warmpath {

  private static final String MAIN = "dev.warmpath.cli.Main";

  /**
   * How a command ended.
   *
   * @param output standard output and standard error together
   */
  public record Result(int exit, String output) {}

  private Warmpath() {}

  /** Command line of a subcommand. */
  public static List<String> command(List<String> arguments) {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx768m",
                "-XX:+ExitOnOutOfMemoryError",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-cp",
                System.getProperty(
                    "surefire.test.class.path", System.getProperty("java.class.path")),
                MAIN));
    command.addAll(arguments);
    return command;
  }

  /** What every process of the product gets: the same Envoy that bin/ scripts find. */
  public static Map<String, String> environment() {
    return Map.of("ENVOY_BIN", envoy().toString());
  }

  /** Runs a subcommand to its end. */
  public static Result run(String... arguments) throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder(command(List.of(arguments)));
    builder.environment().putAll(environment());
    builder.redirectErrorStream(true);
    builder.redirectInput(Path.of("/dev/null").toFile());
    Process process = builder.start();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    return new Result(process.waitFor(), output);
  }

  /** The Envoy that bin/ scripts find. */
  public static Path envoy() {
    String given = System.getenv("ENVOY_BIN");
    if (given != null && !given.isEmpty()) {
      return Path.of(given);
    }
    String cache = System.getenv("WARMPATH_CACHE");
    Path folder =
        cache == null || cache.isEmpty() ? Repository.root().resolve(".cache") : Path.of(cache);
    try (var folders = Files.list(folder)) {
      return folders
          .filter(entry -> entry.getFileName().toString().startsWith("envoy-"))
          .map(entry -> entry.resolve("envoy"))
          .filter(Files::isExecutable)
          .findFirst()
          .orElseThrow(Warmpath::noEnvoy);
    } catch (IOException absent) {
      throw noEnvoy();
    }
  }

  private static IllegalStateException noEnvoy() {
    return new IllegalStateException("no Envoy. Get it: bin/test --setup, or set ENVOY_BIN");
  }
}
