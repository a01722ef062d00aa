package dev.warmpath.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.e2e.support.Charts;
import dev.warmpath.e2e.support.KubeApi;
import dev.warmpath.e2e.support.Repository;
import dev.warmpath.e2e.support.Warmpath;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.startupcheck.OneShotStartupCheckStrategy;
import org.testcontainers.k3s.K3sContainer;
import org.testcontainers.utility.DockerImageName;
import org.testcontainers.utility.MountableFile;

/**
 * The same product on the images that others publish. Needs Docker and a registry; the other tests
 * prove the same on binaries, so a machine without is not a failure, and says that this was left
 * out.
 */
@EnabledIf(value = "dockerIsAvailable", disabledReason = "no Docker here; see the line above")
class OfficialImagesContainersIT {

  private static final Duration PULL_PATIENCE = Duration.ofMinutes(5);

  static boolean dockerIsAvailable() {
    boolean available = DockerClientFactory.instance().isDockerAvailable();
    if (!available) {
      System.out.println(
          "OfficialImagesContainersIT: left out, as no Docker daemon answers. It needs one, and a"
              + " registry with envoyproxy/envoy and rancher/k3s.");
    }
    return available;
  }

  @Test
  void official_envoy_image_accepts_the_bootstrap(@TempDir Path folder) throws Exception {
    Path bootstrap = folder.resolve("envoy.yaml");
    Warmpath.Result rendered =
        Warmpath.run("envoy", "render", "--listen", "0.0.0.0:8080", "--output", "" + bootstrap);
    assertThat(rendered.exit()).as(rendered.output()).isZero();

    try (GenericContainer<?> envoy =
        new GenericContainer<>(DockerImageName.parse("envoyproxy/envoy:v" + version("envoy")))
            .withCopyFileToContainer(MountableFile.forHostPath(bootstrap), "/tmp/envoy.yaml")
            .withCommand("envoy", "--mode", "validate", "-c", "/tmp/envoy.yaml")
            .withStartupCheckStrategy(
                new OneShotStartupCheckStrategy().withTimeout(PULL_PATIENCE))) {
      envoy.start();

      assertThat(envoy.getLogs()).contains("configuration '/tmp/envoy.yaml' OK");
    }
  }

  @Test
  void charts_and_resources_install_on_k3s(@TempDir Path folder) throws Exception {
    try (K3sContainer k3s =
        new K3sContainer(DockerImageName.parse("rancher/k3s:v" + version("kube") + "-k3s1"))) {
      k3s.withStartupTimeout(PULL_PATIENCE).start();
      Path kubeconfig = folder.resolve("kubeconfig");
      Files.writeString(kubeconfig, k3s.getKubeConfigYaml());
      install(kubeconfig, "warmpath-crds");
      install(kubeconfig, "warmpath");

      try (KubernetesClient client =
          new KubernetesClientBuilder()
              .withConfig(Config.fromKubeconfig(k3s.getKubeConfigYaml()))
              .build()) {
        for (HasMetadata object : quickstart(client)) {
          assertThat(client.resource(object).inNamespace("default").serverSideApply()).isNotNull();
        }
        // A real controller manager makes pods of it, and real admission lets them in.
        client
            .pods()
            .inNamespace("default")
            .withLabel("app.kubernetes.io/component", "gateway")
            .waitUntilCondition(pod -> pod != null, 1, TimeUnit.MINUTES);
      }
    }
  }

  private static Iterable<HasMetadata> quickstart(KubernetesClient client) throws IOException {
    Path folder = Repository.root().resolve("examples/quickstart");
    StringBuilder all = new StringBuilder();
    try (var files = Files.list(folder)) {
      for (Path file : files.sorted().toList()) {
        all.append("---\n").append(Files.readString(file));
      }
    }
    return client
        .load(
            new java.io.ByteArrayInputStream(
                all.toString().getBytes(java.nio.charset.StandardCharsets.UTF_8)))
        .items();
  }

  private static void install(Path kubeconfig, String chart)
      throws IOException, InterruptedException {
    Warmpath.Result result =
        KubeApi.shared()
            .helm("install", chart, Charts.folder(chart).toString(), "--kubeconfig=" + kubeconfig);
    assertThat(result.exit()).as(result.output()).isZero();
  }

  private static String version(String property) throws IOException {
    String pom = Files.readString(Repository.root().resolve("pom.xml"));
    String tag = "<" + property + ".version>";
    int start = pom.indexOf(tag) + tag.length();
    return pom.substring(start, pom.indexOf('<', start));
  }
}
