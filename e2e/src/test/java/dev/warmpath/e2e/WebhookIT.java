package dev.warmpath.e2e;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.warmpath.crds.resource.Kind;
import dev.warmpath.e2e.support.ConfigFolder;
import dev.warmpath.e2e.support.Json;
import dev.warmpath.e2e.support.KubeApi;
import dev.warmpath.e2e.support.TestAuthority;
import dev.warmpath.e2e.support.Tls;
import dev.warmpath.e2e.support.Warmpath;
import dev.warmpath.xds.XdsServer;
import dev.warmpath.xds.XdsServerOptions;
import dev.warmpath.xds.kubernetes.KubernetesSource;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfigurationBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The validating webhook: alone over TLS, and asked by a real API server. */
class WebhookIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private static final String BACKEND =
      """
      {"apiVersion": "inference.warmpath.dev/v1alpha1", "kind": "GatewayBackend",
       "metadata": {"name": "%s", "namespace": "%s"},
       "spec": {"models": ["%s"], "pool": {"name": "%s"}, "routes": [{"hosts": ["%s"]}]}}\
      """;

  @TempDir private Path folder;

  private final TestAuthority authority = new TestAuthority("Webhook CA");
  private Path ca;
  private Path certificate;
  private Path key;
  private ConfigFolder config;
  private Path runFolder;

  @BeforeEach
  void writeFiles() throws IOException {
    runFolder = Files.createTempDirectory("wp");
    ca = TestAuthority.put(folder.resolve("ca.crt"), authority.certificate());
    certificate = folder.resolve("tls.crt");
    key = folder.resolve("tls.key");
    authority.issue("webhook", "localhost", "127.0.0.1").write(certificate, key);
    config = new ConfigFolder(folder.resolve("config"));
  }

  @AfterEach
  void removeRunFolder() throws IOException {
    Files.deleteIfExists(runFolder.resolve("xds.sock"));
    Files.deleteIfExists(runFolder);
  }

  private XdsServerOptions options() {
    return XdsServerOptions.standalone(config.path(), runFolder.resolve("xds.sock"))
        .withWebhook(
            new XdsServerOptions.Webhook(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), certificate, key));
  }

  private HttpResponse<String> post(XdsServer server, String body) throws Exception {
    try (HttpClient client = HttpClient.newBuilder().sslContext(Tls.trusting(ca)).build()) {
      return client.send(
          HttpRequest.newBuilder(
                  URI.create("https://localhost:" + server.webhookPort() + "/validate"))
              .header("content-type", "application/json")
              .timeout(PATIENCE)
              .POST(HttpRequest.BodyPublishers.ofString(body))
              .build(),
          HttpResponse.BodyHandlers.ofString());
    }
  }

  private JsonNode review(XdsServer server, String object, String before) throws Exception {
    HttpResponse<String> answer =
        post(
            server,
            """
            {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
             "request": {"uid": "42", "operation": "CREATE", "object": %s, "oldObject": %s}}\
            """
                .formatted(object, before));
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    JsonNode review = Json.MAPPER.readTree(answer.body());
    assertThat(review.path("apiVersion").asString()).isEqualTo("admission.k8s.io/v1");
    assertThat(review.path("response").path("uid").asString()).isEqualTo("42");
    return review.path("response");
  }

  private static String backend(String name, String model, String host) {
    return BACKEND.formatted(name, "default", model, "tiny", host);
  }

  @Test
  void anObjectIsJudgedBesideThoseThatExist() throws Exception {
    config.workerSet("w", List.of(new ConfigFolder.Worker("a", 1))).pool("tiny", "tiny", "w");
    config.write("b.yaml", backend("b", "tiny", "b.example"));
    try (XdsServer server = XdsServer.start(options())) {
      assertThat(server.awaitReady(PATIENCE)).isTrue();

      JsonNode good = review(server, backend("a", "other", "a.example"), "null");
      assertThat(good.path("allowed").booleanValue()).as("%s", good).isTrue();

      JsonNode clash = review(server, backend("a", "other", "b.example"), "null");
      assertThat(clash.path("allowed").booleanValue()).isFalse();
      assertThat(clash.path("status").path("code").asInt()).isEqualTo(422);
      assertThat(clash.path("status").path("message").asString())
          .as("the one that is there keeps its route, though its name is later")
          .isEqualTo(
              "spec.routes[0]: b.example/ already leads to GatewayBackend default/b (AliasClash)");

      JsonNode lonely =
          review(server, BACKEND.formatted("c", "default", "c", "tnyi", "c.example"), "null");
      assertThat(lonely.path("allowed").booleanValue())
          .as("objects of one apply come in any order")
          .isTrue();
      assertThat(lonely.path("warnings").toString()).contains("tnyi", "ReferenceNotFound");

      JsonNode broken =
          review(
              server,
              backend("b", "tiny", "b.example").replace("\"models\"", "\"modles\""),
              "null");
      assertThat(broken.path("allowed").booleanValue()).isFalse();
      assertThat(broken.path("status").path("message").asString())
          .contains("spec.modles", "UnknownField", "spec.models", "MissingField");

      String stored = backend("z", "tiny", "b.example");
      assertThat(
              review(
                      server,
                      stored.replace("\"name\": \"z\"", "\"name\": \"z\", \"finalizers\": []"),
                      stored)
                  .path("allowed")
                  .booleanValue())
          .as("metadata of what is stored already")
          .isTrue();
      assertThat(review(server, "null", stored).path("allowed").booleanValue())
          .as("a deletion")
          .isTrue();

      assertThat(post(server, "{").statusCode()).isEqualTo(400);
      assertThat(post(server, "{\"request\": {}}").statusCode()).isEqualTo(400);
      assertThat(post(server, " ".repeat((4 << 20) + 1000)).statusCode()).isEqualTo(413);

      String before = serial(server);
      authority.issue("webhook", "localhost", "127.0.0.1").write(certificate, key);
      assertThat(serial(server)).as("a new certificate without a restart").isNotEqualTo(before);
    }
  }

  private String serial(XdsServer server) throws Exception {
    HttpResponse<String> answer = post(server, "{");
    return ((X509Certificate) answer.sslSession().orElseThrow().getPeerCertificates()[0])
        .getSerialNumber()
        .toString();
  }

  @Test
  void messagesAreThoseOfTheCommand() throws Exception {
    try (XdsServer server = XdsServer.start(options())) {
      assertThat(server.awaitReady(PATIENCE)).isTrue();
      String object = backend("a", "x*", "not a host").replace("\"pool\"", "\"pol\"");
      Path file = Files.writeString(folder.resolve("object.json"), object);

      String message = review(server, object, "null").path("status").path("message").asString();

      Warmpath.Result command = Warmpath.run("validate", "-f", file.toString());
      for (String sentence : message.split("; ", -1)) {
        assertThat(command.output()).contains(sentence);
      }
      assertThat(message).contains("spec.pol: there is no such field; did you mean pool?");
    }
  }

  @Test
  void aRealApiServerRefusesWithTheSameWords() throws Exception {
    KubeApi api = KubeApi.withCrds();
    String namespace = api.newNamespace();
    KubernetesClient admin = api.admin();
    try (XdsServer server =
        XdsServer.start(options(), new KubernetesSource(api.newAdmin(), namespace))) {
      assertThat(server.awaitReady(PATIENCE)).isTrue();
      ValidatingWebhookConfiguration configuration = configuration(namespace, server.webhookPort());
      admin.resource(configuration).create();
      try {
        String bad = BACKEND.formatted("bad", namespace, "m", "p", "-.example");
        await("the API server asks")
            .atMost(PATIENCE)
            .ignoreException(AssertionError.class)
            .untilAsserted(() -> {
              var dry = admin.resource(bad).inNamespace(namespace).dryRun(true);
              assertThatThrownBy(dry::create)
                  .isInstanceOf(KubernetesClientException.class)
                  .hasMessageContaining(
                      "admission webhook \"validate.inference.warmpath.dev\" denied the request:"
                          + " spec.routes[0].hosts[0]: must be a host name");
            });

        create(admin, namespace, BACKEND.formatted("b", namespace, "m", "p", "b.example"));
        await("the webhook knows it")
            .atMost(PATIENCE)
            .until(() -> server.resources().stream().anyMatch(r -> r.key().name().equals("b")));
        assertThatThrownBy(() ->
                create(admin, namespace, BACKEND.formatted("a", namespace, "n", "p", "b.example")))
            .hasMessageContaining("already leads to GatewayBackend " + namespace + "/b");
        assertThat(
                admin
                    .resource(BACKEND.formatted("b", namespace, "m", "p", "b.example"))
                    .inNamespace(namespace)
                    .delete())
            .as("a deletion")
            .isNotEmpty();
        create(
            admin,
            api.newNamespace(),
            BACKEND
                .formatted("bad", "elsewhere", "m", "p", "-.example")
                .replace("\"namespace\": \"elsewhere\"", "\"labels\": {}"));
      } finally {
        admin.resource(configuration).delete();
      }
    }
  }

  private static void create(KubernetesClient admin, String namespace, String object) {
    admin.resource(object).inNamespace(namespace).create();
  }

  private ValidatingWebhookConfiguration configuration(String namespace, int port) {
    return new ValidatingWebhookConfigurationBuilder()
        .withNewMetadata()
        .withName("warmpath-" + namespace)
        .endMetadata()
        .addNewWebhook()
        .withName("validate.inference.warmpath.dev")
        .withAdmissionReviewVersions("v1")
        .withSideEffects("None")
        .withFailurePolicy("Fail")
        .withTimeoutSeconds(10)
        .withNewClientConfig()
        .withUrl("https://127.0.0.1:" + port + "/validate")
        .withCaBundle(Base64.getEncoder().encodeToString(authority.certificate().getBytes(UTF_8)))
        .endClientConfig()
        .withNewNamespaceSelector()
        .withMatchLabels(Map.of("kubernetes.io/metadata.name", namespace))
        .endNamespaceSelector()
        .addNewRule()
        .withApiGroups(Kind.GROUP)
        .withApiVersions(Kind.VERSION)
        .withOperations("CREATE", "UPDATE")
        .withResources(Arrays.stream(Kind.values()).map(Kind::plural).toArray(String[]::new))
        .endRule()
        .endWebhook()
        .build();
  }
}
