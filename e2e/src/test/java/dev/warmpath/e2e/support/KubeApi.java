package dev.warmpath.e2e.support;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;

import dev.warmpath.crds.resource.Kind;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A real kube-apiserver on a real etcd, one for all tests of a run, on free loopback ports. There
 * are no controllers and no kubelet: namespaces are never gone, nothing is collected, and nothing
 * runs Pods. So each test makes a {@link #newNamespace} and leaves it behind.
 *
 * <p>Thread-safe, except that {@link #kill} and {@link #restart} are for one test at a time.
 */
public final class KubeApi {

  /** 5 s on a quiet machine, a minute on a busy one. */
  private static final Duration START_PATIENCE = Duration.ofMinutes(3);

  private static final String ADMIN_TOKEN = "admin-of-the-test-cluster";
  private static final Pattern REVISION = Pattern.compile("\"revision\":\"([0-9]+)\"");

  private static @Nullable KubeApi shared;

  private final Path programs;
  private final Path folder;
  private final int port = Ports.free();
  private final int etcdPort = Ports.free();
  private final HttpClient http = HttpClient.newHttpClient();
  private final AtomicInteger namespaces = new AtomicInteger();
  private final ManagedProcess etcd;
  private ManagedProcess server;
  private final KubernetesClient admin;
  private boolean hasCrds;

  private KubeApi() throws IOException, InterruptedException {
    programs = KubePrograms.folder();
    folder = Files.createTempDirectory("wp-kube");
    writeServiceAccountKeys();
    Files.writeString(
        folder.resolve("tokens.csv"), ADMIN_TOKEN + ",admin,admin,\"system:masters\"\n");
    Runtime.getRuntime().addShutdownHook(new Thread(this::close, "kube-api-close"));
    etcd = startEtcd();
    server = startServer();
    awaitReady();
    admin = client(ADMIN_TOKEN);
    Files.writeString(kubeconfig(), kubeconfigOf(ADMIN_TOKEN, address()));
  }

  /** The one of this test run; started by the first caller. */
  public static synchronized KubeApi shared() throws IOException, InterruptedException {
    KubeApi api = shared;
    if (api == null) {
      api = new KubeApi();
      shared = api;
    }
    return api;
  }

  /** As {@link #shared}, with the custom resources installed by their chart. */
  public static synchronized KubeApi withCrds() throws IOException, InterruptedException {
    KubeApi api = shared();
    api.installCrds();
    return api;
  }

  private void installCrds() throws IOException, InterruptedException {
    if (hasCrds) {
      return;
    }
    String chart = Repository.root().resolve("helm/warmpath-crds").toString();
    Warmpath.Result result =
        helm("install", "warmpath-crds", chart, "--namespace", "crds", "--create-namespace");
    if (result.exit() != 0) {
      throw new AssertionError("helm install warmpath-crds: " + result.output());
    }
    // A definition that is Established can still answer 404 for a moment.
    for (Kind kind : Kind.values()) {
      String path = "/apis/" + Kind.GROUP + "/" + Kind.VERSION + "/" + kind.plural();
      await(path).atMost(START_PATIENCE).until(() -> get(path).statusCode() == 200);
    }
    hasCrds = true;
  }

  /** A client that may do everything. Not to be closed. */
  public KubernetesClient admin() {
    return admin;
  }

  /** Another client that may do everything, for whoever closes it. */
  public KubernetesClient newAdmin() {
    return client(ADMIN_TOKEN);
  }

  /** A client for the holder of that bearer token. */
  public KubernetesClient client(String token) {
    return new KubernetesClientBuilder().withConfig(config(token)).build();
  }

  /** Where the server is and who asks; nothing of the machine's own kubeconfig is read. */
  private Config config(String token) {
    return new ConfigBuilder(Config.empty())
        .withMasterUrl(url())
        .withCaCertFile(certificate().toString())
        .withOauthToken(token)
        .withRequestTimeout(20_000)
        .withConnectionTimeout(5_000)
        .build();
  }

  public String url() {
    return "https://127.0.0.1:" + port;
  }

  public InetSocketAddress address() {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }

  /** What to trust, PEM. */
  public Path certificate() {
    return folder.resolve("pki/apiserver.crt");
  }

  /** kubeconfig of the administrator. */
  public Path kubeconfig() {
    return folder.resolve("admin.kubeconfig");
  }

  /** kubeconfig text of the holder of that bearer token, who finds the server at that address. */
  public String kubeconfigOf(String token, InetSocketAddress server) throws IOException {
    return """
    apiVersion: v1
    kind: Config
    current-context: test
    contexts: [{name: test, context: {cluster: test, user: test}}]
    clusters: [{name: test, cluster: {server: "%s", certificate-authority-data: %s}}]
    users: [{name: test, user: {token: "%s"}}]
    """
        .formatted(
            "https://127.0.0.1:" + server.getPort(),
            Base64.getEncoder().encodeToString(Files.readAllBytes(certificate())),
            token);
  }

  /** A namespace that no other test has. */
  public String newNamespace() {
    String name = "test-" + namespaces.incrementAndGet();
    admin
        .resource(new NamespaceBuilder().withNewMetadata().withName(name).endMetadata().build())
        .create();
    return name;
  }

  /** A bearer token of a service account, for an hour. The account is made if there is none. */
  public String tokenOf(String namespace, String serviceAccount) {
    var account = admin.serviceAccounts().inNamespace(namespace).withName(serviceAccount);
    if (account.get() == null) {
      admin
          .serviceAccounts()
          .inNamespace(namespace)
          .resource(
              new ServiceAccountBuilder()
                  .withNewMetadata()
                  .withName(serviceAccount)
                  .endMetadata()
                  .build())
          .create();
    }
    return account.tokenRequest().getStatus().getToken();
  }

  /** Runs helm as the administrator, with nothing of the machine's own helm. */
  public Warmpath.Result helm(String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(programs.resolve("helm").toString()));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder
        .environment()
        .putAll(
            Map.of(
                "KUBECONFIG", kubeconfig().toString(),
                "HELM_CACHE_HOME", folder.resolve("helm/cache").toString(),
                "HELM_CONFIG_HOME", folder.resolve("helm/config").toString(),
                "HELM_DATA_HOME", folder.resolve("helm/data").toString()));
    builder.redirectErrorStream(true);
    builder.redirectInput(Path.of("/dev/null").toFile());
    Process helm = builder.start();
    String output = new String(helm.getInputStream().readAllBytes(), UTF_8);
    return new Warmpath.Result(helm.waitFor(), output);
  }

  // Faults

  /** SIGKILL to the API server. etcd goes on. */
  public void kill() throws InterruptedException {
    server.kill();
  }

  /** Starts the API server again after {@link #kill}, on the same port, and waits for it. */
  public void restart() throws IOException {
    if (!server.isAlive()) {
      server = startServer();
    }
    awaitReady();
  }

  /**
   * Makes etcd forget all history up to now, so that whoever wants to go on watching from an older
   * revision is answered 410 Gone.
   */
  public void compact() throws IOException, InterruptedException {
    Matcher revision = REVISION.matcher(etcd("/v3/kv/range", "{\"key\": \"Lw==\"}"));
    if (!revision.find()) {
      throw new AssertionError("etcd tells no revision");
    }
    etcd("/v3/kv/compaction", "{\"physical\": true, \"revision\": " + revision.group(1) + "}");
  }

  private String etcd(String path, String json) throws IOException, InterruptedException {
    HttpResponse<String> answer =
        http.send(
            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + etcdPort + path))
                .POST(HttpRequest.BodyPublishers.ofString(json))
                .build(),
            HttpResponse.BodyHandlers.ofString());
    if (answer.statusCode() != 200) {
      throw new AssertionError("etcd " + path + ": " + answer.body());
    }
    return answer.body();
  }

  // Processes

  private ManagedProcess startEtcd() throws IOException {
    String clients = "http://127.0.0.1:" + etcdPort;
    String peers = "http://127.0.0.1:" + Ports.free();
    return ManagedProcess.start(
        "etcd",
        folder,
        Map.of(),
        List.of(
            programs.resolve("etcd").toString(),
            "--name=test",
            "--data-dir=" + folder.resolve("etcd"),
            "--listen-client-urls=" + clients,
            "--advertise-client-urls=" + clients,
            "--listen-peer-urls=" + peers,
            "--initial-advertise-peer-urls=" + peers,
            "--initial-cluster=test=" + peers,
            "--unsafe-no-fsync",
            "--log-level=warn"));
  }

  private ManagedProcess startServer() throws IOException {
    return ManagedProcess.start(
        "kube-apiserver",
        folder,
        Map.of(),
        List.of(
            programs.resolve("kube-apiserver").toString(),
            "--etcd-servers=http://127.0.0.1:" + etcdPort,
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            "--secure-port=" + port,
            // It signs its own certificate into this folder, and finds it there again.
            "--cert-dir=" + folder.resolve("pki"),
            "--endpoint-reconciler-type=none",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--token-auth-file=" + folder.resolve("tokens.csv"),
            "--authorization-mode=RBAC",
            "--service-account-issuer=https://kubernetes.default.svc",
            "--service-account-signing-key-file=" + folder.resolve("sa.key"),
            "--service-account-key-file=" + folder.resolve("sa.pub"),
            // Without controllers nobody makes the account that this plugin asks for.
            "--disable-admission-plugins=ServiceAccount",
            "--profiling=false"));
  }

  private void awaitReady() {
    try {
      await("API server ready")
          .atMost(START_PATIENCE)
          .pollInterval(Duration.ofMillis(50))
          .ignoreExceptions()
          .failFast("it ended", () -> !server.isAlive() || !etcd.isAlive())
          .until(() -> Files.exists(certificate()) && get("/readyz").statusCode() == 200);
    } catch (RuntimeException | Error notReady) {
      throw new AssertionError(server.tail() + etcd.tail(), notReady);
    }
  }

  /**
   * What a watch of that path below {@code /apis/} from that resource version is answered within a
   * second.
   */
  public String watch(String path, String resourceVersion)
      throws IOException, InterruptedException {
    return get("/apis/" + path + "?watch=true&timeoutSeconds=1&resourceVersion=" + resourceVersion)
        .body();
  }

  /** A plain request of the administrator. */
  public HttpResponse<String> get(String path) throws IOException, InterruptedException {
    try (HttpClient client =
        HttpClient.newBuilder().sslContext(Tls.trusting(certificate())).build()) {
      return client.send(
          HttpRequest.newBuilder(URI.create(url() + path))
              .header("authorization", "Bearer " + ADMIN_TOKEN)
              .timeout(Duration.ofSeconds(20))
              .build(),
          HttpResponse.BodyHandlers.ofString());
    }
  }

  private void writeServiceAccountKeys() throws IOException {
    try {
      KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
      generator.initialize(2048);
      KeyPair keys = generator.generateKeyPair();
      writePem("sa.key", "PRIVATE KEY", keys.getPrivate().getEncoded());
      writePem("sa.pub", "PUBLIC KEY", keys.getPublic().getEncoded());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has RSA", e);
    }
  }

  private void writePem(String file, String label, byte[] content) throws IOException {
    Files.writeString(
        folder.resolve(file),
        "-----BEGIN "
            + label
            + "-----\n"
            + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content)
            + "\n-----END "
            + label
            + "-----\n");
  }

  /** Called once, when the JVM ends. */
  private void close() {
    // Both may be missing where the start has failed.
    for (ManagedProcess process : Stream.of(server, etcd).filter(p -> p != null).toList()) {
      try {
        process.kill();
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
      }
    }
    try (Stream<Path> files = Files.walk(folder)) {
      files.sorted(java.util.Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
    } catch (IOException left) {
      // A temporary folder that stays does no harm.
    }
  }
}
