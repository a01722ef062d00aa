package dev.warmpath.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.e2e.support.KubeApi;
import dev.warmpath.e2e.support.Repository;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** That the cluster of the other tests is one. */
class KubeApiIT {

  private static KubeApi api;

  @BeforeAll
  static void start() throws IOException, InterruptedException {
    api = KubeApi.withCrds();
  }

  @Test
  void the_pinned_versions_are_those_of_the_source_build()
      throws IOException, InterruptedException {
    String pom = Files.readString(Repository.root().resolve("pom.xml"));

    assertThat(Files.readString(Repository.root().resolve("e2e/kube/apiserver/go.mod")))
        .contains("k8s.io/kubernetes v" + version(pom, "kube"))
        .contains("go.etcd.io/etcd/server/v3 v" + version(pom, "etcd"));
    assertThat(Files.readString(Repository.root().resolve("e2e/kube/helm/go.mod")))
        .contains("helm.sh/helm/v3 v" + version(pom, "helm"));
    assertThat(api.get("/version").body()).contains("\"v" + version(pom, "kube") + "\"");
  }

  @Test
  void a_service_account_may_do_what_a_role_allows_and_nothing_else() {
    String namespace = api.newNamespace();
    try (KubernetesClient robot = api.client(api.tokenOf(namespace, "robot"))) {
      assertThatThrownBy(() -> robot.secrets().inNamespace(namespace).list())
          .isInstanceOfSatisfying(
              KubernetesClientException.class,
              refused -> assertThat(refused.getCode()).isEqualTo(403));
    }
  }

  @Test
  void what_was_written_is_there_after_the_server_was_killed_and_etcd_compacted()
      throws IOException, InterruptedException {
    String namespace = api.newNamespace();
    ConfigMap written =
        new ConfigMapBuilder()
            .withNewMetadata()
            .withName("kept")
            .withNamespace(namespace)
            .endMetadata()
            .withData(Map.of("a", "b"))
            .build();
    api.admin().resource(written).create();

    api.kill();
    api.compact();
    api.restart();

    assertThat(api.admin().configMaps().inNamespace(namespace).withName("kept").get().getData())
        .isEqualTo(Map.of("a", "b"));
  }

  private static String version(String pom, String name) {
    String tag = "<" + name + ".version>";
    int start = pom.indexOf(tag) + tag.length();
    return pom.substring(start, pom.indexOf('<', start));
  }
}
