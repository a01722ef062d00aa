package dev.warmpath.e2e;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.e2e.support.Charts;
import dev.warmpath.e2e.support.KubeApi;
import dev.warmpath.e2e.support.Repository;
import dev.warmpath.e2e.support.Tree;
import dev.warmpath.e2e.support.Warmpath;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The gateway's chart with the real helm, and what it renders before a real API server. After a
 * change of the chart, {@code -Dchart.update=true} writes the golden files.
 */
class ChartIT {

  private static final Path RESOURCES = Repository.root().resolve("e2e/src/test/resources/helm");

  private static KubeApi api;

  @BeforeAll
  static void start() throws IOException, InterruptedException {
    api = KubeApi.withCrds();
  }

  @ParameterizedTest
  @ValueSource(strings = {"warmpath", "warmpath-crds"})
  void lint_finds_nothing(String chart) throws IOException, InterruptedException {
    assertSucceeds(api.helm("lint", "--strict", Charts.folder(chart).toString()));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "defaults",
        "sidecar",
        "cert-manager",
        "existing",
        "autoscaled-and-monitored",
        "minimal"
      })
  void render_is_the_golden_file(String values) throws IOException, InterruptedException {
    String rendered = Charts.withoutCertificates(render("warmpath", values));
    Path golden = RESOURCES.resolve("golden/" + values + ".yaml");
    if (Boolean.getBoolean("chart.update")) {
      Files.writeString(golden, rendered);
    }

    assertThat(rendered).isEqualTo(Files.readString(golden));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      textBlock =
          """
          mode=mesh                         | '/mode': value must be one of 'gateway', 'sidecar'
          gatway.replicas=2                 | additional properties 'gatway' not allowed
          gateway.replicas=two              | '/gateway/replicas': got string, want integer
          gateway.bodyLimitBytes=1000       | '/gateway/bodyLimitBytes': minimum: got 1,000
          gateway.drain.limitSeconds=0      | '/gateway/drain/limitSeconds': minimum: got 0, want 1
          images.extProc.digest=latest      | '/images/extProc/digest': 'latest' does not match pattern
          extProc.resources.limits.memory=x | '/extProc/resources/limits/memory': 'x' does not match
          secretNames={Team_A}              | '/secretNames/0': 'Team_A' does not match pattern
          certificates.source=existing      | '/certificates/existing/xdsServer': minLength: got 0
          webhook.failurePolicy=Block       | '/webhook/failurePolicy': value must be one of
          """)
  void wrong_value_is_refused_in_a_line_that_names_it(String set, String line)
      throws IOException, InterruptedException {
    Warmpath.Result result = Charts.render(api, "default", "--set", set);

    assertThat(result.exit()).isNotZero();
    assertThat(result.output().lines().map(String::strip).map(text -> text.replace("- at ", "")))
        .anyMatch(text -> text.contains(line));
  }

  @ParameterizedTest
  @ValueSource(strings = {"defaults", "sidecar", "existing", "autoscaled-and-monitored", "minimal"})
  void api_server_accepts_what_is_rendered(String values) throws IOException, InterruptedException {
    String namespace = api.newNamespace();
    int checked = 0;

    for (HasMetadata object : objects(render(namespace, values))) {
      if (object instanceof GenericKubernetesResource) {
        assertThat(object.getApiVersion()).as("kinds that are not here").startsWith("monitoring.");
        continue;
      }
      String home = object.getMetadata().getNamespace();
      object.getMetadata().setNamespace(home == null ? namespace : namespaceFor(home, namespace));
      api.admin().resource(object).dryRun().fieldManager("test").forceConflicts().serverSideApply();
      checked++;
    }

    assertThat(checked).isGreaterThan(6);
  }

  /** "models" of a value set exists here only under another name. */
  private static String namespaceFor(String rendered, String namespace) {
    return rendered.equals("models") ? "default" : namespace;
  }

  @ParameterizedTest
  @ValueSource(strings = {"defaults", "sidecar"})
  void every_pod_is_admitted_where_the_restricted_standard_is_enforced(String values)
      throws IOException, InterruptedException {
    String namespace = "restricted-" + values;
    api.admin()
        .resource(
            new NamespaceBuilder()
                .withNewMetadata()
                .withName(namespace)
                .addToLabels("pod-security.kubernetes.io/enforce", "restricted")
                .endMetadata()
                .build())
        .create();
    int pods = 0;

    for (HasMetadata object : objects(render(namespace, values))) {
      Pod pod = podOf(object, namespace);
      if (pod != null) {
        api.admin().resource(pod).dryRun().create();
        pods++;
      }
    }

    assertThat(pods).as("control plane, processor and the chart's test").isEqualTo(3);
  }

  private static @Nullable Pod podOf(HasMetadata object, String namespace) {
    return switch (object) {
      case Deployment deployment ->
          new PodBuilder()
              .withNewMetadata()
              .withName(deployment.getMetadata().getName())
              .withNamespace(namespace)
              .endMetadata()
              .withSpec(deployment.getSpec().getTemplate().getSpec())
              .build();
      case Pod pod -> {
        pod.getMetadata().setNamespace(namespace);
        yield pod;
      }
      default -> null;
    };
  }

  @Test
  void dashboard_is_rendered_as_it_is() throws IOException, InterruptedException {
    Warmpath.Result rendered =
        Charts.render(api, "default", "--set", "monitoring.dashboards.enabled=true");
    assertSucceeds(rendered);

    Map<String, Object> configMap =
        Charts.documents(rendered.output()).stream()
            .filter(document -> "ConfigMap".equals(document.get("kind")))
            .findFirst()
            .orElseThrow();

    assertThat(Tree.text(configMap, "data", "warmpath.json"))
        .isEqualTo(Files.readString(Charts.folder("warmpath").resolve("dashboards/warmpath.json")));
  }

  @Test
  void certificates_fit_together_and_carry_the_name_that_gateways_use() throws Exception {
    String rendered = render("team", "defaults", "--set", "webhook.enabled=true");
    Map<String, Object> secrets = new TreeMap<>();
    for (HasMetadata object : objects(rendered)) {
      if (object instanceof Secret secret) {
        secrets.put(secret.getMetadata().getName(), secret.getData());
      }
    }

    assertThat(secrets)
        .containsOnlyKeys(
            "warmpath-webhook-tls", "warmpath-xds-client-tls", "warmpath-xds-server-tls");
    for (String name : secrets.keySet()) {
      certificate(secrets, name, "tls.crt")
          .verify(certificate(secrets, name, "ca.crt").getPublicKey());
    }
    assertThat(Tree.text(secrets, "warmpath-xds-client-tls", "ca.crt"))
        .isEqualTo(Tree.text(secrets, "warmpath-xds-server-tls", "ca.crt"));
    assertThat(
            certificate(secrets, "warmpath-xds-server-tls", "tls.crt")
                .getSubjectAlternativeNames()
                .toString())
        .contains("warmpath-xds.team.svc]", "warmpath-xds.team.svc.cluster.local]");
    assertThat(rendered)
        .contains("--xds=warmpath-xds.team.svc:18000")
        .contains("caBundle: " + Tree.text(secrets, "warmpath-webhook-tls", "ca.crt"));
  }

  private static X509Certificate certificate(Map<String, Object> secrets, String name, String key)
      throws CertificateException {
    byte[] pem = Base64.getDecoder().decode(Tree.text(secrets, name, key));
    return (X509Certificate)
        CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(pem));
  }

  @Test
  void upgrade_from_the_previous_charts_keeps_resources_and_certificates(@TempDir Path scratch)
      throws IOException, InterruptedException {
    String namespace = api.newNamespace();
    // The charts as an older release may have had them: another version, and a kind with less.
    Path olderCrds = older("warmpath-crds", scratch);
    Path pools = olderCrds.resolve("templates/inferencepools.inference.warmpath.dev.yaml");
    String described = Files.readString(pools);
    String less = described.replaceFirst("(?s) {4}- jsonPath: \".status.ready\".*?(?= {4}- )", "");
    assertThat(less).isNotEqualTo(described);
    Files.writeString(pools, less);
    Path older = older("warmpath", scratch);
    assertSucceeds(api.helm("upgrade", "warmpath-crds", olderCrds.toString(), "-n", "crds"));
    assertSucceeds(api.helm("install", "warmpath", older.toString(), "-n", namespace));
    GenericKubernetesResource pool = applyQuickstart(namespace);
    Map<String, String> certificates = certificates(namespace);

    assertSucceeds(
        api.helm(
            "upgrade", "warmpath-crds", Charts.folder("warmpath-crds").toString(), "-n", "crds"));
    assertSucceeds(
        api.helm("upgrade", "warmpath", Charts.folder("warmpath").toString(), "-n", namespace));

    assertThat(poolOf(namespace).getMetadata().getUid()).isEqualTo(pool.getMetadata().getUid());
    assertThat(certificates(namespace)).isEqualTo(certificates);
    assertThat(versionOf("warmpath-xds", namespace)).isEqualTo("0.1.0");

    assertSucceeds(api.helm("rollback", "warmpath", "1", "-n", namespace));

    assertThat(certificates(namespace)).isEqualTo(certificates);
    assertThat(versionOf("warmpath-xds", namespace)).isEqualTo("0.0.9");
    assertSucceeds(api.helm("uninstall", "warmpath", "-n", namespace));
    assertThat(poolOf(namespace).getMetadata().getUid()).isEqualTo(pool.getMetadata().getUid());
  }

  private static Path older(String chart, Path scratch) throws IOException {
    Path target = scratch.resolve(chart);
    Path source = Charts.folder(chart);
    try (Stream<Path> files = Files.walk(source)) {
      for (Path file : files.toList()) {
        Path copy = target.resolve(source.relativize(file).toString());
        if (Files.isDirectory(file)) {
          Files.createDirectories(copy);
        } else {
          Files.copy(file, copy);
        }
      }
    }
    Path description = target.resolve("Chart.yaml");
    Files.writeString(description, Files.readString(description).replace("0.1.0", "0.0.9"));
    return target;
  }

  private static GenericKubernetesResource applyQuickstart(String namespace) throws IOException {
    try (Stream<Path> files = Files.list(Repository.root().resolve("examples/quickstart"))) {
      for (Path file : files.sorted().toList()) {
        for (HasMetadata object : objects(Files.readString(file))) {
          object.getMetadata().setNamespace(namespace);
          api.admin().resource(object).create();
        }
      }
    }
    return poolOf(namespace);
  }

  private static GenericKubernetesResource poolOf(String namespace) {
    return api.admin()
        .genericKubernetesResources("inference.warmpath.dev/v1alpha1", "InferencePool")
        .inNamespace(namespace)
        .list()
        .getItems()
        .getFirst();
  }

  private static Map<String, String> certificates(String namespace) {
    Map<String, String> certificates = new TreeMap<>();
    api.admin().secrets().inNamespace(namespace).list().getItems().stream()
        .filter(secret -> "kubernetes.io/tls".equals(secret.getType()))
        .forEach(secret ->
            certificates.put(secret.getMetadata().getName(), secret.getData().toString()));
    assertThat(certificates).hasSize(2);
    return certificates;
  }

  private static String versionOf(String deployment, String namespace) {
    return Tree.text(
        api.admin()
            .apps()
            .deployments()
            .inNamespace(namespace)
            .withName(deployment)
            .get()
            .getMetadata()
            .getLabels(),
        "app.kubernetes.io/version");
  }

  private static String render(String namespace, String values, String... options)
      throws IOException, InterruptedException {
    String[] all =
        Stream.concat(
                Stream.of("--values", RESOURCES.resolve("values/" + values + ".yaml").toString()),
                Stream.of(options))
            .toArray(String[]::new);
    Warmpath.Result result = Charts.render(api, namespace, all);
    assertSucceeds(result);
    return result.output();
  }

  private static List<HasMetadata> objects(String yaml) {
    return api.admin().load(new ByteArrayInputStream(yaml.getBytes(UTF_8))).items();
  }

  private static void assertSucceeds(Warmpath.Result result) {
    assertThat(result.exit()).as(result.output()).isZero();
  }
}
