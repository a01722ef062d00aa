package dev.warmpath.simulator.server;

import dev.warmpath.simulator.ReceivedRequest;
import dev.warmpath.simulator.api.Json;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayDeque;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the server received and how it ended, for tests that ask afterwards. Bounded; the oldest
 * entries go first.
 */
final class RequestLog {
  /** How much is remembered. */
  enum Level {
    OFF,
    DIGEST,
    BODY
  }

  private static final int MOST_ENTRIES = 20_000;
  private static final int LONGEST_BODY = 1 << 20;

  private final Level level;
  private final ArrayDeque<Entry> entries = new ArrayDeque<>();
  private long total;
  private long active;

  RequestLog(Level level) {
    this.level = level;
  }

  /** Remembers a request; the entry may be null when nothing is recorded. */
  @Nullable Entry received(
      String method,
      String path,
      List<Map.Entry<String, String>> headers,
      byte[] body,
      long unixMillis) {
    total++;
    active++;
    if (level == Level.OFF) {
      return null;
    }
    Entry entry = new Entry(total, method, path, List.copyOf(headers), body, level, unixMillis);
    if (entries.size() == MOST_ENTRIES) {
      entries.removeFirst();
    }
    entries.addLast(entry);
    return entry;
  }

  /** The response is over, or the connection is. */
  void ended(@Nullable Entry entry, int status, boolean aborted, long unixMillis) {
    active--;
    if (entry != null) {
      entry.status = status;
      entry.aborted = aborted;
      entry.endedUnixMillis = unixMillis;
    }
  }

  void clear() {
    entries.clear();
    total = 0;
  }

  List<ReceivedRequest> received() {
    return entries.stream().map(Entry::request).toList();
  }

  /** The list as JSON; only paths that start with {@code prefix}. */
  String json(String prefix) {
    StringBuilder out = new StringBuilder(1024);
    out.append("{\"total\":").append(total).append(",\"active\":").append(active);
    out.append(",\"requests\":[");
    boolean first = true;
    for (Entry entry : entries) {
      if (entry.path.startsWith(prefix)) {
        out.append(first ? "\n" : ",\n");
        entry.write(out);
        first = false;
      }
    }
    return out.append("]}").toString();
  }

  /** One request. */
  static final class Entry {
    private final long id;
    private final String method;
    private final String path;
    private final List<Map.Entry<String, String>> headers;
    private final int bodyLength;
    private final String bodySha256;
    private final byte @Nullable [] body;
    private final long receivedUnixMillis;
    private int status;
    private boolean aborted;
    private @Nullable Long endedUnixMillis;
    private int events;
    int promptTokens;
    int cachedTokens;
    int outputTokens;

    Entry(
        long id,
        String method,
        String path,
        List<Map.Entry<String, String>> headers,
        byte[] body,
        Level level,
        long receivedUnixMillis) {
      this.id = id;
      this.method = method;
      this.path = path;
      this.headers = headers;
      this.receivedUnixMillis = receivedUnixMillis;
      bodyLength = body.length;
      bodySha256 = sha256(body);
      this.body = level == Level.BODY && body.length <= LONGEST_BODY ? body : null;
    }

    void event() {
      events++;
    }

    private ReceivedRequest request() {
      return new ReceivedRequest(
          method,
          path,
          headers,
          body == null ? null : new String(body, StandardCharsets.UTF_8),
          status);
    }

    private void write(StringBuilder out) {
      out.append("{\"id\":").append(id);
      out.append(",\"method\":").append(Json.quote(method));
      out.append(",\"path\":").append(Json.quote(path));
      out.append(",\"headers\":[");
      for (int i = 0; i < headers.size(); i++) {
        out.append(i > 0 ? "," : "")
            .append('[')
            .append(Json.quote(headers.get(i).getKey()))
            .append(',')
            .append(Json.quote(headers.get(i).getValue()))
            .append(']');
      }
      out.append("],\"body_length\":").append(bodyLength);
      out.append(",\"body_sha256\":\"").append(bodySha256).append('"');
      out.append(",\"body\":")
          .append(body == null ? "null" : Json.quote(new String(body, StandardCharsets.UTF_8)));
      out.append(",\"received_unix_ms\":").append(receivedUnixMillis);
      out.append(",\"ended\":").append(endedUnixMillis != null);
      out.append(",\"ended_unix_ms\":").append(endedUnixMillis);
      out.append(",\"status\":").append(status);
      out.append(",\"aborted\":").append(aborted);
      out.append(",\"events\":").append(events);
      out.append(",\"prompt_tokens\":").append(promptTokens);
      out.append(",\"cached_tokens\":").append(cachedTokens);
      out.append(",\"output_tokens\":").append(outputTokens).append('}');
    }

    private static String sha256(byte[] body) {
      try {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(body));
      } catch (NoSuchAlgorithmException e) {
        throw new IllegalStateException("every JDK has SHA-256", e);
      }
    }
  }
}
