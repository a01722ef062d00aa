package dev.warmpath.e2e.support;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** Where kube-apiserver, etcd and helm are, as {@code bin/lib/kube.sh} finds or builds them. */
final class KubePrograms {

  /** The source build on a busy machine. */
  private static final long BUILD_PATIENCE_MINUTES = 60;

  private KubePrograms() {}

  /**
   * The folder with all three. Waits for a build that {@code bin/test} has begun.
   *
   * @throws IllegalStateException with the command that installs what is missing
   */
  static Path folder() throws IOException, InterruptedException {
    Process finder =
        new ProcessBuilder("bash", Repository.root().resolve("bin/lib/kube.sh").toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    String folder = new String(finder.getInputStream().readAllBytes(), UTF_8).strip();
    if (!finder.waitFor(BUILD_PATIENCE_MINUTES, TimeUnit.MINUTES)
        || finder.exitValue() != 0
        || folder.isEmpty()) {
      throw new IllegalStateException(
          "no kube-apiserver, etcd and helm. To get them: bin/lib/kube.sh");
    }
    return Path.of(folder);
  }
}
