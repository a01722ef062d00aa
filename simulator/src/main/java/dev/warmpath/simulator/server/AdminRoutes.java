package dev.warmpath.simulator.server;

import dev.warmpath.simulator.api.ApiException;
import dev.warmpath.simulator.api.Errors;
import dev.warmpath.simulator.api.RequestReader;
import dev.warmpath.simulator.engine.Engine;
import dev.warmpath.simulator.events.KvEventPublisher;
import dev.warmpath.simulator.events.StormPlan;
import io.netty.channel.EventLoop;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The simulator's own routes: injecting faults, and asking what was received. */
@SuppressWarnings("FutureReturnValueIgnored") // A scheduled end of a fault reports nothing.
final class AdminRoutes {
  /** Faults of the whole server. */
  interface Control {
    /** Drops every connection but the given one, and the cache with them. */
    void restartCold(@Nullable Exchange except);

    /** Stops listening for that long, 0 for good, and drops everything. */
    void crash(double seconds);
  }

  private final RequestReader reader;
  private final ServerContext server;
  private final EngineDriver driver;
  private final Faults faults;
  private final EventLoop loop;
  private final Control control;
  private final @Nullable KvEventPublisher events;
  private int healthStatus = 200;
  private @Nullable String frozenPage;
  private boolean frozen;
  private int generation;

  AdminRoutes(
      RequestReader reader,
      ServerContext server,
      EngineDriver driver,
      Faults faults,
      EventLoop loop,
      Control control,
      @Nullable KvEventPublisher events) {
    this.reader = reader;
    this.server = server;
    this.driver = driver;
    this.faults = faults;
    this.loop = loop;
    this.control = control;
    this.events = events;
  }

  int healthStatus() {
    return healthStatus;
  }

  /** The page, or while metrics are frozen the one that was shown last. */
  String metricsPage(Supplier<String> page) {
    if (!frozen) {
      return page.get();
    }
    if (frozenPage == null) {
      frozenPage = page.get();
    }
    return frozenPage;
  }

  void requests(Exchange exchange) {
    if (exchange.method().equals("DELETE")) {
      server.log().clear();
    }
    exchange.json(200, server.log().json(exchange.query("path", "")));
  }

  /** Arms or clears a fault. Fields: kind, count, seconds, factor, status, after_events. */
  void fault(Exchange exchange) throws ApiException {
    JsonNode body = reader.json(exchange.body());
    String kind = body.path("kind").asString("");
    int count = body.path("count").asInt(1);
    double seconds = body.path("seconds").asDouble(0);
    Engine engine = driver.engine();
    driver.advance();
    long now = driver.nowNanos();
    switch (kind) {
      case "none" -> clear(now);
      case "stall" -> {
        engine.stallUntil(seconds > 0 ? now + (long) (seconds * 1e9) : Long.MAX_VALUE, now);
        driver.advance();
      }
      case "slow_factor" -> {
        engine.slowDown(body.path("factor").asDouble(3), now);
        after(seconds, () -> engine.slowDown(1, driver.nowNanos()));
      }
      case "frozen_metrics" -> {
        frozen = true;
        frozenPage = null;
        engine.freezeMetrics(true);
        after(seconds, this::thaw);
      }
      case "unhealthy" -> {
        healthStatus = 503;
        after(seconds, () -> healthStatus = 200);
      }
      case "status503" -> faults.arm(Faults.Kind.STATUS, count, body.path("status").asInt(503), 0);
      case "reset_before_first_byte" ->
          faults.arm(Faults.Kind.RESET_BEFORE_FIRST_BYTE, count, 0, 0);
      case "reset_after_first_byte" ->
          faults.arm(
              Faults.Kind.RESET_AFTER_FIRST_BYTE, count, 0, body.path("after_events").asInt(2));
      case "in_band_503" -> faults.arm(Faults.Kind.IN_BAND_503, count, 0, 0);
      case "clear_cache" -> {
        if (!engine.clearCache()) {
          exchange.json(409, "{\"ok\":false,\"detail\":\"blocks are in use\"}");
          return;
        }
      }
      case "event_storm" -> storm(body);
      case "restart_cold" -> control.restartCold(exchange);
      case "crash" -> {
        exchange.json(200, "{\"ok\":true}");
        // The answer leaves first.
        server.flushAll();
        loop.execute(() -> control.crash(seconds));
        return;
      }
      default ->
          throw Errors.validation(
              "enum",
              "body.kind",
              "Input should be none, stall, slow_factor, frozen_metrics, unhealthy, status503, reset_before_first_byte, reset_after_first_byte, in_band_503, clear_cache, event_storm, restart_cold or crash",
              "'" + kind + "'");
    }
    exchange.respond(200, "application/json", "{\"ok\":true}", Map.of());
  }

  private void storm(JsonNode body) {
    if (events != null) {
      events.storm(
          new StormPlan(
              body.path("batches").asInt(1_000),
              body.path("blocks_per_batch").asInt(64),
              body.path("batches_per_second").asInt(0),
              body.path("gap_every").asInt(0),
              body.path("duplicate_every").asInt(0),
              body.path("unknown").asBoolean(false),
              body.path("both_encodings").asBoolean(false),
              body.path("seed").asLong(1)));
    }
  }

  private void clear(long nowNanos) {
    generation++;
    faults.clear();
    healthStatus = 200;
    driver.engine().slowDown(1, nowNanos);
    driver.engine().stallUntil(nowNanos, nowNanos);
    thaw();
    driver.advance();
  }

  private void thaw() {
    frozen = false;
    frozenPage = null;
    driver.engine().freezeMetrics(false);
  }

  /** Ends a fault by itself, unless it was cleared meanwhile. */
  private void after(double seconds, Runnable end) {
    if (seconds > 0) {
      int armedIn = generation;
      loop.schedule(
          () -> {
            if (armedIn == generation) {
              end.run();
              driver.advance();
            }
          },
          (long) (seconds * 1e9),
          TimeUnit.NANOSECONDS);
    }
  }
}
