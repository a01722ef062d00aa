package dev.warmpath.xds.admin;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.warmpath.crds.resource.Problem;
import dev.warmpath.xds.serve.GatewayReport;
import dev.warmpath.xds.status.ResourceStatus;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import tools.jackson.databind.json.JsonMapper;

/**
 * {@code /healthz}, {@code /readyz}, {@code /metrics} and {@code /resources}. Shows no secret:
 * problems hold none, and values are not part of a status.
 */
public final class AdminServer implements AutoCloseable {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private final HttpServer server;
  private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();

  /** What {@code /resources} shows. */
  public record Overview(
      List<ResourceStatus> resources, List<Problem> otherProblems, List<GatewayReport> gateways) {}

  public AdminServer(
      InetSocketAddress address,
      BooleanSupplier ready,
      Supplier<String> metrics,
      Supplier<Overview> overview)
      throws IOException {
    server = HttpServer.create(address, 0);
    server.setExecutor(executor);
    server.createContext("/healthz", exchange -> text(exchange, 200, "ok\n"));
    server.createContext(
        "/readyz",
        exchange -> {
          boolean isReady = ready.getAsBoolean();
          text(exchange, isReady ? 200 : 503, isReady ? "ok\n" : "resources are not loaded yet\n");
        });
    server.createContext("/metrics", exchange -> text(exchange, 200, metrics.get()));
    server.createContext(
        "/resources",
        exchange ->
            send(exchange, 200, "application/json", JSON.writeValueAsBytes(json(overview.get()))));
    server.start();
  }

  public int port() {
    return server.getAddress().getPort();
  }

  @Override
  public void close() {
    server.stop(0);
    executor.shutdownNow();
  }

  private static Map<String, Object> json(Overview overview) {
    Map<String, Object> page = new LinkedHashMap<>();
    page.put("resources", overview.resources.stream().map(AdminServer::json).toList());
    page.put("problems", overview.otherProblems.stream().map(AdminServer::json).toList());
    List<Map<String, Object>> gateways = new ArrayList<>();
    for (GatewayReport report : overview.gateways) {
      Map<String, Object> gateway = new LinkedHashMap<>();
      gateway.put("nodeId", report.nodeId());
      gateway.put("nodeCluster", report.nodeCluster());
      gateway.put("envoys", report.envoys());
      gateway.put("processor", report.processor());
      if (report.processorRefusal() != null) {
        gateway.put("processorRefusal", report.processorRefusal());
      }
      gateways.add(gateway);
    }
    page.put("gateways", gateways);
    return page;
  }

  private static Map<String, Object> json(ResourceStatus status) {
    Map<String, Object> resource = new LinkedHashMap<>();
    resource.put("kind", status.key().kind().kindName());
    resource.put("namespace", status.key().namespace());
    resource.put("name", status.key().name());
    resource.put("generation", status.generation());
    resource.put("generationInForce", status.generationInForce());
    List<Map<String, Object>> conditions = new ArrayList<>();
    for (ResourceStatus.Condition condition : status.conditions()) {
      Map<String, Object> one = new LinkedHashMap<>();
      one.put("type", condition.type());
      one.put("status", condition.status().name());
      one.put("reason", condition.reason());
      one.put("message", condition.message());
      conditions.add(one);
    }
    resource.put("conditions", conditions);
    resource.put("problems", status.problems().stream().map(AdminServer::json).toList());
    List<Map<String, Object>> refusals = new ArrayList<>();
    status
        .refusals()
        .forEach(refusal ->
            refusals.add(Map.of("gateway", refusal.gateway(), "message", refusal.reason())));
    resource.put("refusals", refusals);
    return resource;
  }

  private static Map<String, Object> json(Problem problem) {
    Map<String, Object> one = new LinkedHashMap<>();
    one.put("severity", problem.severity().name());
    one.put("file", problem.file());
    one.put("line", problem.line());
    one.put("field", problem.field());
    one.put("reason", problem.reason());
    one.put("message", problem.message());
    return one;
  }

  private static void text(HttpExchange exchange, int status, String body) throws IOException {
    send(exchange, status, "text/plain; charset=utf-8", body.getBytes(StandardCharsets.UTF_8));
  }

  private static void send(HttpExchange exchange, int status, String type, byte[] body)
      throws IOException {
    try (exchange) {
      exchange.getResponseHeaders().set("content-type", type);
      exchange.sendResponseHeaders(status, body.length);
      exchange.getResponseBody().write(body);
    }
  }
}
