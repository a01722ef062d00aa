package dev.warmpath.simulator;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A request as it reached a simulated worker.
 *
 * @param headers as sent, in order
 * @param body null where bodies are not recorded, or this one is above the limit
 * @param status of the answer, 0 while there is none
 */
public record ReceivedRequest(
    String method,
    String path,
    List<Map.Entry<String, String>> headers,
    @Nullable String body,
    int status) {
  public ReceivedRequest {
    headers = List.copyOf(headers);
  }

  /** The first value of a header, null where it was not sent. */
  public @Nullable String header(String name) {
    for (Map.Entry<String, String> header : headers) {
      if (header.getKey().equalsIgnoreCase(name)) {
        return header.getValue();
      }
    }
    return null;
  }
}
