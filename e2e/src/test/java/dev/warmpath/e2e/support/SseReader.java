package dev.warmpath.e2e.support;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/** Server-sent events of a body, one at a time. */
final class SseReader {

  /**
   * @param name of the event, or null where it has none
   */
  record Event(@Nullable String name, String data) {}

  private final InputStream body;

  SseReader(InputStream body) {
    this.body = body;
  }

  /** The next event, or null at the end of the body. */
  @Nullable Event next() throws IOException {
    String name = null;
    StringBuilder data = new StringBuilder();
    boolean any = false;
    while (true) {
      String line = line();
      if (line == null) {
        return any ? new Event(name, data.toString()) : null;
      }
      if (line.isEmpty()) {
        if (any) {
          return new Event(name, data.toString());
        }
        continue;
      }
      if (line.startsWith("data:")) {
        any = true;
        data.append(line.substring(5).strip());
      } else if (line.startsWith("event:")) {
        any = true;
        name = line.substring(6).strip();
      }
    }
  }

  private @Nullable String line() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    while (true) {
      int next = body.read();
      if (next < 0) {
        return line.size() == 0 ? null : line.toString(UTF_8);
      }
      if (next == '\n') {
        String text = line.toString(UTF_8);
        return text.endsWith("\r") ? text.substring(0, text.length() - 1) : text;
      }
      line.write(next);
    }
  }
}
