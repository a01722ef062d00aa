package dev.warmpath.simulator.server;

import io.netty.handler.codec.http.HttpRequest;
import java.time.Clock;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** What all connections of one server share. */
final class ServerContext {
  /** Name of the HTTP codec in each pipeline. */
  static final String CODEC = "codec";

  private final Clock clock;
  private final LongSupplier nowNanos;
  private final RequestLog log;
  private final boolean requestIdHeaders;
  private final int keepAliveMillis;
  private final Set<HttpConnection> connections = new LinkedHashSet<>();
  private final ArrayDeque<HttpConnection> unflushed = new ArrayDeque<>();
  private @Nullable Routes routes;
  private String date = "";
  private long dateSecond;

  ServerContext(
      Clock clock,
      LongSupplier nowNanos,
      RequestLog log,
      boolean requestIdHeaders,
      int keepAliveMillis) {
    this.clock = clock;
    this.nowNanos = nowNanos;
    this.log = log;
    this.requestIdHeaders = requestIdHeaders;
    this.keepAliveMillis = keepAliveMillis;
  }

  void routes(Routes routes) {
    this.routes = routes;
  }

  RequestLog log() {
    return log;
  }

  int keepAliveMillis() {
    return keepAliveMillis;
  }

  long nowNanos() {
    return nowNanos.getAsLong();
  }

  long unixSeconds() {
    return clock.instant().getEpochSecond();
  }

  void opened(HttpConnection connection) {
    connections.add(connection);
  }

  void closed(HttpConnection connection) {
    connections.remove(connection);
  }

  /** Breaks every connection except the one that is being served. */
  void resetAll(@Nullable Exchange except) {
    for (HttpConnection connection : Set.copyOf(connections)) {
      if (except == null || !except.uses(connection)) {
        connection.reset();
      }
    }
  }

  RequestLog.@Nullable Entry received(HttpRequest request, byte[] body) {
    String uri = request.uri();
    // What asks about the server itself isn't traffic.
    if (uri.startsWith("/_sim/") || uri.equals("/metrics") || uri.equals("/health")) {
      return null;
    }
    return log.received(
        request.method().name(), uri, request.headers().entries(), body, clock.millis());
  }

  void handle(Exchange exchange) {
    if (routes != null) {
      routes.handle(exchange);
    }
    flushAll();
  }

  void ended(Exchange exchange, boolean aborted) {
    String path = exchange.path();
    if (!path.startsWith("/_sim/") && !path.equals("/metrics") && !path.equals("/health")) {
      log.ended(exchange.entry(), exchange.status(), aborted, clock.millis());
    }
    if (routes != null) {
      routes.ended(exchange);
    }
  }

  Map<String, String> extraHeaders(Exchange exchange) {
    if (!requestIdHeaders) {
      return Map.of();
    }
    String id = exchange.headers().get("x-request-id");
    return Map.of("x-request-id", id == null ? UUID.randomUUID().toString().replace("-", "") : id);
  }

  void unflushed(HttpConnection connection) {
    unflushed.add(connection);
  }

  /** Sends what was written since the last time. */
  void flushAll() {
    for (HttpConnection next = unflushed.pollFirst(); next != null; next = unflushed.pollFirst()) {
      next.flush();
    }
  }

  String date() {
    long second = unixSeconds();
    if (second != dateSecond) {
      dateSecond = second;
      date = DateTimeFormatter.RFC_1123_DATE_TIME.format(clock.instant().atOffset(ZoneOffset.UTC));
    }
    return date;
  }
}
