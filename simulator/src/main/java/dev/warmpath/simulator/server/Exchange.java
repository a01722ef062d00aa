package dev.warmpath.simulator.server;

import dev.warmpath.simulator.api.EventSink;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One request and its response. Whoever handles it calls exactly one of {@link #respond}, or {@link
 * #startStream} and later {@link #endStream}, or {@link #reset}.
 */
final class Exchange implements EventSink {
  private final HttpConnection connection;
  private final HttpRequest head;
  private final byte[] body;
  private final long arrivalNanos;
  private final String path;
  private final RequestLog.@Nullable Entry entry;
  private @Nullable Runnable onAbort;
  private int status;
  private boolean ended;
  private boolean counted;
  private int events;
  private int resetAfterEvents = -1;

  Exchange(
      HttpConnection connection,
      HttpRequest head,
      byte[] body,
      long arrivalNanos,
      RequestLog.@Nullable Entry entry) {
    this.connection = connection;
    this.head = head;
    this.body = body;
    this.arrivalNanos = arrivalNanos;
    this.entry = entry;
    path = new QueryStringDecoder(head.uri()).path();
  }

  String method() {
    return head.method().name();
  }

  /** The path without its query. */
  String path() {
    return path;
  }

  String query(String name, String otherwise) {
    var values = new QueryStringDecoder(head.uri()).parameters().get(name);
    return values == null || values.isEmpty() ? otherwise : values.getFirst();
  }

  HttpHeaders headers() {
    return head.headers();
  }

  byte[] body() {
    return body;
  }

  /** When the last byte of the request was here. */
  long arrivalNanos() {
    return arrivalNanos;
  }

  RequestLog.@Nullable Entry entry() {
    return entry;
  }

  /** Makes this exchange part of the server's load until it ends. */
  void count() {
    counted = true;
  }

  boolean counted() {
    return counted;
  }

  int status() {
    return status;
  }

  boolean ended() {
    return ended;
  }

  /** Runs {@code action} if the client goes away before the response is over. */
  void onAbort(Runnable action) {
    onAbort = action;
  }

  void respond(int status, String contentType, String body, Map<String, String> extraHeaders) {
    if (!ended) {
      this.status = status;
      ended = true;
      connection.respond(this, status, contentType, body, extraHeaders);
    }
  }

  void json(int status, String body) {
    respond(status, "application/json", body, Map.of());
  }

  /** Sends status and headers of a stream of events. */
  void startStream() {
    if (!ended) {
      status = 200;
      connection.startStream(this);
    }
  }

  @Override
  public void event(CharSequence event) {
    if (ended) {
      return;
    }
    events++;
    if (entry != null) {
      entry.event();
    }
    connection.event(event);
    if (events == resetAfterEvents) {
      reset();
    }
  }

  void endStream() {
    if (!ended) {
      ended = true;
      connection.endStream(this);
    }
  }

  /** Breaks the connection as a dying process does. */
  void reset() {
    if (!ended) {
      connection.reset();
    }
  }

  /** Breaks the connection after that many events. */
  void resetAfterEvents(int count) {
    resetAfterEvents = count;
  }

  /** The connection is gone. */
  void aborted() {
    if (!ended) {
      ended = true;
      if (onAbort != null) {
        onAbort.run();
      }
    }
  }

  boolean keepAlive() {
    return HttpUtil.isKeepAlive(head);
  }

  boolean uses(HttpConnection other) {
    return connection == other;
  }
}
