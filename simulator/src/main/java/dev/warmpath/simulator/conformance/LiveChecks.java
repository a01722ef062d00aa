package dev.warmpath.simulator.conformance;

import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Checks on behaviour over time, which no single captured response can show. */
public final class LiveChecks {
  private static final int PATIENCE_MILLIS = 15_000;
  private static final int POLL_MILLIS = 50;

  /** A check against a running server. */
  @FunctionalInterface
  public interface Body {
    /** Returns what is wrong; empty when nothing is. */
    List<String> run(URI server, String model) throws IOException, InterruptedException;
  }

  /** A named check. */
  public record LiveCheck(String name, Body body) {}

  private LiveChecks() {}

  /** Every check. */
  public static List<LiveCheck> all() {
    return List.of(
        new LiveCheck("metrics page has every family", LiveChecks::metrics),
        new LiveCheck("headers of a stream come before its first token", LiveChecks::headersFirst),
        new LiveCheck("a repeated prompt is served from the cache", LiveChecks::cachedTokens),
        new LiveCheck(
            "messages count cached tokens apart, at the end only", LiveChecks::messagesUsage),
        new LiveCheck("a connection serves one request after another", LiveChecks::keepAlive),
        new LiveCheck("a client that leaves a stream aborts it", LiveChecks::abortStream),
        new LiveCheck("a client that leaves a plain request aborts it", LiveChecks::abortPlain));
  }

  private static List<String> metrics(URI server, String model) throws IOException {
    WireResponse page = WireProbe.exchange(server, WireRequest.get("/metrics"));
    List<String> problems = new ArrayList<>(MetricsCheck.problems(page.body()));
    if (!page.contentType().equals("text/plain; version=1.0.0; charset=utf-8")) {
      problems.add("content-type is '" + page.contentType() + "'");
    }
    return problems;
  }

  private static List<String> headersFirst(URI server, String model) throws IOException {
    String body = chat(model, text(3_000, "headers first"), 3, true);
    try (WireProbe probe = new WireProbe(server)) {
      probe.send(WireRequest.post("/v1/chat/completions", body));
      WireResponse response = probe.receive();
      return response.headNanos() < response.chunkNanos().getFirst()
          ? List.of()
          : List.of("first chunk came no later than the headers");
    }
  }

  private static List<String> cachedTokens(URI server, String model) throws IOException {
    String body = chat(model, text(2_000, "cached tokens"), 2, false);
    int first = usage(server, body).path("prompt_tokens_details").path("cached_tokens").asInt(-1);
    JsonNode usage = usage(server, body);
    int second = usage.path("prompt_tokens_details").path("cached_tokens").asInt(-1);
    int prompt = usage.path("prompt_tokens").asInt();
    return first >= 0 && second > first && second < prompt
        ? List.of()
        : List.of("cached tokens were " + first + " then " + second + " of " + prompt);
  }

  private static List<String> messagesUsage(URI server, String model) throws IOException {
    String body =
        "{\"model\":\""
            + model
            + "\",\"max_tokens\":2,\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\""
            + text(2_000, "messages usage")
            + "\"}]}";
    WireProbe.exchange(server, WireRequest.post("/v1/messages", body));
    WireResponse second = WireProbe.exchange(server, WireRequest.post("/v1/messages", body));
    JsonNode start = data(second, "message_start").path("message").path("usage");
    JsonNode end = data(second, "message_delta").path("usage");
    int cached = end.path("cache_read_input_tokens").asInt();
    boolean right =
        cached > 0
            && end.path("input_tokens").asInt() + cached == start.path("input_tokens").asInt()
            && !start.has("cache_read_input_tokens");
    return right ? List.of() : List.of("usage was " + start + " then " + end);
  }

  private static List<String> keepAlive(URI server, String model) throws IOException {
    try (WireProbe probe = new WireProbe(server)) {
      for (int i = 0; i < 3; i++) {
        probe.send(WireRequest.post("/v1/chat/completions", chat(model, "hi", 2, i == 1)));
        WireResponse response = probe.receive();
        if (response.status() != 200) {
          return List.of("request " + i + " was answered " + response.status());
        }
      }
    }
    return List.of();
  }

  private static List<String> abortStream(URI server, String model)
      throws IOException, InterruptedException {
    try (WireProbe probe = new WireProbe(server)) {
      probe.send(WireRequest.post("/v1/chat/completions", endless(model, true)));
      if (probe.readByte() < 0) {
        return List.of("no response");
      }
      awaitGauge(server, "vllm:num_requests_running", true);
    }
    return awaitGauge(server, "vllm:num_requests_running", false);
  }

  private static List<String> abortPlain(URI server, String model)
      throws IOException, InterruptedException {
    try (WireProbe probe = new WireProbe(server)) {
      probe.send(WireRequest.post("/v1/chat/completions", endless(model, false)));
      List<String> problems = awaitGauge(server, "vllm:num_requests_running", true);
      if (!problems.isEmpty()) {
        return problems;
      }
    }
    return awaitGauge(server, "vllm:num_requests_running", false);
  }

  /** Waits until a gauge is above zero, or zero. */
  private static List<String> awaitGauge(URI server, String name, boolean above)
      throws IOException, InterruptedException {
    Pattern sample = Pattern.compile(Pattern.quote(name) + "\\{[^}]*\\} (\\S+)");
    double value = Double.NaN;
    for (int waited = 0; waited < PATIENCE_MILLIS; waited += POLL_MILLIS) {
      Matcher found =
          sample.matcher(WireProbe.exchange(server, WireRequest.get("/metrics")).body());
      if (!found.find()) {
        return List.of("no gauge " + name);
      }
      value = Double.parseDouble(found.group(1));
      if (value > 0 == above) {
        return List.of();
      }
      Thread.sleep(POLL_MILLIS);
    }
    return List.of(String.format(Locale.ROOT, "%s stayed at %s", name, value));
  }

  private static JsonNode usage(URI server, String body) throws IOException {
    WireResponse response =
        WireProbe.exchange(server, WireRequest.post("/v1/chat/completions", body));
    return JsonMapper.shared().readTree(response.body()).path("usage");
  }

  private static JsonNode data(WireResponse response, String type) {
    for (String event : response.events()) {
      if (event.startsWith("event: " + type + "\n")) {
        return JsonMapper.shared().readTree(event.substring(event.indexOf("\ndata: ") + 7));
      }
    }
    return JsonMapper.shared().missingNode();
  }

  private static String endless(String model, boolean stream) {
    return chat(model, "go on", 20_000, stream)
        .replace("{\"model\"", "{\"ignore_eos\":true,\"model\"");
  }

  private static String chat(String model, String text, int tokens, boolean stream) {
    return "{\"model\":\""
        + model
        + "\",\"max_tokens\":"
        + tokens
        + ",\"stream\":"
        + stream
        + ",\"messages\":[{\"role\":\"user\",\"content\":\""
        + text
        + "\"}]}";
  }

  /** Some text that no earlier run has sent. */
  private static String text(int words, String topic) {
    StringBuilder text = new StringBuilder(topic).append(' ').append(System.nanoTime());
    for (int i = 0; i < words; i++) {
      text.append(i % 3 == 0 ? " stone" : i % 3 == 1 ? " river" : " cloud").append(i % 7);
    }
    return text.toString();
  }
}
