package dev.warmpath.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.crds.resource.Problem;
import dev.warmpath.crds.resource.ResourceValidator;
import dev.warmpath.e2e.support.KubeNamespace;
import dev.warmpath.e2e.support.Repository;
import dev.warmpath.xds.kubernetes.KubernetesSource;
import dev.warmpath.xds.plan.Conditions;
import dev.warmpath.xds.plan.Plan;
import dev.warmpath.xds.plan.Planner;
import dev.warmpath.xds.source.DirectorySource;
import dev.warmpath.xds.source.ResourceSource;
import dev.warmpath.xds.source.SourceSnapshot;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The same resources, as files and on an API server, come to the same plan. */
class KubernetesSourceIT {

  private static final Path ROOT = Repository.root();

  /** Resources that are not of the schema: an API server does not take them in at all. */
  private static final Set<String> UNREADABLE = Set.of("unreadable");

  static List<Path> corpora() throws IOException {
    List<Path> corpora =
        new ArrayList<>(
            List.of(ROOT.resolve("crds/examples"), ROOT.resolve("examples/quickstart")));
    corpora.addAll(list(ROOT.resolve("xds-server/src/test/resources/golden")));
    corpora.addAll(list(ROOT.resolve("crds/examples/recipes")));
    return corpora;
  }

  @ParameterizedTest
  @MethodSource("corpora")
  void a_folder_and_an_api_server_give_the_same_plan(Path corpus, @TempDir Path folder)
      throws IOException, InterruptedException {
    KubeNamespace namespace = KubeNamespace.create();
    int documents = 0;
    for (Path file : files(corpus)) {
      String text = Files.readString(file);
      if (file.endsWith("in-secrets.yaml")) {
        secrets(text, namespace, folder);
        continue;
      }
      for (HasMetadata object : namespace.read(text)) {
        if (UNREADABLE.contains(object.getMetadata().getName())) {
          continue;
        }
        object.getMetadata().setNamespace(namespace.name());
        String yaml = namespace.client().getKubernetesSerialization().asYaml(object);
        Files.writeString(folder.resolve("resource-" + documents++ + ".yaml"), yaml);
        namespace.apply(yaml);
      }
    }

    Plan ofFolder = plan(new DirectorySource(folder));
    Plan ofServer = plan(new KubernetesSource(namespace.api().newAdmin(), namespace.name()));

    assertThat(documents).isPositive();
    assertThat(ofServer.routing()).isEqualTo(ofFolder.routing());
    assertThat(ofServer.model()).isEqualTo(ofFolder.model());
    assertThat(ofServer.states()).isEqualTo(ofFolder.states());
    assertThat(told(ofServer)).containsExactlyInAnyOrderElementsOf(told(ofFolder));
  }

  /** Problems without where they were read; a folder has no Pods, and says so. */
  private static List<String> told(Plan plan) {
    return plan.problems().stream()
        .filter(problem -> !problem.reason().equals(Conditions.WORKERS_NOT_FOUND))
        .map(KubernetesSourceIT::text)
        .toList();
  }

  private static String text(Problem problem) {
    return problem.severity()
        + " "
        + problem.key()
        + " "
        + problem.field()
        + " "
        + problem.message();
  }

  private static Plan plan(ResourceSource source) throws InterruptedException {
    BlockingQueue<SourceSnapshot> snapshots = new LinkedBlockingQueue<>();
    try (source) {
      source.start(snapshots::add);
      SourceSnapshot first = snapshots.poll(60, TimeUnit.SECONDS);
      assertThat(first).as("a snapshot").isNotNull();
      return new Planner(new ResourceValidator()).plan(first);
    }
  }

  /** Lines {@code name/key: value}, as the golden tests have them. */
  private static void secrets(String text, KubeNamespace namespace, Path folder)
      throws IOException {
    Map<?, ?> secrets = namespace.client().getKubernetesSerialization().unmarshal(text, Map.class);
    for (Map.Entry<?, ?> secret : secrets.entrySet()) {
      String name = String.valueOf(secret.getKey());
      String value = String.valueOf(secret.getValue());
      String[] nameAndKey = name.split("/", 2);
      Path file = folder.resolve("secrets").resolve(name);
      Files.createDirectories(file.getParent());
      Files.writeString(file, value);
      namespace.secret(nameAndKey[0], nameAndKey[1], value);
    }
  }

  private static List<Path> files(Path corpus) throws IOException {
    return Files.isDirectory(corpus)
        ? list(corpus).stream()
            .filter(file -> file.toString().endsWith(".yaml"))
            .filter(file -> !file.getFileName().toString().startsWith("out-"))
            .toList()
        : List.of(corpus);
  }

  private static List<Path> list(Path folder) throws IOException {
    try (Stream<Path> entries = Files.list(folder)) {
      return entries.sorted().toList();
    }
  }
}
