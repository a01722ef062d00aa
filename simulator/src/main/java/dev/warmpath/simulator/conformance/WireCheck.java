package dev.warmpath.simulator.conformance;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One thing that must hold of one response.
 *
 * @param name what is checked
 * @param samples captured responses of which it holds too
 * @param request what to send
 * @param status expected status
 * @param contentType expected content type
 * @param headers further headers: exact value, or a pattern after {@code ~}
 * @param json shape of a JSON body, if it is one
 * @param events the events of a stream, if it is one
 */
public record WireCheck(
    String name,
    List<String> samples,
    WireRequest request,
    int status,
    String contentType,
    Map<String, String> headers,
    @Nullable Shape json,
    List<EventSpec> events) {

  /**
   * One event, or several alike.
   *
   * @param type value of the event line, or null for data alone
   * @param data shape of the data, or null for {@code [DONE]}
   * @param repeats may come several times
   */
  record EventSpec(@Nullable String type, @Nullable Shape data, boolean repeats) {}

  public WireCheck {
    samples = List.copyOf(samples);
    headers = Map.copyOf(headers);
    events = List.copyOf(events);
  }

  /** What is wrong with a response; empty when nothing is. */
  public List<String> problems(WireResponse response) {
    List<String> problems = new ArrayList<>();
    if (response.status() != status) {
      problems.add(
          "status must be " + status + ", is " + response.status() + ": " + response.body());
      return problems;
    }
    if (!response.contentType().equals(contentType)) {
      problems.add(
          "content-type must be '" + contentType + "', is '" + response.contentType() + "'");
    }
    for (String always : List.of("date", "server", "vary")) {
      if (!response.headers().containsKey(always)) {
        problems.add("header " + always + " is missing");
      }
    }
    headers.forEach((header, expected) -> checkHeader(response, header, expected, problems));
    if (json != null) {
      problems.addAll(json.problems(response.body()));
    }
    if (!events.isEmpty()) {
      checkEvents(response, problems);
    }
    return problems;
  }

  private static void checkHeader(
      WireResponse response, String header, String expected, List<String> problems) {
    String value = response.headers().get(header);
    boolean right =
        value != null
            && (expected.startsWith("~")
                ? value.matches(expected.substring(1))
                : value.equals(expected));
    if (!right) {
      problems.add("header " + header + " must be '" + expected + "', is '" + value + "'");
    }
  }

  private void checkEvents(WireResponse response, List<String> problems) {
    if (!"chunked".equals(response.headers().get("transfer-encoding"))) {
      problems.add("a stream must be chunked");
    }
    for (String chunk : response.chunks()) {
      if (!chunk.endsWith("\n\n") || chunk.indexOf("\n\n") != chunk.length() - 2) {
        problems.add("a chunk must be one event, is '" + chunk + "'");
      }
    }
    int spec = 0;
    boolean seen = false;
    for (String event : response.events()) {
      List<String> wrong =
          spec < events.size() ? problems(events.get(spec), event) : List.of("nothing more");
      boolean next = !wrong.isEmpty() && seen && spec + 1 < events.size();
      if (next) {
        spec++;
        seen = false;
        wrong = problems(events.get(spec), event);
      }
      if (!wrong.isEmpty()) {
        problems.add("expected event " + spec + " of the list: " + wrong + " but got: " + event);
        return;
      }
      seen = true;
      if (!events.get(spec).repeats()) {
        spec++;
        seen = false;
      }
    }
    if (seen) {
      spec++;
    }
    if (spec < events.size()) {
      problems.add("stream ended before event " + spec + " of the list: " + events.get(spec));
    }
  }

  private static List<String> problems(EventSpec spec, String event) {
    String prefix = spec.type() == null ? "data: " : "event: " + spec.type() + "\ndata: ";
    if (!event.startsWith(prefix)) {
      return List.of("must start with '" + prefix + "'");
    }
    String data = event.substring(prefix.length());
    if (spec.data() == null) {
      return data.equals("[DONE]") ? List.of() : List.of("data must be [DONE]");
    }
    return spec.data().problems(data);
  }
}
