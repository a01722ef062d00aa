package dev.warmpath.envoy;

import static org.awaitility.Awaitility.await;

import com.google.protobuf.Any;
import com.google.protobuf.Duration;
import com.google.protobuf.UInt32Value;
import dev.warmpath.crds.config.GatewayNames;
import io.envoyproxy.controlplane.cache.v3.SimpleCache;
import io.envoyproxy.controlplane.cache.v3.Snapshot;
import io.envoyproxy.controlplane.server.V3DiscoveryServer;
import io.envoyproxy.envoy.config.cluster.v3.CircuitBreakers;
import io.envoyproxy.envoy.config.cluster.v3.Cluster;
import io.envoyproxy.envoy.config.core.v3.Http1ProtocolOptions;
import io.envoyproxy.envoy.config.core.v3.SocketAddress;
import io.envoyproxy.envoy.config.endpoint.v3.ClusterLoadAssignment;
import io.envoyproxy.envoy.config.endpoint.v3.Endpoint;
import io.envoyproxy.envoy.config.endpoint.v3.LbEndpoint;
import io.envoyproxy.envoy.config.endpoint.v3.LocalityLbEndpoints;
import io.envoyproxy.envoy.data.accesslog.v3.HTTPAccessLogEntry;
import io.envoyproxy.envoy.extensions.upstreams.http.v3.HttpProtocolOptions;
import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/** A real Envoy on the rendered bootstrap, with fakes around it. */
final class Gateway implements AutoCloseable {
  static final String POOL = GatewayNames.poolCluster("default", "a");
  static final String PROVIDER = GatewayNames.providerCluster("default", "b");

  final FakeUpstream pool = new FakeUpstream();
  final FakeUpstream provider = new FakeUpstream();
  final BootstrapOptions options;
  final EnvoyProcess envoy;
  final int port;
  private final int processorPort;
  private final Server xds;
  private FakeProcessor processor;
  private final HttpClient client = HttpClient.newHttpClient();

  Gateway(Path runDirectory) throws IOException, InterruptedException {
    this(runDirectory, UnaryOperator.identity());
  }

  Gateway(Path runDirectory, UnaryOperator<BootstrapOptions> change)
      throws IOException, InterruptedException {
    processor = new FakeProcessor(0, request -> FakeProcessor.Answer.cluster(POOL));
    processorPort = processor.port();
    SimpleCache<String> cache = new SimpleCache<>(node -> "all");
    cache.setSnapshot(
        "all",
        Snapshot.create(
            List.of(cluster(POOL, pool.port()), cluster(PROVIDER, provider.port())),
            List.of(),
            List.of(),
            List.of(),
            List.of(),
            "1"));
    V3DiscoveryServer discovery = new V3DiscoveryServer(cache);
    xds =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .addService(discovery.getAggregatedDiscoveryServiceImpl())
            .build()
            .start();
    options =
        change.apply(
            BootstrapOptions.local("test-1", new Address.Tcp("127.0.0.1", 0), runDirectory)
                .withProcessor(new Address.Tcp("127.0.0.1", processor.port()))
                .withXds(new Address.Tcp("127.0.0.1", xds.getPort())));
    envoy =
        EnvoyProcess.start(
            EnvoyProcess.Options.of(EnvoyBinary.find(), options, runDirectory),
            java.time.Duration.ofSeconds(60));
    port = envoy.port();
  }

  FakeProcessor processor() {
    return processor;
  }

  /** Ends the processor's server as a crash would. */
  void killProcessor() {
    processor.close();
  }

  void restartProcessor() throws IOException {
    processor = new FakeProcessor(processorPort, request -> FakeProcessor.Answer.cluster(POOL));
  }

  HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
        .timeout(java.time.Duration.ofSeconds(60));
  }

  HttpResponse<byte[]> post(String path, String body) throws IOException, InterruptedException {
    return post(path, body.getBytes(StandardCharsets.UTF_8), Map.of());
  }

  HttpResponse<byte[]> post(String path, byte[] body, Map<String, String> headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        request(path)
            .header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofByteArray(body));
    headers.forEach(request::header);
    return client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
  }

  HttpResponse<byte[]> get(String path, Map<String, String> headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request = request(path);
    headers.forEach(request::header);
    return client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
  }

  HttpClient client() {
    return client;
  }

  /** The access log entry of the request with that decision id. */
  HTTPAccessLogEntry logged(String decisionId) {
    return await()
        .pollDelay(java.time.Duration.ZERO)
        .pollInterval(java.time.Duration.ofMillis(10))
        .until(
            () ->
                processor.log().stream()
                    .filter(
                        entry -> decisionId.equals(tags(entry).get(GatewayNames.TAG_DECISION_ID)))
                    .findFirst(),
            java.util.Optional::isPresent)
        .orElseThrow();
  }

  static Map<String, String> tags(HTTPAccessLogEntry entry) {
    return entry.getCommonProperties().getCustomTagsMap();
  }

  private static Cluster cluster(String name, int port) {
    List<LbEndpoint> endpoints = new ArrayList<>();
    endpoints.add(
        LbEndpoint.newBuilder()
            .setEndpoint(
                Endpoint.newBuilder()
                    .setAddress(
                        io.envoyproxy.envoy.config.core.v3.Address.newBuilder()
                            .setSocketAddress(
                                SocketAddress.newBuilder()
                                    .setAddress("127.0.0.1")
                                    .setPortValue(port))))
            .build());
    HttpProtocolOptions http =
        HttpProtocolOptions.newBuilder()
            .setExplicitHttpConfig(
                HttpProtocolOptions.ExplicitHttpConfig.newBuilder()
                    .setHttpProtocolOptions(Http1ProtocolOptions.getDefaultInstance()))
            .build();
    return Cluster.newBuilder()
        .setName(name)
        .setType(Cluster.DiscoveryType.STATIC)
        .setConnectTimeout(Duration.newBuilder().setSeconds(1))
        .setCircuitBreakers(
            CircuitBreakers.newBuilder()
                .addThresholds(
                    CircuitBreakers.Thresholds.newBuilder()
                        .setMaxConnections(UInt32Value.of(10_000))
                        .setMaxPendingRequests(UInt32Value.of(10_000))
                        .setMaxRequests(UInt32Value.of(10_000))))
        .putTypedExtensionProtocolOptions(
            "envoy.extensions.upstreams.http.v3.HttpProtocolOptions", Any.pack(http))
        .setLoadAssignment(
            ClusterLoadAssignment.newBuilder()
                .setClusterName(name)
                .addEndpoints(LocalityLbEndpoints.newBuilder().addAllLbEndpoints(endpoints)))
        .build();
  }

  @Override
  public void close() throws IOException {
    envoy.close();
    processor.close();
    xds.shutdownNow();
    pool.close();
    provider.close();
    client.close();
  }
}
