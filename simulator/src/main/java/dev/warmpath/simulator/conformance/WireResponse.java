package dev.warmpath.simulator.conformance;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A response as it came from a socket.
 *
 * @param status status code
 * @param headers headers by lower-case name
 * @param chunks the body as it was cut on the wire; one element when it wasn't
 * @param headNanos when the headers were complete
 * @param chunkNanos when each chunk was complete
 */
public record WireResponse(
    int status,
    Map<String, String> headers,
    List<String> chunks,
    long headNanos,
    List<Long> chunkNanos) {

  /** The whole body. */
  public String body() {
    return String.join("", chunks);
  }

  /** The content type without parameters. */
  String contentType() {
    return headers.getOrDefault("content-type", "");
  }

  /** The events of the body: lines up to each blank line, without it. */
  List<String> events() {
    List<String> events = new ArrayList<>();
    for (String event : body().split("\n\n", -1)) {
      if (!event.isEmpty()) {
        events.add(event);
      }
    }
    return events;
  }

  /** Reads one response to its end. */
  static WireResponse read(InputStream in, LongSupplier nanoClock) throws IOException {
    String statusLine = line(in);
    if (!statusLine.startsWith("HTTP/1.1 ")) {
      throw new IOException("not a status line: '" + statusLine + "'");
    }
    int status = Integer.parseInt(statusLine.substring(9, 12));
    Map<String, String> headers = new LinkedHashMap<>();
    for (String line = line(in); !line.isEmpty(); line = line(in)) {
      int colon = line.indexOf(':');
      headers.put(
          line.substring(0, colon).toLowerCase(Locale.ROOT), line.substring(colon + 1).strip());
    }
    long headNanos = nanoClock.getAsLong();
    List<String> chunks = new ArrayList<>();
    List<Long> times = new ArrayList<>();
    if ("chunked".equals(headers.get("transfer-encoding"))) {
      for (byte[] chunk = chunk(in); chunk != null; chunk = chunk(in)) {
        chunks.add(new String(chunk, StandardCharsets.UTF_8));
        times.add(nanoClock.getAsLong());
      }
    } else {
      String length = headers.get("content-length");
      byte[] body = length == null ? in.readAllBytes() : in.readNBytes(Integer.parseInt(length));
      chunks.add(new String(body, StandardCharsets.UTF_8));
      times.add(nanoClock.getAsLong());
    }
    return new WireResponse(status, headers, chunks, headNanos, times);
  }

  private static byte @Nullable [] chunk(InputStream in) throws IOException {
    int length = Integer.parseInt(line(in), 16);
    byte[] data = in.readNBytes(length);
    if (data.length < length) {
      throw new EOFException("chunk of " + length + " bytes ended after " + data.length);
    }
    line(in);
    return length == 0 ? null : data;
  }

  private static String line(InputStream in) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int b = in.read(); b != '\n'; b = in.read()) {
      if (b < 0) {
        throw new EOFException("connection closed inside a line: '" + line + "'");
      }
      if (b != '\r') {
        line.write(b);
      }
    }
    return line.toString(StandardCharsets.UTF_8);
  }
}
