package dev.warmpath.e2e.support;

import static java.nio.charset.StandardCharsets.UTF_8;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** A complete response as it came over the wire. */
@SuppressWarnings("ArrayRecordComponent") // wire bytes; compared as bytes where it matters
public record WireResponse(WireHead head, byte[] body) {

  public int status() {
    return head.status();
  }

  public @Nullable String header(String name) {
    return head.header(name);
  }

  public String text() {
    return new String(body, UTF_8);
  }

  /** The body as JSON; throws where it is none. */
  public JsonNode json() {
    return Json.MAPPER.readTree(body);
  }

  @Override
  public String toString() {
    String text = text();
    return head.firstLine()
        + " "
        + head.headers()
        + "\n"
        + (text.length() > 2000 ? text.substring(0, 2000) + "…" : text);
  }
}
