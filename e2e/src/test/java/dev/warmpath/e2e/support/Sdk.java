package dev.warmpath.e2e.support;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/**
 * A vendor's real Python SDK in an environment of its own, as {@code bin/test --setup} installs it.
 */
public enum Sdk {
  OPENAI_CURRENT("current", "openai_calls.py"),
  OPENAI_PREVIOUS("previous", "openai_calls.py"),
  ANTHROPIC("current", "anthropic_calls.py");

  private final String environment;
  private final String program;

  Sdk(String environment, String program) {
    this.environment = environment;
    this.program = program;
  }

  /**
   * Runs the program and returns what it printed: scenario to what it saw.
   *
   * @param scenarios none means all
   */
  public JsonNode run(String baseUrl, String apiKey, String model, String... scenarios)
      throws IOException, InterruptedException {
    Path python = cache().resolve("sdk").resolve(environment).resolve("bin/python");
    if (!Files.isExecutable(python)) {
      throw new IllegalStateException(
          "no Python SDKs in " + python + ". Install them: bin/test --setup");
    }
    Path script = Repository.root().resolve("e2e/src/test/resources/sdk").resolve(program);
    List<String> command =
        new ArrayList<>(List.of(python.toString(), script.toString(), baseUrl, apiKey, model));
    command.addAll(List.of(scenarios));
    Path errors = Files.createTempFile("sdk", ".err");
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.redirectError(errors.toFile());
    builder
        .environment()
        .keySet()
        .removeIf(name -> name.toLowerCase(java.util.Locale.ROOT).endsWith("_proxy"));
    Process process = builder.start();
    process.getOutputStream().close();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    int exit = process.waitFor();
    String complaint = Files.readString(errors);
    Files.delete(errors);
    if (exit != 0) {
      throw new AssertionError(program + " ended with " + exit + ":\n" + complaint);
    }
    return Json.MAPPER.readTree(output);
  }

  private static Path cache() {
    String cache = System.getenv("WARMPATH_CACHE");
    return cache == null || cache.isEmpty() ? Repository.root().resolve(".cache") : Path.of(cache);
  }
}
