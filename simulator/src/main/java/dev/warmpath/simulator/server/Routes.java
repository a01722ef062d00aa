package dev.warmpath.simulator.server;

import dev.warmpath.simulator.api.ApiException;
import dev.warmpath.simulator.api.Errors;
import dev.warmpath.simulator.api.Json;
import dev.warmpath.simulator.api.Operation;
import dev.warmpath.simulator.api.RequestReader;
import dev.warmpath.simulator.api.ServedModel;
import dev.warmpath.simulator.metrics.EngineMetrics;
import dev.warmpath.simulator.text.TokenBuffer;
import dev.warmpath.simulator.text.Tokenizer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;

/** Which path does what. */
final class Routes {
  private static final Logger LOG = LoggerFactory.getLogger(Routes.class);

  /** Handles one exchange. */
  private interface Handler {
    void handle(Exchange exchange) throws ApiException;
  }

  private record Route(List<String> methods, Handler handler) {}

  private final Map<String, Route> routes = new HashMap<>();
  private final ServedModel model;
  private final RequestReader reader;
  private final EngineMetrics metrics;
  private final EngineDriver driver;
  private final GenerationHandler generations;
  private final AdminRoutes admin;
  private final Supplier<String> eventSources;
  private final long createdUnixSeconds;
  private int load;

  Routes(
      ServedModel model,
      RequestReader reader,
      EngineMetrics metrics,
      EngineDriver driver,
      GenerationHandler generations,
      AdminRoutes admin,
      Supplier<String> eventSources,
      long createdUnixSeconds) {
    this.model = model;
    this.reader = reader;
    this.metrics = metrics;
    this.driver = driver;
    this.generations = generations;
    this.admin = admin;
    this.eventSources = eventSources;
    this.createdUnixSeconds = createdUnixSeconds;

    post("/v1/chat/completions", exchange -> generate(Operation.CHAT, exchange));
    post("/v1/completions", exchange -> generate(Operation.COMPLETIONS, exchange));
    post("/v1/messages", exchange -> generate(Operation.MESSAGES, exchange));
    post("/v1/responses", exchange -> generate(Operation.RESPONSES, exchange));
    post("/v1/embeddings", exchange -> generate(Operation.EMBEDDINGS, exchange));
    post("/v1/messages/count_tokens", this::countTokens);
    post("/tokenize", this::tokenize);
    post("/detokenize", this::detokenize);
    post("/v1/chat/completions/render", Routes::render);
    post("/v1/completions/render", Routes::render);
    get("/v1/models", this::models);
    get("/health", exchange -> exchange.respond(admin.healthStatus(), "", "", Map.of()));
    route("/ping", List.of("GET", "POST"), exchange -> exchange.respond(200, "", "", Map.of()));
    get(
        "/version",
        exchange -> exchange.json(200, "{\"version\":" + Json.quote(model.version()) + "}"));
    get("/load", exchange -> exchange.json(200, "{\"server_load\":" + load + "}"));
    get("/kv_event_sources", exchange -> exchange.json(200, this.eventSources.get()));
    get("/metrics", this::metricsPage);
    route("/_sim/fault", List.of("POST"), admin::fault);
    route("/_sim/requests", List.of("GET", "DELETE"), admin::requests);
  }

  void handle(Exchange exchange) {
    Route route = routes.get(exchange.path());
    if (route == null) {
      exchange.json(404, "{\"detail\":\"Not Found\"}");
      return;
    }
    if (!route.methods.contains(exchange.method())) {
      exchange.respond(
          405,
          "application/json",
          "{\"detail\":\"Method Not Allowed\"}",
          Map.of("allow", String.join(", ", route.methods)));
      return;
    }
    try {
      if (exchange.method().equals("POST") && !exchange.path().startsWith("/_sim/")) {
        requireJson(exchange);
      }
      route.handler.handle(exchange);
    } catch (ApiException e) {
      exchange.json(e.status(), e.body());
    } catch (RuntimeException e) {
      LOG.error("{} {} failed", exchange.method(), exchange.path(), e);
      exchange.json(500, Errors.error("Internal server error", "InternalServerError", null, 500));
    }
  }

  /** A response is over or its client is gone. */
  void ended(Exchange exchange) {
    boolean known = routes.containsKey(exchange.path());
    if (!exchange.path().startsWith("/_sim/")) {
      metrics.http(known ? exchange.path() : "none", exchange.method(), exchange.status());
    }
    if (exchange.counted()) {
      load--;
    }
  }

  private void generate(Operation operation, Exchange exchange) throws ApiException {
    exchange.count();
    load++;
    generations.handle(operation, exchange);
  }

  private static void requireJson(Exchange exchange) throws ApiException {
    if (exchange.body().length == 0 && exchange.path().equals("/ping")) {
      return;
    }
    String type = exchange.headers().get("content-type", "");
    String bare = type.split(";", 2)[0].strip();
    if (!bare.equalsIgnoreCase("application/json")) {
      throw Errors.contentType();
    }
  }

  private void countTokens(Exchange exchange) throws ApiException {
    JsonNode body = reader.json(exchange.body());
    if (!body.has("messages")) {
      throw Errors.missing("messages", body.size());
    }
    reader.model(Operation.COUNT_TOKENS, body);
    int count = reader.tokens(Operation.COUNT_TOKENS, body).size();
    exchange.json(
        200,
        "{\"input_tokens\":"
            + count
            + ",\"context_management\":{\"original_input_tokens\":"
            + count
            + "}}");
  }

  private void tokenize(Exchange exchange) throws ApiException {
    JsonNode body = reader.json(exchange.body());
    reader.model(Operation.TOKENIZE, body);
    TokenBuffer tokens = reader.tokens(Operation.TOKENIZE, body);
    StringBuilder out = new StringBuilder(64 + tokens.size() * 8);
    out.append("{\"count\":").append(tokens.size());
    out.append(",\"max_model_len\":").append(model.maxTokens()).append(",\"tokens\":");
    out.append(Arrays.toString(tokens.toArray()).replace(" ", ""));
    out.append(",\"token_strs\":");
    if (body.path("return_token_strs").asBoolean(false)) {
      Tokenizer tokenizer = reader.tokenizer();
      for (int i = 0; i < tokens.size(); i++) {
        String piece =
            tokenizer.piece(tokens.get(i)).replace(' ', '\u0120').replace('\n', '\u010A');
        out.append(i == 0 ? "[" : ",").append(Json.quote(piece));
      }
      out.append(tokens.size() == 0 ? "[]" : "]");
    } else {
      out.append("null");
    }
    exchange.json(200, out.append('}').toString());
  }

  private void detokenize(Exchange exchange) throws ApiException {
    JsonNode body = reader.json(exchange.body());
    reader.model(Operation.DETOKENIZE, body);
    if (!body.has("tokens")) {
      throw Errors.missing("tokens", body.size());
    }
    StringBuilder text = new StringBuilder();
    for (JsonNode id : body.get("tokens")) {
      text.append(reader.tokenizer().piece(id.asInt(0)));
    }
    exchange.json(200, "{\"prompt\":" + Json.quote(text.toString()) + "}");
  }

  private static void render(Exchange exchange) {
    exchange.json(
        403,
        Errors.error(
            "Scale-out endpoints are disabled. Restart vllm serve with --enable-scale-out to enable them.",
            "PermissionDeniedError",
            null,
            403));
  }

  private void models(Exchange exchange) {
    StringBuilder out = new StringBuilder("{\"object\":\"list\",\"data\":[");
    for (String name : model.names()) {
      out.append(out.charAt(out.length() - 1) == '[' ? "" : ",")
          .append("{\"id\":")
          .append(Json.quote(name))
          .append(",\"object\":\"model\",\"created\":")
          .append(createdUnixSeconds)
          .append(",\"owned_by\":\"vllm\",\"root\":")
          .append(Json.quote(model.root()))
          .append(",\"parent\":null,\"max_model_len\":")
          .append(model.maxTokens())
          .append(
              ",\"permission\":[{\"id\":\"modelperm-0\",\"object\":\"model_permission\",\"created\":")
          .append(createdUnixSeconds)
          .append(
              ",\"allow_create_engine\":false,\"allow_sampling\":true,\"allow_logprobs\":true,\"allow_search_indices\":false,\"allow_view\":true,"
                  + "\"allow_fine_tuning\":false,\"organization\":\"*\",\"group\":null,\"is_blocking\":false}]}");
    }
    exchange.json(200, out.append("]}").toString());
  }

  private void metricsPage(Exchange exchange) {
    driver.advance();
    exchange.respond(
        200,
        "text/plain; version=1.0.0; charset=utf-8",
        admin.metricsPage(() -> metrics.page(driver.engine().stats())),
        Map.of());
  }

  private void get(String path, Handler handler) {
    route(path, List.of("GET"), handler);
  }

  private void post(String path, Handler handler) {
    route(path, List.of("POST"), handler);
  }

  private void route(String path, List<String> methods, Handler handler) {
    routes.put(path, new Route(methods, handler));
  }
}
