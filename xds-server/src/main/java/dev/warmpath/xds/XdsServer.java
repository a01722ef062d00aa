package dev.warmpath.xds;

import dev.warmpath.crds.resource.Problem;
import dev.warmpath.crds.resource.ResourceSet;
import dev.warmpath.crds.resource.ResourceValidator;
import dev.warmpath.crds.transport.Identity;
import dev.warmpath.xds.admin.AdminServer;
import dev.warmpath.xds.admission.AdmissionServer;
import dev.warmpath.xds.kubernetes.KubernetesSource;
import dev.warmpath.xds.kubernetes.KubernetesStatus;
import dev.warmpath.xds.kubernetes.Replica;
import dev.warmpath.xds.plan.Plan;
import dev.warmpath.xds.plan.Planner;
import dev.warmpath.xds.rollout.Desired;
import dev.warmpath.xds.serve.ControlThread;
import dev.warmpath.xds.serve.DiscoveryServer;
import dev.warmpath.xds.serve.GatewayReport;
import dev.warmpath.xds.serve.Gateways;
import dev.warmpath.xds.source.DirectorySource;
import dev.warmpath.xds.source.NanoClock;
import dev.warmpath.xds.source.ResourceSource;
import dev.warmpath.xds.source.SourceSnapshot;
import dev.warmpath.xds.status.ResourceStatus;
import dev.warmpath.xds.status.StatusReport;
import dev.warmpath.xds.status.StatusView;
import dev.warmpath.xds.telemetry.XdsMetrics;
import dev.warmpath.xds.translate.EnvoyTranslator;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running control plane. The way of a change: {@link ResourceSource} notices it, {@link Planner}
 * says what is in force and what follows from it, {@link Gateways} brings it to each gateway in a
 * safe order, {@link EnvoyTranslator} words it for Envoy.
 */
public final class XdsServer implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(XdsServer.class);

  private final ControlThread control = new ControlThread();
  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final XdsMetrics metrics = new XdsMetrics(registry);
  private final Planner planner = new Planner(new ResourceValidator());
  private final CountDownLatch loaded = new CountDownLatch(1);
  private final Gateways gateways;
  private final DiscoveryServer discovery;
  private final ResourceSource source;
  private final AdminServer admin;
  private final @Nullable AdmissionServer admission;
  private final int port;

  // Written by the control thread alone.
  private volatile @Nullable Plan plan;
  private volatile @Nullable ResourceSet written;
  private Set<Problem> known = Set.of();

  // Set once, before anybody else knows this object.
  private @Nullable KubernetesStatus status;

  private XdsServer(XdsServerOptions options, ResourceSource source) throws IOException {
    this.source = source;
    gateways =
        new Gateways(
            options.times(),
            control,
            new EnvoyTranslator(options.systemBundlePath()),
            NanoClock.system(),
            metrics);
    discovery = new DiscoveryServer(control, gateways, metrics);
    int tcp = -1;
    try {
      if (options.socket() != null) {
        discovery.listen(options.socket());
      }
      if (options.listen() != null) {
        tcp = discovery.listen(options.listen(), options.security());
      }
      XdsServerOptions.Webhook webhook = options.webhook();
      admission =
          webhook == null
              ? null
              : new AdmissionServer(
                  webhook.listen(),
                  Identity.of(webhook.certificate(), webhook.key()),
                  () -> written,
                  metrics);
      admin =
          new AdminServer(
              options.admin(), () -> loaded.getCount() == 0, registry::scrape, this::overview);
    } catch (IOException | RuntimeException e) {
      discovery.close();
      control.close();
      throw e;
    }
    port = tcp;
    metrics.gauge(
        "warmpath.xds.problems",
        "Problems of resources",
        () -> {
          Plan current = plan;
          return current == null ? 0 : current.problems().size();
        });
    metrics.gauge(
        "warmpath.xds.gateways",
        "Connected gateways",
        () -> gateways().stream().filter(GatewayReport::isConnected).count());
    control.run(() -> gateways.warmUp(WarmUp.sample()));
    source.start(snapshot -> control.run(() -> accept(snapshot)));
  }

  /** Serves a folder. Returns once it listens; whether resources are loaded is {@link #isReady}. */
  public static XdsServer start(XdsServerOptions options) throws IOException {
    if (options.configuration() == null) {
      throw new IllegalArgumentException("a folder is needed, or a source");
    }
    return start(options, new DirectorySource(options.configuration()));
  }

  /**
   * Serves the resources of one namespace of the API server that the environment names (in a Pod
   * its own, else the current kubeconfig), and writes their status there as long as it is the
   * leader of its replicas.
   */
  public static XdsServer startOnKubernetes(
      XdsServerOptions options, String namespace, Replica replica) throws IOException {
    KubernetesSource source = KubernetesSource.ofEnvironment(namespace);
    XdsServer server = start(options, source);
    server.status = KubernetesStatus.start(source, replica, server::view, server.metrics);
    return server;
  }

  /** Serves the resources of any source, which is closed with the server. */
  public static XdsServer start(XdsServerOptions options, ResourceSource source)
      throws IOException {
    return new XdsServer(options, source);
  }

  private void accept(SourceSnapshot snapshot) {
    written = snapshot.resources();
    Plan next = planner.plan(snapshot);
    metrics.planned();
    logNews(next.problems());
    Plan before = plan;
    plan = next;
    if (before == null
        || !before.model().equals(next.model())
        || !before.routing().equals(next.routing())) {
      gateways.publish(new Desired(next.model(), next.routing()));
      log.info(
          "in force: {} pools, {} providers, {} backends, {} policies, {} tenants",
          next.routing().pools().size(),
          next.routing().providers().size(),
          next.routing().backends().size(),
          next.routing().policies().size(),
          next.routing().tenants().size());
    }
    if (next.routing().tenants().isEmpty()
        && (before == null || !before.routing().tenants().isEmpty())) {
      log.warn("there is no InferenceTenant: everybody who reaches the gateway may use it");
    }
    loaded.countDown();
  }

  private void logNews(List<Problem> problems) {
    Set<Problem> now = new HashSet<>(problems);
    for (Problem problem : problems) {
      if (!known.contains(problem)) {
        if (problem.isError()) {
          log.error("{}", problem);
        } else {
          log.warn("{}", problem);
        }
      }
    }
    for (Problem problem : known) {
      if (!now.contains(problem)) {
        log.info("solved: {}", problem);
      }
    }
    known = now;
  }

  /** Resources have been read, so Envoys and processors are answered. */
  public boolean isReady() {
    return loaded.getCount() == 0;
  }

  public boolean awaitReady(Duration timeout) throws InterruptedException {
    return loaded.await(timeout.toNanos(), TimeUnit.NANOSECONDS);
  }

  /** TCP port of the gRPC server, or -1. */
  public int port() {
    return port;
  }

  /** Port of the webhook, or -1 without one. */
  public int webhookPort() {
    return admission == null ? -1 : admission.port();
  }

  public int adminPort() {
    return admin.port();
  }

  /** Every problem of the resources as they are written now. */
  public List<Problem> problems() {
    Plan current = plan;
    return current == null ? List.of() : current.problems();
  }

  public List<ResourceStatus> resources() {
    Plan current = plan;
    return current == null ? List.of() : StatusReport.of(current, gateways());
  }

  private @Nullable StatusView view() {
    Plan current = plan;
    return current == null
        ? null
        : new StatusView(current, StatusReport.standings(current, gateways()));
  }

  private List<GatewayReport> gateways() {
    try {
      return control.ask(gateways::report);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return List.of();
    }
  }

  private AdminServer.Overview overview() {
    List<GatewayReport> reports = gateways();
    Plan current = plan;
    return current == null
        ? new AdminServer.Overview(List.of(), List.of(), reports)
        : new AdminServer.Overview(
            StatusReport.of(current, reports),
            current.problems().stream().filter(p -> p.key() == null).toList(),
            reports);
  }

  @Override
  public void close() {
    if (status != null) {
      status.close();
    }
    source.close();
    if (admission != null) {
      admission.close();
    }
    admin.close();
    // First the thread: it must not answer streams that are ending.
    control.close();
    discovery.close();
    registry.close();
  }
}
