package dev.warmpath.e2e.support;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectReferenceBuilder;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointPortBuilder;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSliceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;

/**
 * A namespace of the run's API server and what a user and the cluster's own controllers write in
 * it.
 */
public final class KubeNamespace {

  private static final String API = "inference.warmpath.dev/v1alpha1";
  private static final String USER = "user";

  private final KubeApi api;
  private final String name;

  private KubeNamespace(KubeApi api, String name) {
    this.api = api;
    this.name = name;
  }

  /** A new one, on the API server that has the custom resources. */
  public static KubeNamespace create() throws IOException, InterruptedException {
    KubeApi api = KubeApi.withCrds();
    return new KubeNamespace(api, api.newNamespace());
  }

  public String name() {
    return name;
  }

  public KubeApi api() {
    return api;
  }

  public KubernetesClient client() {
    return api.admin();
  }

  /** Writes the documents as {@code kubectl apply} would. */
  public KubeNamespace apply(String yaml) {
    for (HasMetadata object : read(yaml)) {
      client()
          .resource(object)
          .inNamespace(name)
          .fieldManager(USER)
          .forceConflicts()
          .serverSideApply();
    }
    return this;
  }

  /** The documents of a text, as objects. */
  public List<HasMetadata> read(String yaml) {
    return client().load(new ByteArrayInputStream(yaml.getBytes(UTF_8))).items();
  }

  public void delete(String kind, String object) {
    client().genericKubernetesResources(API, kind).inNamespace(name).withName(object).delete();
  }

  /** A resource of ours. */
  public GenericKubernetesResource get(String kind, String object) {
    GenericKubernetesResource found =
        client().genericKubernetesResources(API, kind).inNamespace(name).withName(object).get();
    if (found == null) {
      throw new AssertionError("no " + kind + " " + object + " in " + name);
    }
    return found;
  }

  /** A condition as {@code STATUS REASON: MESSAGE}, or empty text while there is none. */
  public String condition(String kind, String object, String type) {
    List<Map<String, Object>> conditions = get(kind, object).get("status", "conditions");
    if (conditions != null) {
      for (Map<String, Object> condition : conditions) {
        if (type.equals(condition.get("type"))) {
          return condition.get("status")
              + " "
              + condition.get("reason")
              + ": "
              + condition.get("message");
        }
      }
    }
    return "";
  }

  /** Events about an object, each as {@code TYPE REASON: MESSAGE}. */
  public List<String> events(String kind, String object) {
    return client().v1().events().inNamespace(name).list().getItems().stream()
        .filter(event -> isAbout(event, kind, object))
        .map(event -> event.getType() + " " + event.getReason() + ": " + event.getMessage())
        .toList();
  }

  private static boolean isAbout(Event event, String kind, String object) {
    return event.getInvolvedObject().getKind().equals(kind)
        && event.getInvolvedObject().getName().equals(object);
  }

  public KubeNamespace secret(String secret, String key, String value) {
    client()
        .resource(
            new SecretBuilder()
                .withNewMetadata()
                .withName(secret)
                .withNamespace(name)
                .endMetadata()
                .withStringData(Map.of(key, value))
                .build())
        .fieldManager(USER)
        .forceConflicts()
        .serverSideApply();
    return this;
  }

  // What controllers of a cluster write

  /** A ready endpoint of a Service, in a slice of its own, as of a Pod of that name. */
  public void endpoint(String service, String pod, ScriptedWorker worker) {
    client().resource(slice(service, pod, worker, true)).serverSideApply();
  }

  /** The endpoint as it is while its Pod ends. */
  public void endingEndpoint(String service, String pod, ScriptedWorker worker) {
    client().resource(slice(service, pod, worker, false)).forceConflicts().serverSideApply();
  }

  public void removeEndpoint(String pod) {
    client().discovery().v1().endpointSlices().inNamespace(name).withName(pod).delete();
  }

  private EndpointSlice slice(String service, String pod, ScriptedWorker worker, boolean ready) {
    return new EndpointSliceBuilder()
        .withNewMetadata()
        .withName(pod)
        .withNamespace(name)
        .addToLabels("kubernetes.io/service-name", service)
        .endMetadata()
        .withAddressType("IPv4")
        .withPorts(new EndpointPortBuilder().withName("http").withPort(worker.port()).build())
        .addNewEndpoint()
        .withAddresses(address().getHostAddress())
        .withNewConditions()
        .withReady(ready)
        .withServing(ready)
        .withTerminating(!ready)
        .endConditions()
        .withTargetRef(
            new ObjectReferenceBuilder()
                .withKind("Pod")
                .withName(pod)
                .withNamespace(name)
                .withUid("uid-of-" + pod)
                .build())
        .endEndpoint()
        .build();
  }

  /** A worker set of a Service, a pool and a backend, all of that name, for that model. */
  public KubeNamespace served(String served, String model) {
    return apply(
        """
        apiVersion: %1$s
        kind: InferenceWorkerSet
        metadata: {name: %2$s}
        spec:
          engine: vLLM
          workers: {service: {name: %2$s, port: 8000}}
          metrics: {path: /metrics, interval: 1s}
        ---
        apiVersion: %1$s
        kind: InferencePool
        metadata: {name: %2$s}
        spec:
          model: %3$s
          workerSets: [{name: %2$s}]
          limits: {maxQueuedPromptsPerWorker: 1000}
        ---
        apiVersion: %1$s
        kind: GatewayBackend
        metadata: {name: %2$s}
        spec:
          models: [%3$s]
          pool: {name: %2$s}
        """
            .formatted(API, served, model));
  }

  /**
   * A service account with no more rights than the control plane needs, as a kubeconfig file.
   *
   * @param server where it finds the API server
   * @param secrets the Secrets that it may read
   */
  public Path controlPlaneAccount(Path folder, InetSocketAddress server, String... secrets)
      throws IOException {
    // An empty list of names would be every name.
    StringJoiner names = new StringJoiner("", "[none", "]");
    List.of(secrets).forEach(secret -> names.add(", " + secret));
    String role =
        Files.readString(Repository.root().resolve("e2e/src/test/resources/kube/role.yaml"))
            .replace("NAMESPACE", name)
            .replace("[SECRETS]", names.toString());
    for (HasMetadata object : read(role)) {
      client().resource(object).fieldManager(USER).forceConflicts().serverSideApply();
    }
    return Files.writeString(
        folder.resolve("kubeconfig-" + name),
        api.kubeconfigOf(api.tokenOf(name, "warmpath-xds"), server));
  }

  /**
   * An address of this machine that others may use: an EndpointSlice can't hold a loopback address.
   */
  public static InetAddress address() {
    try {
      return NetworkInterface.networkInterfaces()
          .flatMap(NetworkInterface::inetAddresses)
          .filter(address -> address instanceof Inet4Address)
          .filter(address -> !address.isLoopbackAddress() && !address.isLinkLocalAddress())
          .findFirst()
          .orElseThrow(() ->
              new IllegalStateException(
                  "this machine has no IPv4 address besides loopback, which EndpointSlices need."
                      + " As root: ip address add 198.51.100.1/32 dev lo"));
    } catch (IOException unreadable) {
      throw new IllegalStateException(unreadable);
    }
  }
}
