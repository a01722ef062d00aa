package dev.warmpath.e2e.support;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A running gateway on free loopback ports: {@code warmpath run}, or its three parts as processes
 * of their own, so that each can be killed and started again.
 */
public final class Stack implements AutoCloseable {

  /** A cold JVM on a busy machine, with Envoy after it. */
  private static final Duration START_PATIENCE = Duration.ofMinutes(2);

  /** Gauge of places that are reserved for requests in flight. */
  private static final String LEASES = "warmpath_leases";

  /** Counter of ended requests, by outcome. */
  private static final String OUTCOMES = "warmpath_requests_total";

  private final Path folder;
  private final List<String> source;
  private final Map<String, String> environment;
  private final Path runFolder;
  private final InetSocketAddress gateway = loopback(Ports.free());
  private final InetSocketAddress admin = loopback(Ports.free());
  private final InetSocketAddress envoyAdmin = loopback(Ports.free());
  private final List<ManagedProcess> processes = new ArrayList<>();
  private @Nullable ManagedProcess processor;
  private @Nullable ManagedProcess controlPlane;
  private @Nullable ConfigFolder config;
  private String xds;

  private Stack(Path folder, List<String> source, Map<String, String> environment)
      throws IOException {
    this.folder = folder;
    this.source = source;
    this.environment = new HashMap<>(Warmpath.environment());
    this.environment.putAll(environment);
    // Unix socket paths are limited to about 100 characters, which a test's own folder may pass.
    runFolder = Files.createTempDirectory("wp");
    xds = "unix:" + runFolder.resolve("xds.sock");
  }

  private Stack(Path folder, ConfigFolder config) throws IOException {
    this(folder, List.of("--config", config.path().toString()), Map.of());
    this.config = config;
  }

  /** Everything under one command, ready to serve. */
  public static Stack run(Path folder, ConfigFolder config, String... more) throws IOException {
    Stack stack = new Stack(folder, config);
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "run",
                "--config",
                config.path().toString(),
                "--port",
                port(stack.gateway),
                "--admin",
                text(stack.admin),
                "--run-dir",
                stack.runFolder.toString()));
    arguments.addAll(List.of(more));
    stack.start("warmpath", arguments);
    stack.awaitReadyOrClose();
    return stack;
  }

  /** Control plane, processor and Envoy as processes of their own, ready to serve. */
  public static Stack apart(Path folder, ConfigFolder config) throws IOException {
    Stack stack = new Stack(folder, config);
    stack.startControlPlane();
    return stack.startGateway();
  }

  /**
   * The same on the resources of a namespace.
   *
   * @param kubeconfig who the control plane is for the API server
   */
  public static Stack onKubernetes(Path folder, String namespace, Path kubeconfig)
      throws IOException {
    Stack stack = ofNamespace(folder, namespace, kubeconfig);
    stack.startControlPlane();
    return stack.startGateway();
  }

  /**
   * The same with control planes that are started by {@link #startReplica}; gateways reach them at
   * that address, as they reach a Service.
   */
  public static Stack behind(TcpSwitch service, Path folder, String namespace, Path kubeconfig)
      throws IOException {
    Stack stack = ofNamespace(folder, namespace, kubeconfig);
    stack.xds = text(service.address());
    return stack;
  }

  private static Stack ofNamespace(Path folder, String namespace, Path kubeconfig)
      throws IOException {
    return new Stack(
        folder, List.of("--kubernetes", namespace), Map.of("KUBECONFIG", kubeconfig.toString()));
  }

  /** A control plane of that name that listens at those addresses. */
  public ManagedProcess startReplica(
      String name, InetSocketAddress listen, InetSocketAddress replicaAdmin) throws IOException {
    List<String> arguments = new ArrayList<>(List.of("xds-server"));
    arguments.addAll(source);
    arguments.addAll(List.of("--listen", text(listen), "--admin", text(replicaAdmin)));
    return start(name, arguments);
  }

  /** Processor and Envoy, ready to serve. */
  public Stack startGateway() throws IOException {
    Stack stack = this;
    stack.startProcessor();
    stack.start(
        "envoy",
        List.of(
            "envoy",
            "run",
            "--listen",
            text(stack.gateway),
            "--admin",
            text(stack.envoyAdmin),
            "--xds",
            stack.xds,
            "--run-dir",
            stack.runFolder.toString()));
    stack.awaitReadyOrClose();
    return stack;
  }

  public void startControlPlane() throws IOException {
    List<String> arguments = new ArrayList<>(List.of("xds-server"));
    arguments.addAll(source);
    arguments.addAll(List.of("--run-dir", runFolder.toString(), "--admin", "127.0.0.1:0"));
    controlPlane = start("xds-server", arguments);
  }

  public void startProcessor() throws IOException {
    processor =
        start(
            "ext-proc",
            List.of(
                "ext-proc",
                "--admin",
                text(admin),
                "--xds",
                xds,
                "--run-dir",
                runFolder.toString()));
  }

  private ManagedProcess start(String name, List<String> arguments) throws IOException {
    ManagedProcess process =
        ManagedProcess.start(name, folder, environment, Warmpath.command(arguments));
    processes.add(process);
    return process;
  }

  private void awaitReadyOrClose() {
    try {
      awaitReady();
    } catch (RuntimeException | Error notReady) {
      close();
      throw new AssertionError("not ready: " + log(), notReady);
    }
  }

  /** Waits until the processor says that it is ready, and Envoy passes requests on to it. */
  public void awaitReady() {
    await("gateway ready")
        .atMost(START_PATIENCE)
        .pollInterval(Duration.ofMillis(100))
        .ignoreExceptions()
        .failFast("the process ended", () -> !processes.getLast().isAlive())
        .until(() ->
            WireClient.get(admin, "/readyz").status() == 200
                && WireClient.get(gateway, "/v1/models").status() < 500);
  }

  private static InetSocketAddress loopback(int port) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }

  private static String port(InetSocketAddress address) {
    return Integer.toString(address.getPort());
  }

  private static String text(InetSocketAddress address) {
    return "127.0.0.1:" + address.getPort();
  }

  public ManagedProcess processor() {
    return required(processor);
  }

  public ManagedProcess controlPlane() {
    return required(controlPlane);
  }

  private static ManagedProcess required(@Nullable ManagedProcess process) {
    if (process == null) {
      throw new IllegalStateException("this stack is one process");
    }
    return process;
  }

  public ConfigFolder config() {
    if (config == null) {
      throw new IllegalStateException("this stack has no folder");
    }
    return config;
  }

  /** Where clients connect. */
  public InetSocketAddress gateway() {
    return gateway;
  }

  /** The processor's admin port. */
  public InetSocketAddress admin() {
    return admin;
  }

  public Path runFolder() {
    return runFolder;
  }

  /** What every process has written. */
  public String log() {
    StringBuilder all = new StringBuilder();
    for (String name : processes.stream().map(ManagedProcess::name).distinct().toList()) {
      processes.stream()
          .filter(process -> process.name().equals(name))
          .findFirst()
          .ifPresent(process -> all.append(process.log()));
    }
    return all.toString();
  }

  public Metrics metrics() throws IOException {
    return Metrics.scrape(admin);
  }

  /** Places that the processor holds for requests in flight. */
  public double leases() throws IOException {
    return metrics().sum(LEASES).orElseThrow(() -> new AssertionError("no metric " + LEASES));
  }

  /** Requests that have ended in that way. */
  public double outcomes(String outcome) throws IOException {
    return metrics().sum(OUTCOMES, "outcome=\"" + outcome + "\"").orElse(0);
  }

  /** Envoy's own list of clusters and endpoints. */
  public String envoyClusters() throws IOException {
    return WireClient.get(envoyAdmin, "/clusters").text();
  }

  @Override
  public void close() {
    for (ManagedProcess process : processes.reversed()) {
      process.close();
    }
  }
}
