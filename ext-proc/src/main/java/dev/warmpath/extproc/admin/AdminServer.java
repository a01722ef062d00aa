package dev.warmpath.extproc.admin;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import dev.warmpath.extproc.route.DecisionLog;
import dev.warmpath.extproc.route.DecisionRecord;
import dev.warmpath.extproc.route.WorkerStatus;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;

/**
 * {@code GET /decisions/ID}, {@code /decisions?last=N}, {@code /workers}, {@code /metrics}, {@code
 * /healthz}, {@code /readyz}.
 */
public final class AdminServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(AdminServer.class);

  private static final String JSON = "application/json";
  private static final String TEXT = "text/plain; charset=utf-8";

  /** Prometheus' text format. */
  private static final String METRICS = "text/plain; version=0.0.4; charset=utf-8";

  private static final int DEFAULT_LAST = 20;
  private static final int MOST_LAST = 1_000;
  private static final int THREADS = 2;

  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  @SuppressWarnings("ArrayRecordComponent") // wire bytes; never compared or hashed
  private record Reply(int status, String type, byte[] body) {
    static Reply json(int status, Object value) {
      return new Reply(status, JSON, MAPPER.writeValueAsBytes(value));
    }

    static Reply text(int status, String text) {
      return new Reply(status, TEXT, text.getBytes(UTF_8));
    }
  }

  @FunctionalInterface
  private interface Page {
    Reply render(HttpExchange exchange);
  }

  private final HttpServer server;
  private final ExecutorService threads;

  private AdminServer(HttpServer server, ExecutorService threads) {
    this.server = server;
    this.threads = threads;
  }

  public static AdminServer start(
      InetSocketAddress address,
      DecisionLog decisions,
      Supplier<List<WorkerStatus>> workers,
      Supplier<String> metrics,
      Readiness readiness)
      throws IOException {
    HttpServer server = HttpServer.create(address, 0);
    ExecutorService threads =
        Executors.newFixedThreadPool(
            THREADS, Thread.ofPlatform().daemon().name("admin-", 0).factory());
    server.setExecutor(threads);
    page(server, "/decisions", exchange -> decisions(exchange, decisions));
    page(server, "/workers", exchange -> Reply.json(200, workers.get()));
    page(server, "/metrics", exchange -> new Reply(200, METRICS, metrics.get().getBytes(UTF_8)));
    page(server, "/healthz", exchange -> Reply.text(200, "ok\n"));
    page(server, "/readyz", exchange -> ready(readiness));
    page(server, "/", exchange -> Reply.text(404, "no such page\n"));
    server.start();
    return new AdminServer(server, threads);
  }

  public InetSocketAddress address() {
    return server.getAddress();
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }

  private static Reply ready(Readiness readiness) {
    return readiness.ready()
        ? Reply.text(200, "ready\n")
        : Reply.text(503, "waiting for " + String.join(", ", readiness.missing()) + "\n");
  }

  private static Reply decisions(HttpExchange exchange, DecisionLog decisions) {
    String path = exchange.getRequestURI().getPath();
    if (path.equals("/decisions")) {
      return Reply.json(200, decisions.last(last(exchange.getRequestURI().getQuery())));
    }
    String id = path.substring("/decisions/".length());
    DecisionRecord record = decisions.find(id);
    return record == null
        ? Reply.json(404, Map.of("error", "no decision of that id is remembered"))
        : Reply.json(200, record);
  }

  private static int last(@Nullable String query) {
    if (query == null || !query.matches("last=[0-9]{1,6}")) {
      return DEFAULT_LAST;
    }
    return Math.min(MOST_LAST, Integer.parseInt(query.substring("last=".length())));
  }

  private static void page(HttpServer server, String path, Page page) {
    HttpHandler handler =
        exchange -> {
          try (exchange) {
            answer(exchange, path, page);
          }
        };
    server.createContext(path, handler);
  }

  private static void answer(HttpExchange exchange, String path, Page page) throws IOException {
    Reply reply;
    String asked = exchange.getRequestURI().getPath();
    if (!asked.equals(path) && !asked.startsWith(path.equals("/") ? path : path + "/")) {
      reply = Reply.text(404, "no such page\n"); // contexts match by prefix
    } else if (!exchange.getRequestMethod().equals("GET")
        && !exchange.getRequestMethod().equals("HEAD")) {
      reply = Reply.text(405, "only GET\n");
      exchange.getResponseHeaders().set("allow", "GET, HEAD");
    } else {
      try {
        reply = page.render(exchange);
      } catch (RuntimeException e) {
        LOG.error("admin page {} failed", path, e);
        reply = Reply.text(500, "failed; see the log\n");
      }
    }
    exchange.getResponseHeaders().set("content-type", reply.type());
    exchange.getResponseHeaders().set("cache-control", "no-store");
    boolean bodyless = exchange.getRequestMethod().equals("HEAD");
    exchange.sendResponseHeaders(reply.status(), bodyless ? -1 : reply.body().length);
    if (!bodyless) {
      exchange.getResponseBody().write(reply.body());
    }
  }
}
