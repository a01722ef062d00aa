package dev.warmpath.xds.support;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** The Envoy executable: ENVOY_BIN, or what bin/lib/envoy.sh finds or fetches. */
final class EnvoyBinary {
  private EnvoyBinary() {}

  static String path() throws IOException {
    String given = System.getenv("ENVOY_BIN");
    if (given != null && !given.isBlank()) {
      return given;
    }
    Path root = Path.of("").toAbsolutePath();
    while (root != null && !Files.exists(root.resolve("bin/lib/envoy.sh"))) {
      root = root.getParent();
    }
    if (root == null) {
      throw new IllegalStateException("set ENVOY_BIN: bin/lib/envoy.sh is not above this folder");
    }
    Process process =
        new ProcessBuilder("bash", root.resolve("bin/lib/envoy.sh").toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    String path =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    try {
      if (!process.waitFor(5, TimeUnit.MINUTES) || process.exitValue() != 0 || path.isEmpty()) {
        throw new IllegalStateException("no Envoy: run bin/lib/envoy.sh, or set ENVOY_BIN");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
    return path;
  }
}
